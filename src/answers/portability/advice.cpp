#include "answers/portability/check_model.hpp"

#include "answers/difference/difference.hpp"
#include "answers/portability/rewrites.hpp"
#include "session/graph_run.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace archsim {

namespace {

constexpr double kSaves = 0.995; ///< of the time before
constexpr std::array<std::int64_t, 5> kTiles = {8, 16, 32, 64, 128};
constexpr std::array<std::int64_t, 4> kLargerBatches = {2, 4, 8, 16};
constexpr std::array<std::int64_t, 3> kPaddings = {16, 64, 128};
constexpr std::array<std::int64_t, 4> kHeadSizes = {32, 64, 128, 256};
constexpr std::size_t kBlocksTried = 8; ///< those that take longest
constexpr std::string_view kOtherNetwork = "another network: train it anew";

/// Collects what saves; of one kind of change the best alone.
class Advice {
  public:
    explicit Advice(double before_s) : before_s_(before_s) {}

    void add(RewriteOutcome outcome, std::string name, std::string title, std::string note,
             std::size_t places) {
        if (!outcome.runs || outcome.per_item() >= kSaves * before_s_)
            return;
        outcome.name = std::move(name);
        outcome.title = std::move(title);
        outcome.note = std::move(note);
        outcome.places = places;
        const auto same = std::ranges::find(found_, outcome.name, &RewriteOutcome::name);
        if (same == found_.end())
            found_.push_back(std::move(outcome));
        else if (outcome.per_item() < same->per_item())
            *same = std::move(outcome);
    }

    std::vector<RewriteOutcome> best(std::size_t most) {
        std::ranges::stable_sort(found_, {}, &RewriteOutcome::per_item);
        if (found_.size() > most)
            found_.resize(most);
        return std::move(found_);
    }

  private:
    double before_s_;
    std::vector<RewriteOutcome> found_;
};

void advise_dense_windows(const Trial& trial, const Graph& graph, Advice& advice) {
    for (const Pointwise side : {Pointwise::after, Pointwise::before})
        for (const std::int64_t channels : separable_channels(graph, side))
            if (const auto [changed, places] = with_dense_windows(graph, side, channels); changed)
                advice.add(trial(changed), "dense_windows",
                           fmt::format("dense windows for depthwise and the 1x1 {} it, up to {} channels",
                                       side == Pointwise::after ? "behind" : "before", channels),
                           std::string(kOtherNetwork), places);
}

void advise_head_sizes(const Trial& trial, const Graph& graph, const Result& before, Advice& advice) {
    const ShapedGraph& bound = *before.model->graph;
    const double batch = before.estimate.batch;
    const auto from = head_sizes(bound, batch);
    if (!from)
        return;
    for (const std::int64_t size : kHeadSizes) {
        const HeadSizes to{from->heads * from->size / size, size};
        if (size == from->size || to.heads < 1 || to.heads * size != from->heads * from->size)
            continue;
        if (const auto [changed, places] = with_head_sizes(graph, *from, to); changed)
            advice.add(trial(changed, {}, nullptr,
                             [&, wanted = to](const ShapedGraph& after) {
                                 return keeps_work(bound, after, wanted, batch);
                             }),
                       "head_size",
                       fmt::format("{} attention heads of {} instead of {} of {}", to.heads, to.size,
                                   from->heads, from->size),
                       std::string(kOtherNetwork), places);
    }
}

/// Blocks of the network by the time of their kernels, longest first, with the nodes in each.
std::vector<std::pair<std::string, std::set<std::string>>> slowest_blocks(const Result& before) {
    std::map<std::string, double> seconds;
    std::map<std::string, std::set<std::string>> nodes;
    for (const SubgraphEstimate& s : before.estimate.subgraphs) {
        const Subgraph& subgraph = before.partition->subgraphs[s.index];
        const std::string block = block_of(subgraph.name);
        if (block.empty())
            continue;
        seconds[block] += s.latency_s;
        for (const SubgraphMember& member : subgraph.members)
            nodes[block].insert(before.model->graph->operators[member.op].name);
    }
    std::vector<std::pair<std::string, std::set<std::string>>> blocks(nodes.begin(), nodes.end());
    std::ranges::stable_sort(
        blocks, [&](const auto& x, const auto& y) { return seconds[x.first] > seconds[y.first]; });
    if (blocks.size() > kBlocksTried)
        blocks.resize(kBlocksTried);
    return blocks;
}

void advise_block_precision(const Trial& trial, const Graph& graph, const Result& before, Advice& advice) {
    if (bits_of(before.estimate.executed.compute) <= 8)
        return;
    for (const auto& [block, nodes] : slowest_blocks(before))
        if (const auto [changed, places] = with_quantized_nodes(graph, nodes); changed)
            advice.add(trial(changed), "block_precision", fmt::format("products of {} in int8", block),
                       "check the accuracy: its weights and inputs are quantised", places);
}

} // namespace

