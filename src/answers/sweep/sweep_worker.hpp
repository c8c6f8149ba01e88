#pragma once
// One thread's way through the points of a sweep: what neighbours share is made once.

#include "answers/sweep/sweep.hpp"
#include "archsim/hardware/device_changes.hpp"
#include "archsim/map/machine_changes.hpp"
#include "estimate/batch_pieces.hpp"
#include "session/bound_model.hpp"
#include "session/graph_run.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace archsim {

/// A device of the request with its structure changed.
struct MachineKey {
    std::size_t hardware = 0;
    DeviceChanges structure;
    auto operator<=>(const MachineKey&) const = default;
};

class SweepShared {
  public:
    /// `sizes` are those of each model. Keeps as many bound models as `threads` threads are at. The arguments
    /// must outlive it.
    SweepShared(const Session& session, const SweepRequest& request, std::span<const Model> models,
                std::span<const Bindings> sizes, unsigned threads);

    const SweepRequest& request() const { return request_; }
    /// Whether points of the model are passes over one graph, which have much in common.
    bool one_graph(std::size_t model) const { return !request_.prompt && models_[model].parts.empty(); }
    /// A point of any other model: one of several parts, or one that answers a prompt.
    Result answer(std::size_t model, std::size_t batch, std::size_t hardware,
                  const Conditions& conditions) const;
    const std::string& model_name(std::size_t model) const { return models_[model].info.name; }
    /// The model at a batch, both as indices into the request.
    std::shared_ptr<const BoundModel> bound(std::size_t model, std::size_t batch);
    /// The device as the database states it but for its structure; null with a reason where it cannot be
    /// made.
    std::shared_ptr<const Machine> machine(const MachineKey& key, std::string& reason);

  private:
    struct Slot {
        std::size_t model, batch;
        std::mutex making; ///< others who want this one wait, and nobody else does
        std::shared_ptr<const BoundModel> bound;
    };
    std::shared_ptr<Slot> slot(std::size_t model, std::size_t batch);
    std::shared_ptr<const BoundModel> smaller_of_another(std::size_t model, std::int64_t batch);

    const Session& session_;
    const SweepRequest& request_;
    const std::span<const Model> models_;
    const std::span<const Bindings> sizes_;
    const std::size_t kept_;
    std::mutex mutex_;                       ///< of both collections
    std::list<std::shared_ptr<Slot>> slots_; ///< latest first
    std::map<MachineKey, std::shared_ptr<const Machine>> machines_;
};

/// A digest of what the names of a request stand for: the graphs of the models, the devices with what they
/// extend and the hosts and software stacks that they run with, prices and uncertainties, and every file that
/// was laid over the database.
std::string content_of(const Session& session, const SweepRequest& request, std::span<const Model> models);

class SweepWorker {
  public:
    /// `formats` are the request's conditions in each of its formats.
    SweepWorker(SweepShared& shared, std::span<const Conditions> formats);

    /// The estimate of a point, into an empty row. Fast where the machine counts as that of a point before
    /// did: only its prices are new. Batches share their counts, and formats that the device executes alike
    /// share the estimate.
    void fill(const SweepPoint& point, SweepRow& row);

  private:
    /// A machine as far as counts depend on it: the structure of the device, and the factors on what its
    /// mapper reads.
    struct PlaceKey {
        DeviceChanges structure;
        std::array<double, kLeverCount> counted{};
        auto operator<=>(const PlaceKey&) const = default;
    };
    struct Place {
        std::shared_ptr<const Machine> stated; ///< null with a reason where it cannot be made
        std::string reason;
        std::shared_ptr<Machine> machine; ///< with the changes of the point
        MachineChanges changes;           ///< those that `machine` has now
        BatchCounts counts;
        std::vector<std::unique_ptr<PreparedRun>> runs; ///< per format and batch
    };
    struct Target {
        std::optional<Lever> lever; ///< none: the structure
        Structure structure{};
        bool counts = true; ///< on this device
    };

    Place& enter(const SweepPoint& point);
    Place& make(const SweepPoint& point, const PlaceKey& key);
    void leave_places();
    void find_targets(const SweepPoint& point);
    void find_format(const SweepPoint& point, std::size_t format,
                     const std::shared_ptr<const Machine>& machine);
    void find_alike_formats(const SweepPoint& point, const Place& place);
    void estimate(const SweepPoint& point, Place& place, SweepRow& row);
    void price(const SweepPoint& point, Place& place, PreparedRun& prepared);
    /// The same point with units of its design left idle; nothing where none may be.
    std::optional<SweepPoint> with_idle_units(const SweepPoint& point) const;
    Result leaving_idle(const SweepPoint& point, Result all);
    void answer(const SweepPoint& point, SweepRow& row) const;
    PreparedRun& run(const SweepPoint& point, Place& place);
    const std::shared_ptr<const BoundModel>& bound(const SweepPoint& point);

    SweepShared& shared_;
    const SweepRequest& request_;
    const std::span<const Conditions> formats_;

    SweepPoint before_;                                    ///< the last one
    std::vector<Target> targets_;                          ///< per axis
    std::vector<std::shared_ptr<const BoundModel>> bound_; ///< of the model, per batch
    std::map<PlaceKey, std::unique_ptr<Place>> places_;    ///< of the model on the device
    const PlaceKey* key_ = nullptr;                        ///< that of the last point
    Place* place_ = nullptr;
    BatchCounts counts_;                        ///< those of the last place, for their memory
    std::vector<KnownWidths> widths_;           ///< of intervals, per device: the same for every model
    std::optional<double> budget_scale_;        ///< scale_to_budget() of this run; not asked yet
    std::optional<bool> formats_open_;          ///< whether the model's operators state none; not asked yet
    std::vector<Conditions> meant_;             ///< per format, that of the device where it has its own
    std::vector<ExecutedPrecision> executed_;   ///< per format, on the device; where there are no axes
    std::vector<std::size_t> alike_;            ///< per format the first one that the device executes alike
    std::vector<bool> comes_again_;             ///< per format: a later one is alike
    std::vector<std::optional<SweepRow>> rows_; ///< of those, per format and batch; where there are no axes
};

} // namespace archsim
