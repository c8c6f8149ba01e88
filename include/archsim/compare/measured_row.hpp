#pragma once
// Measurements with their conditions: what estimates are held against, and what Session::given() takes.

#include "archsim/estimate/estimate.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace archsim {

enum class MeasuredMetric : std::uint8_t { latency_ms, throughput_per_s, power_w, energy_mj };

/// One published measurement: a row of tests/measured/*.csv.
struct MeasuredRow {
    std::string id, model;
    std::optional<int> image_size;
    std::optional<int> steps; ///< of an image generator; empty: as the model's class
    std::string sequence;     ///< tokens, "variable", or empty
    std::optional<int> batch; ///< empty: not published, the best or largest
    std::string precision, hardware, power_mode;
    double devices = 1; ///< devices or sockets that the value belongs to
    std::string runtime;
    std::string scope; ///< kernel, end_to_end or offline (saturated throughput)
    MeasuredMetric metric = MeasuredMetric::latency_ms;
    double value = 0;  ///< in the metric's unit
    double weight = 1; ///< trust, 0 to 1
    std::string source, source_date, note;
    std::string phase, prompt_tokens, generated_tokens; ///< language models only
    /// Power and energy only. Power at the wall is that of the whole system, at every other boundary that of
    /// one device; energy is per item, of everything inside.
    PowerBoundary boundary = PowerBoundary::chip;
    double replicas = 1; ///< copies of the model among which the devices are divided
    /// Devices of a copy that hold its experts, whole ones each; 0: experts are shared like the rest.
    int expert_devices = 0;
    /// Groups of a copy's devices that have requests of their own and share its experts: attention in
    /// data-parallel, experts in expert-parallel. 1: all devices share every layer.
    double attention_groups = 1;
    std::size_t line = 0; ///< in the file
    std::string client;   ///< of a server: the benchmark that asked; empty: told by lengths and stack
    bool at_rate = false; ///< that client sent at a rate: `batch` is how many were in flight in the mean
    /// Release of the stack, or the way it was called, where stacks tell them apart (MeasuredAs::variant):
    /// "2.18.0", "autocast", "synchronised".
    std::string variant;
    std::int64_t context = 0; ///< positions that a stack with static shapes compiled in; 0: prompt and answer
    bool transfers =
        false;            ///< every batch waits for its copies in and out, and for no other work of the host
    bool sampled = false; ///< tokens were drawn from the likeliest (top-p), not taken greedily
    /// The cause, other than the device and its kernels, that decided the time: "host" or "slow_kernel";
    /// empty: nothing. No fit uses such a row.
    std::string decided_by;
};

} // namespace archsim
