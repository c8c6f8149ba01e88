#pragma once
// Multiples of a family's energy prices (hardware_db/energy.json, "fitted") as measured power asks for them.

#include "archsim/map/machine_changes.hpp"
#include "archsim/run/session.hpp"
#include "fit/errors/left_out.hpp"
#include "fit/rows/validate.hpp"

#include <array>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace archsim {

/// One measured run. Its parts are those at the full clock, whatever the power limit leaves of it: these do
/// not depend on what prices are now. Events take place in the measured time, where the run states power and
/// energy.
struct PricedRun {
    double measured_w = 0;
    PowerParts parts;
    const MeasuredRow* row = nullptr;
    double limit_w = std::numeric_limits<double>::infinity(); ///< what it states at its power limit
};

/// The trusted runs of each family; `rows` must outlive them.
std::map<std::string, std::vector<PricedRun>> priced_runs(const RowEstimator& estimator,
                                                          const std::vector<MeasuredRow>& rows);

/// A row of power for every clock that the session's energy table states (EnergyDatabase::clocks_at_limit).
std::vector<MeasuredRow> clocks_as_rows(const Session& session);

/// Each of these rows taken apart by the prices of its device, by family; `rows` are those of clocks_as_rows
/// and must outlive them. Worked, A40: 84 x 256 operations a clock at 1.635 GHz are 35.2 T operations a
/// second, at 6.91 pJ x 1635 / 1740 228 W beside 69 W of static power, of 300 W.
std::map<std::string, std::vector<PricedRun>> clock_runs(const Session& session,
                                                         const std::vector<MeasuredRow>& rows);

/// A number per PriceGroup.
using PriceMultiples = std::array<double, kPriceGroupCount>;

/// The multiples of one family, and what stands behind them.
struct FittedPrices {
    PriceMultiples values{1, 1, 1};
    std::array<bool, kPriceGroupCount> used{}; ///< some run tells of the group
    std::size_t runs = 0;
    double error = 0; ///< median, each run at the multiples found without its network
};

/// The fit of one family's runs, all of them or without those of a network or a device.
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
        /// The power at the full clock where its limit allows that, else the limit.
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
    /// The changes that turn the shipped prices of a row of power or energy into those that have not seen its
    /// network, device or family; nothing for other rows and where no run decides the prices.
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
