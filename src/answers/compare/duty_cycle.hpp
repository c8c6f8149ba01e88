#pragma once
// A device that works now and then, and one that several networks share: how much of its time each takes,
// what is left, and what it draws.

#include "archsim/compare/cost.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"
#include "archsim/run/compare_models.hpp"
#include "fields/json_members.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// Another network on the same device: "midas@5fps".
struct Companion {
    std::string model;
    double every_s = 0;
};

struct DutyRequest {
    double every_s = 0; ///< from the start of one inference to that of the next; 0: in the time that is left
    double battery_wh = 0; ///< 0: none
    std::vector<Companion> with = {};
    /// Of the companions on the devices, and of every network on the devices' slices: with_companions().
    std::vector<Result> others = {};
};

/// One network of those that share a device.
struct SharedNetwork {
    const Result* device = nullptr; ///< of the network that is compared
    const Result* result = nullptr; ///< its own, also where there is no estimate
    double every_s = 0;
    double latency_s = 0; ///< of an inference, with the weights that gave way to another network's
    double share = 0;     ///< of the device's time
    double worst_s = 0;   ///< with one inference of each of the others before it
    std::string slice;    ///< the least that keeps up with it; empty: none, or the device has none
};

/// One device at work every so often. Worked: 10 mJ in 50 ms every second, 2 W idle: 10 mJ + 2 W x 0.95 s =
/// 1.91 W.
struct DutyCycle {
    const Result* result = nullptr;
    std::vector<SharedNetwork> networks; ///< that of the result first
    double active_share = 0;             ///< of the time; above 1: it cannot keep up
    double inference_j = 0;              ///< of the first network
    double memory_bytes = 0;             ///< of all networks
    std::optional<double> idle_w;        ///< between inferences; absent: nobody states it
    std::optional<double> average_w;     ///< absent likewise, and where it cannot keep up
    std::optional<double> mah_per_day;   ///< of a lithium-ion cell
    std::optional<double> battery_hours;

    bool fits() const;
    /// Whether every network has the time and the memory that it needs.
    bool holds() const { return fits() && active_share <= 1; }
};

/// "midas@5fps", "whisper-tiny@30s". Throws UsageError.
Companion parse_companion(std::string_view text);
/// The request with what its companions do on the devices of the comparison. Throws InputError for models
/// that nobody knows.
DutyRequest with_companions(const Session& session, const ModelComparison& comparison, DutyRequest request);

/// Every result with an estimate, at the boundary of power that is asked for; of a chip that states no idle
/// power the power with clocks up.
std::vector<DutyCycle> duty_cycles(std::span<const Result> results, const DutyRequest& request,
                                   std::optional<PowerBoundary> boundary);
/// "One inference every 100 ms, with midas at 5/s: 62 % of the time, 38 % left, memory 0.4 GB, average
/// power 4.2 W, 4.8 h on the battery.": of one device, or of the one that does it best.
std::string in_words(std::span<const DutyCycle> cycles, const DutyRequest& request);
/// Least average power first; a table of the networks beside it where several share the devices.
std::vector<Block> duty_blocks(std::span<const Result> results, const DutyRequest& request,
                               std::optional<PowerBoundary> boundary);
Members<DutyCycle> duty_members();
/// "10Wh", or "5000mAh" of a lithium-ion cell. Throws UsageError.
double parse_battery(std::string_view text);

} // namespace archsim
