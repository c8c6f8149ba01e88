#pragma once
// Multiples of a family's energy prices (hardware_db/energy.json, "fitted") as measured power asks for them.

#include "archsim/map/machine_changes.hpp"
#include "fit/errors/left_out.hpp"
#include "fit/parameters/priced_runs.hpp"

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace archsim {

/// A number per PriceGroup.
using PriceMultiples = std::array<double, kPriceGroupCount>;

/// The multiples of one family, and what stands behind them.
struct FittedPrices {
    PriceMultiples values{1, 1, 1};
    std::array<bool, kPriceGroupCount> used{}; ///< some run tells of the group
    std::size_t runs = 0;
    double error = 0; ///< median, each run at the multiples found without its network
};

/// What the runs of one family say, all of them or without those of a network or a device.
class PriceFit {
  public:
    /// `runs` must outlive it.
    explicit PriceFit(const std::vector<PricedRun>& runs);

    /// Ten runs for each multiple, on three devices or more: with fewer, prices stay what public facts say.
    bool decided() const;
    FittedPrices fitted() const;
    /// Without the runs that share what the row has; those of all runs where none does.
    PriceMultiples without(LeaveOut what, const MeasuredRow& row) const;

  private:
    struct Run {
        std::array<double, kPriceGroupCount> watts{}; ///< at multiples of 1
        double rest_w = 0;
        const PricedRun* from = nullptr;
        /// Of the full clock where its limit allows that, else the limit.
        double at(const PriceMultiples& x) const;
    };
    /// Starts from the multiples that hold now, and stays there for less than `least_gain` (FitOptions).
    PriceMultiples solve(const std::string MeasuredRow::*name, const std::string& left_out,
                         double least_gain = 0) const;

    std::vector<Run> runs_;
    std::array<bool, kPriceGroupCount> used_{};
    std::map<std::string, PriceMultiples> without_model_, without_device_;
    PriceMultiples all_{1, 1, 1};
};

/// The prices of every family that measured runs decide.
class PriceFits {
  public:
    PriceFits(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows);

    std::map<std::string, FittedPrices> families() const;
    /// What turns the shipped prices of a row of power or energy into those that have not seen its network,
    /// device or family; nothing for other rows and where no run decides the prices.
    MachineChanges without(LeaveOut what, const MeasuredRow& row) const;

  private:
    struct Rated { // a device
        std::string family;
        double awake_share = 0; ///< of its static power, that PriceGroup::awake scales
        PriceMultiples shipped{1, 1, 1};
    };
    std::vector<MeasuredRow> clocks_;
    std::map<std::string, std::vector<PricedRun>> runs_;
    std::map<std::string, PriceFit> fits_;
    std::map<std::string, Rated> devices_;
};

} // namespace archsim
