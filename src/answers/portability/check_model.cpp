#include "answers/portability/check_model.hpp"

#include "answers/difference/difference.hpp"
#include "answers/portability/rewrites.hpp"
#include "core/lists.hpp"
#include "estimate/resource_times.hpp"
#include "session/bound_model.hpp"
#include "session/graph_run.hpp"
#include "session/usual_precision.hpp"

#include <algorithm>
#include <fmt/ranges.h>
#include <limits>
#include <map>

namespace archsim {

constexpr double kWorthwhile = 0.999; ///< of the time before: less than that is a saving

/// Seconds of a kernel on the host, by kind.
struct HostTime {
    double arithmetic = 0, hand_over = 0, transfer = 0;
};

static HostTime host_time(const SubgraphEstimate& kernel, const Result& r) {
    HostTime t;
    const double repeat = r.work->subgraphs[kernel.index].repeat;
    for (const ResourceTime& one : resource_times(kernel.mapping, *r.machine, r.estimate.clock_ratio, repeat))
        if (one.reason == Parameter::fallback_operation_time)
            t.arithmetic += one.seconds;
        else if (one.reason == Parameter::fallback_switch)
            t.hand_over += one.seconds;
        else if (one.lane == Lane::overhead &&
                 (one.resource == Resource::host_link_bytes || one.resource == Resource::dram_bytes))
            t.transfer += one.seconds;
    return t;
}

/// The row that refuses it, or what it stands behind; then who runs it.
static std::string reason_of(const OperatorUse& use, const Result& r) {
    const OperatorRules& rules = *r.runtime->rules;
    const ShapedGraph& graph = *r.work->graph;
    const Precision activations = r.work->precision.activations;
    const Refusal refusal = refusal_of(graph, *use.op, rules, r.device->generation, activations);
    const std::string why = refusal ? sentence(refusal, graph, *use.op, activations) : rules.rest_because;
    return fmt::format("{}; it runs on {}", why,
                       r.device->host.empty() ? std::string("the host processor") : r.device->host);
}

static double part(double own, double whole) {
    return whole > 0 ? own / whole : 0;
}

/// Between the accelerator and the host.
static double moved_bytes(const OperatorUse& use) {
    return (use.fetches ? use.read_bytes : 0) + (use.returns ? use.written_bytes : 0);
}

/// True where the stack's compiler does not take the operator and the host runs it.
static bool leaves_accelerator(const OperatorUse& use, const Runtime& stack) {
    return !use.supported && stack.fallback == Fallback::host;
}

/// A kernel's time on the host goes to its operators as it was counted: arithmetic by operations, hand-over
/// by number, transfers by bytes.
static void add_kernel(const SubgraphEstimate& kernel, const Result& r,
                       std::map<std::string, LeavingOperators>& types) {
    const SubgraphWork& work = r.work->subgraphs[kernel.index];
    double operations = 0, bytes = 0, count = 0;
    bool any = false;
    for (const OperatorUse& use : work.operators)
        if (leaves_accelerator(use, *r.runtime)) {
            operations += use.op->work.operations();
            bytes += moved_bytes(use);
            count += use.switches ? 1 : 0;
            any = true;
        }
    if (!any)
        return;
    const HostTime t = host_time(kernel, r);
    for (const OperatorUse& use : work.operators) {
        if (!leaves_accelerator(use, *r.runtime))
            continue;
        // One operator type may leave for several reasons: a row for each.
        const std::string reason = reason_of(use, r);
        LeavingOperators& type = types[use.op->type + reason];
        type.type = use.op->type;
        type.reason = reason;
        type.names.push_back(use.op->name);
        type.host_s += t.arithmetic * part(use.op->work.operations(), operations);
        type.switch_s += use.switches ? t.hand_over / count : 0;
        type.transfer_s += t.transfer * part(moved_bytes(use), bytes);
    }
}

static void count_operators(Portability& p) {
    const Result& r = p.result;
    double all = 0, stays = 0;
    bool on_accelerator = false;
    std::map<std::string, LeavingOperators> types;
    for (const SubgraphEstimate& kernel : r.estimate.subgraphs) {
        const SubgraphWork& work = r.work->subgraphs[kernel.index];
        bool any_stays = false, any_leaves = false;
        for (const OperatorUse& use : work.operators) {
            const double operations = use.op->work.operations() * work.repeat;
            const bool goes = leaves_accelerator(use, *r.runtime);
            ++p.operators;
            all += operations;
            (goes ? any_leaves : any_stays) = true;
            if (goes)
                ++p.leaving;
            else
                stays += operations;
        }
        // Hand-over ends an island; what is left of a fused kernel begins the next.
        if (any_leaves)
            on_accelerator = false;
        if (any_stays && !on_accelerator) {
            ++p.islands;
            on_accelerator = true;
        }
        add_kernel(kernel, r, types);
    }
    // A compiler that makes one part makes one program, whatever runs on the host meanwhile.
    if (r.runtime->rules && r.runtime->rules->rest_follows)
        p.islands = std::min<std::size_t>(p.islands, 1);
    p.operations_share = all > 0 ? stays / all : 1;
    for (auto& [name, type] : types) {
        p.fallback_s += type.total_s();
        p.types.push_back(std::move(type));
    }
    std::ranges::stable_sort(p.types, std::ranges::greater{}, &LeavingOperators::total_s);
}

/// A stack that does not build a network names the first operator that it refuses: here are all.
static void add_refusals(Portability& p) {
    const Result& r = p.result;
    if (r.estimate.status != Status::unsupported || !r.work || !r.runtime || !r.runtime->rules)
        return;
    std::set<std::string> said;
    for (const SubgraphWork& work : r.work->subgraphs)
        for (const OperatorUse& use : work.operators)
            if (!use.supported) {
                const Refusal refusal = refusal_of(*r.work->graph, *use.op, *r.runtime->rules,
                                                   r.device->generation, r.work->precision.activations);
                if (refusal) // else it stands behind one that is refused
                    said.insert(sentence(refusal, *r.work->graph, *use.op, r.work->precision.activations));
            }
    append(p.notes, said);
}

/// Formats that give way, sizes that are open in the file, vector engines that stand in, what nobody knows.
static void add_notes(const Graph& graph, Portability& p) {
    const Result& r = p.result;
    if (!r.ok())
        p.notes.push_back(r.estimate.reason);
    add_refusals(p);
    if (r.runtime && r.work && !r.runtime->fusion_on(r.device->family).replaceable_weights)
        for (const Finding& finding : graph.findings)
            if (finding.kind == FindingKind::inconsistent)
                p.notes.push_back("model: " + to_string(finding));
    if (!r.estimate.precision_note.empty())
        p.notes.push_back("format: " + r.estimate.precision_note);
    const std::string batch = batch_symbol(graph);
    std::set<std::string> open;
    for (TensorId id : graph.inputs)
        if (const auto& shape = graph.tensors[id].shape)
            for (const Dimension& dim : *shape)
                if (dim.value < 0 && !dim.symbol.empty())
                    open.insert(dim.symbol);
    if (!open.empty() && r.runtime && r.runtime->fallback != Fallback::none)
        p.notes.push_back(
            fmt::format("open sizes: {}; compilers for accelerators want fixed ones", fmt::join(open, ", ")));
    std::set<std::string> data_dependent;
    if (r.model && r.model->graph)
        for (const Operator& op : r.model->graph->operators)
            for (TensorId id : op.outputs)
                if (!op.folded && id != kNoTensor && r.model->graph->tensors[id].data_dependent)
                    data_dependent.insert(op.type);
    if (!data_dependent.empty())
        p.notes.push_back(
            fmt::format("sizes that depend on data: results of {}", fmt::join(data_dependent, ", ")));
    if (r.model)
        for (const Finding& finding : r.model->findings)
            if (finding.severity == Severity::error)
                p.notes.push_back("model: " + to_string(finding));
}

static void try_rewrites(const Trial& trial, const Graph& graph, Portability& p) {
    const auto helps = [&](const RewriteOutcome& o, double before) {
        return o.runs && o.latency_s < kWorthwhile * before;
    };
    // A model that does not run as it is may run rewritten.
    const double before =
        p.result.ok() ? p.result.estimate.latency_s : std::numeric_limits<double>::infinity();
    std::vector<const Rewrite*> useful;
    for (const Rewrite& rewrite : known_rewrites()) {
        const auto [changed, places] = rewritten(graph, rewrite);
        if (!changed)
            continue;
        RewriteOutcome outcome = trial(changed);
        if (!helps(outcome, before))
            continue;
        outcome.name = rewrite.name;
        outcome.title = rewrite.title;
        outcome.note = rewrite.note;
        outcome.places = places;
        p.rewrites.push_back(std::move(outcome));
        useful.push_back(&rewrite);
    }
    std::ranges::stable_sort(p.rewrites, {}, &RewriteOutcome::latency_s);
    if (useful.size() < 2)
        return;
    auto all = std::make_shared<Graph>(graph);
    const std::size_t places = sum_of(useful, [&](const Rewrite* r) { return r->apply(*all); });
    RewriteOutcome outcome = trial(all);
    if (!helps(outcome, before))
        return;
    outcome.name = "all";
    outcome.title = "all of these";
    outcome.places = places;
    p.together = std::move(outcome);
}

constexpr double kSaves = 0.995; ///< of the time before
constexpr std::array<std::int64_t, 5> kTiles = {8, 16, 32, 64, 128};
constexpr std::array<std::int64_t, 4> kLargerBatches = {2, 4, 8, 16};
constexpr std::array<std::int64_t, 3> kPaddings = {16, 64, 128};
constexpr std::array<std::int64_t, 4> kHeadSizes = {32, 64, 128, 256};
constexpr std::size_t kBlocksTried = 8; ///< those that take longest
constexpr std::string_view kOtherNetwork = "another network: train it anew";

/// Collects what saves; of one kind of change the best alone.
class PortingAdvice {
  public:
    explicit PortingAdvice(double before_s) : before_s_(before_s) {}

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

static void advise_dense_windows(const Trial& trial, const Graph& graph, PortingAdvice& advice) {
    for (const Pointwise side : {Pointwise::after, Pointwise::before})
        for (const std::int64_t channels : separable_channels(graph, side))
            if (const auto [changed, places] = with_dense_windows(graph, side, channels); changed)
                advice.add(trial(changed), "dense_windows",
                           fmt::format("dense windows for depthwise and the 1x1 {} it, up to {} channels",
                                       side == Pointwise::after ? "behind" : "before", channels),
                           std::string(kOtherNetwork), places);
}

static void advise_head_sizes(const Trial& trial, const Graph& graph, const Result& before,
                              PortingAdvice& advice) {
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
static std::vector<std::pair<std::string, std::set<std::string>>> slowest_blocks(const Result& before) {
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

static void advise_block_precision(const Trial& trial, const Graph& graph, const Result& before,
                                   PortingAdvice& advice) {
    if (bits_of(before.estimate.executed.compute) <= 8)
        return;
    for (const auto& [block, nodes] : slowest_blocks(before))
        if (const auto [changed, places] = with_quantized_nodes(graph, nodes); changed)
            advice.add(trial(changed), "block_precision", fmt::format("products of {} in int8", block),
                       "check the accuracy: its weights and inputs are quantised", places);
}

PortabilityAnswer check_model(const Session& session, PortabilityRequest request) {
    PortabilityAnswer answer;
    request.workload.model = session.load(request.model);
    request.workload.single_pass = true;
    const Graph& graph = graph_of(request.workload.model);
    request.conditions = settled(std::move(request.conditions), request.workload);
    request.conditions.keep_subgraphs = true;
    answer.model = session.facts(request.workload);
    for (const std::string& hardware : request.hardware) {
        Portability p;
        p.result = session.estimate(request.workload, hardware, request.conditions);
        if (p.result.ok())
            count_operators(p);
        add_notes(graph, p);
        const Trial trial(session, request, hardware);
        if (request.rewrites && p.result.runtime)
            try_rewrites(trial, graph, p);
        if (request.advice > 0 && p.result.ok())
            p.advice = advise(trial, graph, request, p.result, request.advice);
        answer.devices.push_back(std::move(p));
    }
    answer.request = std::move(request);
    return answer;
}

std::vector<RewriteOutcome> advise(const Trial& trial, const Graph& graph, const PortabilityRequest& request,
                                   const Result& before, std::size_t most) {
    PortingAdvice advice(before.estimate.latency_s / before.estimate.batch);
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
