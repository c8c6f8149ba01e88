#pragma once
// A device that works now and then: one inference every second, and idle between.

#include "archsim/compare/cost.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"
#include "fields/json_members.hpp"

#include <optional>
#include <span>
#include <vector>

namespace archsim {

struct DutyRequest {
    double every_s = 0;    ///< from the start of one inference to that of the next
    double battery_wh = 0; ///< 0: none
};

/// One device at work every so often. Worked: 10 mJ in 50 ms every second, 2 W idle: 10 mJ + 2 W x 0.95 s =
/// 1.91 W.
struct DutyCycle {
    const Result* result = nullptr;
    double active_share = 0;           ///< of the time; above 1: it cannot keep up
    double inference_j = 0;            ///< while it works
    std::optional<double> idle_w;      ///< between inferences; absent: nobody states it
    std::optional<double> average_w;   ///< absent likewise, and where it cannot keep up
    std::optional<double> mah_per_day; ///< of a lithium-ion cell
    std::optional<double> battery_hours;
};

/// Every result with an estimate, at the boundary of power that is asked for; of a chip that states no idle
/// power the power with clocks up.
std::vector<DutyCycle> duty_cycles(std::span<const Result> results, const DutyRequest& request,
                                   PowerBoundary boundary);
/// "One inference every 100 ms: average power 4.2 W, 4.8 h on the battery."
std::string in_words(const DutyCycle& duty, const DutyRequest& request);
/// Least average power first.
Table duty_table(std::span<const Result> results, const DutyRequest& request, PowerBoundary boundary);
Members<DutyCycle> duty_members();
/// "10Wh", or "5000mAh" of a lithium-ion cell. Throws UsageError.
double parse_battery(std::string_view text);

} // namespace archsim
