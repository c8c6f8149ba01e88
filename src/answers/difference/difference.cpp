#include "answers/difference/difference.hpp"

#include "answers/difference/factor_terms.hpp"
#include "archsim/core/finding.hpp"
#include "core/lists.hpp"
#include "core/text.hpp"
#include "report/blocks/shape_text.hpp"
#include "result/cost_terms.hpp"
#include "result/ties.hpp"
#include "session/generation/phases.hpp"
#include "session/usual_precision.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace archsim {

using Causes = std::array<double, kFactorCount>;

/// Sums over some regions, while they are made.
struct PartSum {
    Causes causes{};
    DifferencePart part;
    std::array<double, 2> capacity{}; ///< operations that peak executes in the time
};

static void add(const Causes& causes, PartSum& sum) {
    for (std::size_t f = 0; f < kFactorCount; ++f)
        sum.causes[f] += causes[f];
}

/// `side`: 0 before, 1 after.
static void add(const KernelRecord& kernel, const GraphRecord& graph, std::size_t side, PartSum& sum) {
    DifferencePart& p = sum.part;
    const double n = graph.repeat;
    p.latency_s[side] += n * kernel.latency_s;
    p.operations[side] += n * kernel.time.operations;
    p.bytes[side] += n * (kernel.time.bytes + kernel.time.weight_bytes);
    p.kernels[side] += n * kernel.time.starts;
    p.energy_j[side] += n * kernel.energy.total();
    sum.capacity[side] += n * kernel.latency_s * graph.peak;
}

static DifferencePart finished(const PartSum& sum) {
    DifferencePart p = sum.part;
    for (double part : sum.causes)
        p.value += part;
    if (const auto main = main_factor(sum.causes)) {
        p.main = *main;
        p.main_value = sum.causes[static_cast<std::size_t>(*main)];
    }
    for (std::size_t side = 0; side < 2; ++side)
        p.peak_share[side] = sum.capacity[side] > 0 ? p.operations[side] / sum.capacity[side] : 0;
    return p;
}

static bool is_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "layer1.0", "encoder_layer_3": one of several of its make.
static bool is_numbered_block(std::string_view level) {
    const auto at = level.find_last_of("._");
    return at != std::string_view::npos && at > 0 && is_digits(level.substr(at + 1));
}

/// Everything about one region that grouping asks for.
struct RegionView {
    const CommonRegion* region = nullptr; ///< null: the whole network
    const GraphPair* graphs = nullptr;
    Causes causes{};

    Change change() const {
        if (causes[static_cast<std::size_t>(Factor::placement)] != 0)
            return Change::displaced;
        if (region == nullptr || (!region->subgraphs[0].empty() && !region->subgraphs[1].empty()))
            return Change::kept;
        return region->subgraphs[1].empty() ? Change::added : Change::removed;
    }
    /// The class of its kernel with most operations, of the state after the change where there is one.
    const KernelRecord& largest() const {
        const std::size_t index = region->subgraphs[0].empty() ? 1 : 0;
        const GraphRecord& graph = index == 0 ? *graphs->a : *graphs->b;
        const KernelRecord* found = nullptr;
        for (std::uint32_t k : region->subgraphs[index])
            if (found == nullptr || graph.kernels[k].time.operations > found->time.operations)
                found = &graph.kernels[k];
        return *found;
    }
    std::string kind() const { return region == nullptr ? "whole network" : largest().kind; }
    std::string block() const { return region == nullptr ? std::string() : block_of(largest().name); }
    void add_to(PartSum& sum) const {
        add(causes, sum);
        if (region == nullptr)
            return;
        for (std::uint32_t k : region->subgraphs[0])
            add(graphs->a->kernels[k], *graphs->a, 1, sum);
        for (std::uint32_t k : region->subgraphs[1])
            add(graphs->b->kernels[k], *graphs->b, 0, sum);
    }
};

template <class Row>
static void sort_largest_first(std::vector<Row>& rows) {
    std::ranges::stable_sort(
        rows, [](const Row& x, const Row& y) { return std::abs(x.part.value) > std::abs(y.part.value); });
}

static std::vector<ClassDifference> by_class(const std::vector<RegionView>& views) {
    std::map<std::string, PartSum> sums;
    for (const RegionView& view : views)
        view.add_to(sums[view.kind()]);
    std::vector<ClassDifference> out;
    for (const auto& [kind, sum] : sums) {
        ClassDifference row{kind, finished(sum), {}};
        for (std::size_t f = 0; f < kFactorCount; ++f)
            if (sum.causes[f] != 0)
                row.causes.emplace_back(static_cast<Factor>(f), sum.causes[f]);
        std::ranges::stable_sort(
            row.causes, [](const auto& x, const auto& y) { return std::abs(x.second) > std::abs(y.second); });
        out.push_back(std::move(row));
    }
    sort_largest_first(out);
    return out;
}

static std::vector<BlockDifference> by_block(const std::vector<RegionView>& views) {
    struct Group {
        PartSum sum;
        std::set<std::string> blocks;
        std::map<std::string, PartSum> kinds;
    };
    std::map<std::pair<std::string, Change>, Group> groups;
    for (const RegionView& view : views) {
        const std::string block = view.block();
        // Where names have no levels, and for the whole network, the class says most.
        Group& group = groups[{block.empty() ? view.kind() : name_shape(block), view.change()}];
        view.add_to(group.sum);
        view.add_to(group.kinds[view.kind()]);
        group.blocks.insert(block.empty() && view.region != nullptr ? view.largest().name : block);
    }
    std::vector<BlockDifference> out;
    for (const auto& [key, group] : groups) {
        BlockDifference row;
        row.name =
            group.blocks.size() == 1 && !group.blocks.begin()->empty() ? *group.blocks.begin() : key.first;
        row.change = key.second;
        row.blocks = group.blocks.size();
        row.part = finished(group.sum);
        for (const auto& [kind, sum] : group.kinds)
            if (const DifferencePart part = finished(sum);
                row.main_kind.empty() || std::abs(part.value) > std::abs(row.main_part.value)) {
                row.main_kind = kind;
                row.main_part = part;
            }
        out.push_back(std::move(row));
    }
    sort_largest_first(out);
    return out;
}