std::vector<RewriteOutcome> advise(const Trial& trial, const Graph& graph, const PortabilityRequest& request,
                                   const Result& before, std::size_t most) {
    Advice advice(before.estimate.latency_s / before.estimate.batch);
    for (const Rewrite& rewrite : known_rewrites())
        if (const auto [changed, places] = rewritten(graph, rewrite); changed)
            advice.add(trial(changed), std::string(rewrite.name), std::string(rewrite.title),
                       std::string(rewrite.note), places);
    for (const std::int64_t tile : kTiles)
        if (const auto [changed, places] = with_rounded_channels(graph, tile); changed)
            advice.add(trial(changed), "channels",
                       fmt::format("channels at the nearest multiple of {}", tile),
                       std::string(kOtherNetwork), places);
    advise_dense_windows(trial, graph, advice);
    advise_head_sizes(trial, graph, before, advice);
    advise_block_precision(trial, graph, before, advice);
    const auto same = std::make_shared<const Graph>(graph);
    for (const std::int64_t batch : kLargerBatches)
        advice.add(trial(same, batch * request.workload.batch), "batch",
                   fmt::format("batch {}", batch * request.workload.batch),
                   "the same values; items wait for each other", 1);
    const std::string batch = batch_symbol(graph);
    for (const auto& [symbol, size] : request.workload.model.info.dims)
        for (const std::int64_t tile : kPaddings) {
            const std::int64_t padded = (size + tile - 1) / tile * tile;
            if (symbol == batch || padded == size)
                continue;
            Bindings sizes = request.workload.sizes;
            sizes.dims[symbol] = padded;
            advice.add(trial(same, {}, &sizes), "padding_" + symbol,
                       fmt::format("{} padded from {} to {}", symbol, size, padded),
                       "the same values where the padding is masked", 1);
        }
    return advice.best(most);
}

bool leaves_accelerator(const OperatorUse& use, const Runtime& stack) {
    return !use.supported && stack.fallback == Fallback::host;
}

RewriteOutcome Trial::operator()(const std::shared_ptr<const Graph>& graph, std::optional<std::int64_t> batch,
                                 const Bindings* sizes,
                                 const std::function<bool(const ShapedGraph&)>& accept) const {
    const Workload& workload = request_.workload;
    ImportedGraph model = workload.model;
    model.graph = graph;
    RewriteOutcome outcome;
    try {
        const auto bound =
            session_.bind(model, batch.value_or(workload.batch), sizes != nullptr ? *sizes : workload.sizes);
        if (!bound->graph().complete() || (accept && !accept(bound->graph())))
            return outcome;
        const Result r = run_graph(session_, bound, hardware_, request_.conditions);
        if (!r.ok())
            return outcome;
        outcome.runs = true;
        outcome.latency_s = r.estimate.latency_s;
        outcome.items = r.estimate.batch;
        for (const SubgraphWork& work : r.work->subgraphs)
            for (const OperatorUse& use : work.operators)
                outcome.leaving += leaves_accelerator(use, *r.runtime) ? 1 : 0;
    } catch (const InputError&) { // sizes that the model cannot take
    }
    return outcome;
}

} // namespace archsim
