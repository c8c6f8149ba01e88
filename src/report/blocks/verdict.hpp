#pragma once
// The answer in four rows of 80 columns at most, on top of every report, and as the field "verdict" of its
// document; what is least needed gives way.
//
//   Within the limit, fastest: Jetson-Orin-Nano@7W in tf32, 12.0 ms, 1.31x ahead of QRB5165 (93 % likely).
//   Also best: energy per inference, 65.8 mJ. Not ranked: KPU-T256, 101 us (projected).
//   Jetson-Orin-Nano@7W is bound by compute, 88 % of its time; would help: --precision int8, 1.9x.
//   Limit power at most 15 W: met by 3 of 4. KPU-T256@15W would meet it.

#include "archsim/compare/decisions.hpp"
#include "archsim/extend/renderer.hpp"
#include "core/text.hpp"
#include "fields/json_members.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace archsim {

/// The results and limits that a verdict is about.
struct VerdictQuestion {
    std::span<const Result> results;
    const std::vector<std::string>& labels; ///< one per result
    const Metric& by;                       ///< what ranks; energy is judged beside it
    const CostOptions& conditions;
    const Decision* decision = nullptr;      ///< limits; null or inactive: none
    std::span<const Result> modes = {};      ///< other power modes that meet every limit
    std::span<const TriedChange> tried = {}; ///< what would help
    std::span<const Result> too_large = {};  ///< those that run in fewer bits, as they do not
    std::string beside = {};                 ///< a sentence on what else was asked of the best
    std::string beside_more = {};            ///< and one that leaves where there is no room
    std::string before = {};                 ///< one that comes first: what is asked cannot be had
};

/// The answer for several devices, or for one; for none that runs the reason.
Takeaway verdict_block(const VerdictQuestion& question);

/// Takes the lines out that the first rows of a narrow screen do not hold; the first stays.
std::vector<std::string> beyond_first_rows(std::vector<std::string>& lines);

/// The first line of it, and what is best although none meets the limits.
std::vector<std::string> brief_lines(const VerdictQuestion& question);

/// The same for programs.
struct VerdictRecord {
    struct Best {
        const Metric* metric = nullptr;
        std::optional<std::string> device; ///< none: no estimate may be named first
        double value = 0;
        std::optional<double> probability;
        std::vector<std::string> tied, close;
        std::optional<std::string> projected;
    };
    struct BoundOf {
        std::string device;
        Bound by = Bound::compute;
        double share = 0;
    };
    struct Limit {
        Constraint constraint;
        std::size_t met = 0, of = 0;
    };
    struct Help {
        std::vector<std::string> devices;
        std::string text;
        std::vector<std::vector<std::pair<std::string, std::string>>> asks = {}; ///< fields_of() each change
    };
    std::vector<std::string> lines;
    std::optional<std::string> uncounted;
    std::vector<Best> best;
    std::optional<BoundOf> bound;
    std::vector<Limit> limits;
    std::vector<Help> helps;
};
VerdictRecord verdict_record(const VerdictQuestion& question);
Members<VerdictRecord> verdict_members();

} // namespace archsim