/// Value of a factor in what the metric is about: the whole batch for latency, one item for the others.
/// Records state bytes of an item, and times, operations and kernels of a batch.
static double input_in(const EstimateRecord& record, Factor factor, const Metric& metric) {
    const auto f = static_cast<std::size_t>(factor);
    const double value = f < record.inputs.size() ? record.inputs[f] : 0;
    if (metric == metric::latency)
        return factor == Factor::memory_bytes ? value * record.batch : value;
    switch (factor) {
    case Factor::work:
    case Factor::kernels:
    case Factor::on_chip:
    case Factor::fixed_cost:
    case Factor::host:
        return metric == metric::throughput ? value / record.batch : value;
    default:
        return value;
    }
}

static Result estimate_side(const Session& session, DifferenceSide& side) {
    side.workload.model = session.load(side.model);
    side.workload = usual_question(std::move(side.workload));
    side.conditions = settled(std::move(side.conditions), side.workload);
    side.conditions.keep_subgraphs = true;
    Result result = side.workload.prompt
                        ? answer_in_passes(session, side.workload, side.hardware, side.conditions)
                        : session.estimate(side.workload, side.hardware, side.conditions);
    if (result.ok())
        return result;
    const std::string why =
        fmt::format("{} on {}: no estimate: {}", side.model, side.hardware, result.estimate.reason);
    if (result.estimate.status == Status::incomplete)
        throw IncompleteError(why);
    throw NoEstimateError(why);
}

std::string block_of(std::string_view name) {
    std::vector<std::string> levels = split(name, '/');
    std::erase(levels, "");
    if (levels.size() > 1) {
        levels.pop_back(); // the operator itself
        const auto numbered = std::ranges::find_if(levels, is_numbered_block);
        return numbered != levels.end() ? *numbered : levels.front();
    }
    // "layer1.0.conv1": up to its first number.
    for (std::size_t at = name.find('.'), end = 0; at != std::string_view::npos; at = end)
        if (end = name.find('.', at + 1);
            end != std::string_view::npos && is_digits(name.substr(at + 1, end - at - 1)))
            return std::string(name.substr(0, end));
    return "";
}

Difference explain_difference(EstimateRecord before, EstimateRecord after, const Metric& metric) {
    if (!metric.has_causes)
        throw UsageError(
            fmt::format("--metric {}: its differences have no causes of their own; explain energy or latency",
                        metric.key));
    for (const EstimateRecord* side : {&before, &after})
        if (!side->values.contains(metric.key))
            throw InputError(
                fmt::format("{} on {}: no {} to explain", side->model, side->hardware, metric.noun));
    Difference out;
    out.sides = {std::move(before), std::move(after)};
    const EstimateRecord &old = out.sides[0], &now = out.sides[1];
    const AlignedEstimates aligned = align(now, old);
    PartSums sums(aligned.regions.size());
    out.attribution = *attribute(
        Sides{now, old, aligned.graphs, aligned.regions, displaced_regions(now, old, aligned)}, metric, sums);
    for (Contribution& c : out.attribution.contributions) {
        c.a.value = input_in(now, c.factor, metric);
        c.b.value = input_in(old, c.factor, metric);
    }
    out.overlapping = now.values.at(metric.key).interval.overlaps(old.values.at(metric.key).interval);
    out.aligned = aligned.aligned;
    for (std::size_t side = 0; side < 2; ++side)
        for (const GraphRecord& graph : out.sides[side].graphs)
            out.operators[side] += graph.operators.size();
    if (out.attribution.region_contributions.empty())
        return out;
    std::vector<RegionView> views = mapped(indices(aligned.regions.size()), [&](std::size_t r) {
        return RegionView{&out.attribution.regions[r], &aligned.graphs[aligned.regions[r].part],
                          sums.region(r)};
    });
    views.push_back({nullptr, nullptr, sums.region(kNetwork)});
    for (const RegionView& view : views)
        for (double part : view.causes)
            out.by_change[static_cast<std::size_t>(view.change())] += part;
    out.classes = by_class(views);
    out.blocks = by_block(views);
    return out;
}

DifferenceAnswer explain_difference(const Session& session, DifferenceRequest request) {
    if (request.before.conditions.duty.stated() || request.after.conditions.duty.stated())
        throw UsageError("how often a device works explains no difference: ask compare_models");
    DifferenceAnswer answer;
    answer.results.push_back(estimate_side(session, request.before));
    answer.results.push_back(estimate_side(session, request.after));
    request.cost = on_one_basis(answer.results, request.cost);
    answer.difference = explain_difference(record_of(answer.results[0], request.cost),
                                           record_of(answer.results[1], request.cost), *request.metric);
    const auto before = measure_of(answer.results[0], *request.metric, request.cost),
               after = measure_of(answer.results[1], *request.metric, request.cost);
    if (before && after) {
        const double p =
            probability_better(*request.metric, answer.results[1], *after, answer.results[0], *before);
        answer.odds = better(*request.metric, after->value, before->value) ? p : 1 - p;
    }
    answer.request = std::move(request);
    return answer;
}

} // namespace archsim
