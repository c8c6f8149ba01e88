#pragma once
// Why one architecture differs from another, and what would turn their ranking around.

#include "answers/difference/attribution.hpp"
#include "archsim/compare/metric.hpp"
#include "result/common_regions.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace archsim {

/// The smallest change of one thing after which the other one of the pair is better.
struct Flip {
    std::string change;                  ///< lever name, "batch" or "precision"
    std::string title;                   ///< for sentences: "memory bandwidth"
    std::string architecture;            ///< whose device changes; empty: both run the changed workload
    double factor = 1;                   ///< of a lever: on its own value
    std::int64_t batch = 0;              ///< of "batch"
    std::vector<std::string> precisions; ///< of "precision": formats with this same outcome
    double a_value = 0, b_value = 0;     ///< after the change
};

/// Why one device differs from another.
struct Explanation {
    std::size_t a = 0, b = 0; ///< results
    Attribution attribution;
    /// The same pair by latency, where time is among the causes of `attribution`.
    std::optional<Attribution> time;
    bool overlapping = false;         ///< odds of less than 3 to 1
    std::vector<Flip> flips;          ///< smallest change first, then batch and precision
    std::vector<std::string> no_flip; ///< titles of levers that do not turn the ranking within `flip_limit`
    double flip_limit = 0;
};

/// Bytes that cross from one device to the other.
struct HybridTransfer {
    std::size_t before = 0; ///< first region after the change of device
    double bytes = 0, seconds = 0, joules = 0;
};

/// A graph spread over two devices.
struct HybridSplit {
    std::vector<CommonRegion> regions;     ///< of the two results, in topological order
    std::vector<std::uint8_t> on_b;        ///< per region: 1 on the second device
    std::vector<HybridTransfer> transfers; ///< in order
    double value = 0;                      ///< seconds or joules of a batch
    double a_value = 0, b_value = 0;       ///< of either device alone
    /// True when the split beats either device alone.
    bool wins() const { return value < a_value && value < b_value; }
};

/// Seconds or joules of a batch under a given assignment of the regions (1: on the second device), as
/// best_split counts them. Absent where best_split is.
std::optional<double> split_value(const Result& a, const Result& b, const Metric& metric,
                                  std::span<const std::uint8_t> on_b);

/// The best split that uses both devices: a shortest path over (region, device) in topological order. Every
/// change of device moves all activations alive at that point over the slower of the two host links (the
/// memory of a device that shares the host's), and costs both sides the start of a kernel. Both pay their
/// fixed cost per inference. For energy, the device that waits draws its static power, and bytes cost both
/// links' energy. `metric` is latency or energy. Absent for multi-part models, fewer than two regions, and
/// devices without any path for a transfer.
std::optional<HybridSplit> best_split(const Result& a, const Result& b, const Metric& metric);

} // namespace archsim
