#pragma once
// One thread's way through the points of a sweep: what neighbours share is made once.

#include "estimate/batch_pieces.hpp"
#include "run/sweep/sweep_shared.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace archsim {

/// Where a point lies along every dimension.
struct SweepPoint {
    std::uint64_t number = 0;
    std::size_t model = 0, hardware = 0, precision = 0, batch = 0;
    std::vector<double> factors; ///< one per axis
};

class SweepWorker {
  public:
    /// `precisions` are the request's, parsed.
    SweepWorker(SweepShared& shared, std::span<const PrecisionConfig> precisions);

    /// The estimate of a point. Fast where the point before had the same model and device: its batches share
    /// their counts, and formats that the device executes alike share the estimate.
    SweepRow row(const SweepPoint& point);

  private:
    /// The device of the point but for changes of its rates, which are returned.
    MachineChanges enter(const SweepPoint& point);
    void find_representatives_formats();
    SweepRow estimate(const SweepPoint& point, const MachineChanges& changes, SweepRow row);
    const std::shared_ptr<const BoundModel>& bound(const SweepPoint& point);

    SweepShared& shared_;
    const SweepRequest& request_;
    const std::span<const PrecisionConfig> precisions_;

    std::size_t model_; ///< of the point before
    MachineKey key_;
    std::shared_ptr<const Machine> machine_; ///< null with a reason where it cannot be made
    std::string reason_;
    std::vector<std::shared_ptr<const BoundModel>> bound_; ///< of the model, per batch
    BatchCounts counted_;                                  ///< of the model on the machine
    std::vector<std::size_t> alike_;            ///< per format the first one that the device executes alike
    std::vector<std::optional<SweepRow>> rows_; ///< per format and batch; where there are no axes
};

} // namespace archsim
