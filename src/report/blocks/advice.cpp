#include "report/blocks/ranking_table.hpp"

#include "core/text.hpp"
#include "fields/question.hpp"
#include "report/blocks/number_format.hpp"
#include "result/bound_shares.hpp"
#include "result/ties.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace archsim {

static std::string share_text(double share) {
    return fmt::format("{:.0f} %", 100 * share);
}

/// A memory on the chip, which more bandwidth of the external one does not help.
static bool on_chip(Resource resource) {
    return resource == Resource::l1_bytes || resource == Resource::l2_bytes ||
           resource == Resource::llc_bytes;
}

/// An operator without products that takes most of the time: no batch and no format of products helps it.
struct DominantOperation {
    std::string type;
    double seconds = 0;
    bool upper_bound = false; ///< its work is that of the largest output it can have
};

static bool multiplies(OpKind kind) {
    return kind == OpKind::convolution || kind == OpKind::matmul || kind == OpKind::attention ||
           kind == OpKind::recurrent;
}

static std::optional<DominantOperation> dominant_operation(const Result& r) {
    if (!r.ok() || !r.partition || !r.model || !r.model->graph || r.generation || !r.parts.empty())
        return std::nullopt;
    const ShapedGraph& graph = *r.model->graph;
    std::map<std::string, DominantOperation> all;
    for (const SubgraphEstimate& s : r.estimate.subgraphs) {
        const Subgraph& subgraph = r.partition->subgraphs[s.index];
        if (multiplies(subgraph.kind))
            continue;
        const Operator& anchor = graph.operators[subgraph.anchor];
        DominantOperation& operation = all[anchor.type];
        operation.type = anchor.type;
        operation.seconds += s.latency_s;
        operation.upper_bound =
            operation.upper_bound || std::ranges::any_of(anchor.outputs, [&](TensorId output) {
                return output != kNoTensor && graph.tensors[output].at_upper_bound;
            });
    }
    for (auto& [type, operation] : all)
        if (operation.seconds > r.estimate.latency_s / 2)
            return std::move(operation);
    return std::nullopt;
}

/// The gain of a measurement of one's own where little is known of a device: "measure a network on it,
/// --measured "NETWORK int8 on Hailo-8L = TIME": the interval narrows from a factor of 10.4 to 6.1".
static std::string measuring_text(const Result& r) {
    constexpr double kWorthIt = 0.8; // of the width
    const auto after = width_after_measuring(r);
    const Interval& now = r.estimate.latency_interval;
    if (!after || *after > kWorthIt * now.high / now.low)
        return "";
    return fmt::format("measure a network on it, --measured \"NETWORK {} on {} = TIME\": the interval "
                       "narrows from a factor of {:.1f} to {:.1f}",
                       name_of(r.estimate.executed.activations), r.device->id, now.high / now.low, *after);
}

/// " over PCIe 4.0 x16 (31.5 GB/s)"
static std::string link_text(const Device& device) {
    if (!device.link_bandwidth.known())
        return "";
    const std::string rate = fmt::format("{:.3g} GB/s", device.link_bandwidth.value / 1e9);
    return device.interconnect_type.empty() ? fmt::format(" at {}", rate)
                                            : fmt::format(" over {} ({})", device.interconnect_type, rate);
}

std::string bound_sentence(const Result& result, const std::string& label) {
    const auto shares = bound_shares(result);
    if (!shares)
        return "";
    if (const auto operation = dominant_operation(result))
        return fmt::format("{} spends {} of its time in {}{}; the rest takes {}", label,
                           share_text(operation->seconds / result.estimate.latency_s), operation->type,
                           operation->upper_bound ? ", at the upper bound of its output" : "",
                           format_time(result.estimate.latency_s - operation->seconds));
    const Bound bound = shares->largest();
    const std::string share = share_text(shares->of(bound));
    if (bound_by_power(result))
        return fmt::format("{} is bound by power, {} of its time: {} leave {} of the clock", label, share,
                           format_power(result.machine->power_limit_w),
                           format_percent(result.estimate.clock_ratio));
    switch (bound) {
    case Bound::overhead:
        if (shares->bound_by_exchange())
            return fmt::format("{} is bound by exchanging results between its devices{}, {} of its time",
                               label, link_text(*result.device), share_text(shares->exchange));
        if (shares->bound_by_host())
            return fmt::format("{} is bound by operators that its host runs, {} of its time", label,
                               share_text(shares->host));
        return fmt::format("{} is bound by starting kernels and layers, {} of its time", label, share);
    case Bound::memory:
        if (const auto resource = binding_resource(result); resource && on_chip(*resource))
            return fmt::format("{} is bound by memory ({}), {} of its time", label, name_of(*resource),
                               share);
        return fmt::format("{} is bound by memory, {} of its time", label, share);
    case Bound::compute:
        break;
    }
    return fmt::format("{} is bound by compute, {} of its time at {} of the peak", label, share,
                       share_text(result.estimate.utilization));
}

std::vector<std::pair<std::string, std::string>> fields_of(std::string_view asked) {
    std::vector<std::pair<std::string, std::string>> fields;
    for (const std::string_view word : split(asked, ' '))
        if (word.starts_with("--")) {
            const QuestionField* const field = find_question_field(word);
            fields.emplace_back(field != nullptr ? field->key : word.substr(2), "true");
        } else if (!fields.empty()) {
            fields.back().second = word;
        }
    return fields;
}

std::vector<Advice> advice_for(std::span<const TriedChange> tried, std::span<const Result> results) {
    std::vector<Advice> all;
    // Where there are several, one that may not be named first is not advised on either.
    const auto skipped = [&](std::size_t i) { return results.size() > 1 && !may_lead(results[i].estimate); };
    for (const TriedChange& change : tried) {
        if (skipped(change.result))
            continue;
        constexpr double kWorthSaying = 1.05;
        std::string text =
            fmt::format("{}, {:.3g}x{}", change.asked, change.gain, likely_text(change.probability));
        if (change.first_token >= kWorthSaying)
            text += fmt::format(" (first token {:.3g}x as late)", change.first_token);
        if (!all.empty() && all.back().result == change.result)
            all.back().text += "; " + text;
        else
            all.push_back({change.result, std::move(text)});
        all.back().asked.push_back(change.asked);
    }
    for (std::size_t i = 0; i < results.size(); ++i)
        if (std::string text = skipped(i) ? "" : measuring_text(results[i]); !text.empty())
            all.push_back({i, std::move(text)});
    return all;
}

std::vector<Block> advice_blocks(std::span<const TriedChange> tried, std::span<const Result> results,
                                 const std::vector<std::string>& labels) {
    Bullets bullets;
    for (const Advice& advice : advice_for(tried, results))
        bullets.items.push_back(fmt::format("{}: {}", labels[advice.result], advice.text));
    if (bullets.items.empty())
        return {};
    return {Heading{3, "What would help, tried:"}, std::move(bullets)};
}

std::vector<Block> command_blocks(const std::vector<std::string>& commands) {
    std::vector<Block> blocks;
    if (!commands.empty())
        blocks.emplace_back(Heading{3, "Next steps:"});
    for (const std::string& line : commands)
        blocks.emplace_back(Command{line});
    return blocks;
}

} // namespace archsim
