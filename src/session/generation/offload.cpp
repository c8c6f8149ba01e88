#include "session/generation/offload.hpp"

#include "estimate/intervals.hpp"
#include "hardware/reference_machine.hpp"
#include "map/sharding.hpp"
#include "session/graph_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace archsim {

/// Part of a network's weights that are of experts.
static double expert_share(const ShapedGraph& graph) {
    std::vector<bool> of_experts(graph.tensors.size());
    for (const Operator& op : graph.operators)
        for (const TensorId in : op.inputs)
            if (in != kNoTensor && is_of_experts(op))
                of_experts[in] = true;
    double experts = 0, all = 0;
    for (std::size_t i = 0; i < graph.tensors.size(); ++i)
        if (graph.tensors[i].constant || graph.tensors[i].role == TensorRole::initializer) {
            all += graph.tensors[i].elements();
            experts += of_experts[i] ? graph.tensors[i].elements() : 0;
        }
    return all > 0 ? experts / all : 0;
}

/// Their part of the time of a pass: of the subgraphs that multiply by them.
static double expert_seconds(const NetworkWork& work, const Estimate& e) {
    std::set<std::size_t> of_experts;
    for (const SubgraphWork& sub : work.subgraphs)
        for (const OperatorUse& use : sub.operators)
            if (use.op != nullptr && is_of_experts(*use.op))
                of_experts.insert(sub.index);
    double seconds = 0;
    for (const SubgraphEstimate& sub : e.subgraphs)
        seconds += of_experts.contains(sub.index) ? sub.latency_s : 0;
    return std::min(seconds, e.latency_s);
}

void add_experts(const NetworkWork& piece, const Estimate& piece_estimate, const NetworkWork& token,
                 double weight_bytes, PassTimes& times) {
    times.expert_bytes = weight_bytes * expert_share(*token.graph);
    times.expert_token_s = expert_seconds(token, times.token);
    if (piece_estimate.latency_s > 0)
        times.expert_first_s =
            times.first.latency_s * expert_seconds(piece, piece_estimate) / piece_estimate.latency_s;
}

std::vector<HostPart> host_parts(const PassTimes& times, const MemoryEstimate& need, double layers,
                                 double outside) {
    const double layer_bytes = need.weight_bytes + need.kv_cache_bytes;
    std::vector<HostPart> parts;
    if (layers <= 0 || layer_bytes <= 0 || outside >= layer_bytes)
        return parts;
    const double whole = layers - std::floor(layers * (1 - outside / layer_bytes));
    parts.push_back({.layers = whole, .bytes = whole / layers * layer_bytes});
    if (times.expert_bytes >= outside) {
        const double moved = std::ceil(layers * outside / times.expert_bytes);
        parts.push_back({.layers = moved, .experts = true, .bytes = moved / layers * times.expert_bytes});
    }
    return parts;
}

void add_times(const PassTimes& device, const PassTimes& host, double layers, HostPart& part) {
    const double share = part.layers / layers;
    const auto mixed = [&](const Estimate& here, const Estimate& there, double experts_here,
                           double experts_there, double& seconds, Interval& interval) {
        const double left =
                         part.experts ? (here.latency_s - share * experts_here) / here.latency_s : 1 - share,
                     moved = part.experts ? share * experts_there / there.latency_s : share;
        const Interval &a = here.latency_interval, &b = there.latency_interval;
        seconds = left * here.latency_s + moved * there.latency_s;
        interval = {left * a.low + moved * b.low, left * a.high + moved * b.high};
    };
    mixed(device.first, host.first, device.expert_first_s, host.expert_first_s, part.first_s, part.first);
    mixed(device.token, host.token, device.expert_token_s, host.expert_token_s, part.token_s, part.token);
}

/// Bytes of one kind: those in memory, and those that a pass reads of them.
struct Kept {
    const char* part;
    double held = 0;
    double step = 0, prompt = 0; ///< read by a decode step, and by the prompt's pass
};

static bool of_experts(const OperatorUse& use) {
    const auto& products = use.op->work.contractions;
    return use.op->work.kind == OpKind::matmul &&
           std::ranges::count_if(products, &Contraction::weights_constant) > 1;
}

struct Read {
    double weights = 0, experts = 0, cache = 0;
};

static Read read_by(const NetworkWork& pass) {
    Read read;
    for (const SubgraphWork& part : pass.subgraphs) {
        read.weights += part.weight_bytes * part.repeat;
        read.cache += part.kv_bytes * part.repeat;
        for (const OperatorUse& use : part.operators)
            if (of_experts(use))
                read.experts += use.weight_bytes * part.repeat;
    }
    return read;
}

/// Every expert is read by a pass with many tokens.
static double all_experts(const StepRunner& runner) {
    constexpr std::int64_t kMany = 65536;
    return read_by(*runner.work(1, kMany, 0)).experts;
}

/// Bytes that a pass reads cross the link once.
static std::vector<OffloadChoice> over_link(const StepRunner& runner, const PassTimes& times,
                                            std::int64_t batch, std::int64_t prompt, std::int64_t context,
                                            const MemoryEstimate& need, double outside) {
    const double link = runner.machine().rate(Resource::host_link_bytes);
    const Read by_step = read_by(*runner.work(batch, 1, context)),
               by_prompt = read_by(*runner.work(batch, prompt, 0));
    const double experts = by_step.experts > 0 ? all_experts(runner) : 0;
    const Kept kinds[] = {{"layers", need.weight_bytes, by_step.weights, by_prompt.weights},
                          {"experts", experts, by_step.experts, by_prompt.experts},
                          {"cache", need.kv_cache_bytes, by_step.cache, by_prompt.cache}};
    std::vector<OffloadChoice> choices;
    for (const Kept& kind : kinds) {
        if (kind.held < outside)
            continue;
        const double share = outside / kind.held;
        const double wait = share * std::min(kind.step, kind.held) / link,
                     first_wait = share * std::min(kind.prompt, kind.held) / link;
        choices.push_back({.part = kind.part,
                           .bytes = outside,
                           .per_token_low_s = std::max(times.token.latency_s, wait),
                           .per_token_high_s = times.token.latency_s + wait,
                           .first_token_low_s = std::max(times.first.latency_s, first_wait),
                           .first_token_high_s = times.first.latency_s + first_wait});
    }
    return choices;
}

/// A prompt and a step, as long as they take in whatever memory holds them.
static std::optional<PassTimes> pass_times(const StepRunner& runner, std::int64_t batch, std::int64_t prompt,
                                           std::int64_t context, double weight_bytes) {
    const auto step = runner.work(batch, 1, context), piece = runner.work(batch, prompt, 0);
    PassTimes times{.first = runner.price(*piece, true), .token = runner.price(*step, true)};
    if (times.first.status != Status::ok || times.token.status != Status::ok)
        return std::nullopt;
    add_intervals(runner.machine(), SpreadOf::decode, times.token);
    add_intervals(runner.machine(), SpreadOf::prefill, times.first);
    add_experts(*piece, times.first, *step, weight_bytes, times);
    return times;
}

/// Layers, or experts of some, that the processor of the device's computer computes.
static std::vector<OffloadChoice> on_processor(const Session& session, const StepRunner& runner,
                                               const PassTimes& times, std::int64_t batch,
                                               std::int64_t prompt, std::int64_t context,
                                               const MemoryEstimate& need, double outside) {
    const Device& device = *runner.machine().device;
    const std::string host = !device.host.empty() ? device.host : reference_host(device.for_servers);
    const auto& lm = runner.model().bound(batch, 1, context)->model().info.language_model;
    Conditions there;
    there.precision = runner.precision();
    there.stack = language_runtime(session.hardware(), *session.hardware().device(host).device, "model.gguf");
    Result beside = asked(nullptr, host, there);
    auto processor = make_runner(session, runner.model(), beside);
    if (!lm || !processor)
        return {};
    const double room = processor->machine().memory_capacity_bytes;
    processor->ignore_capacity();
    const auto own = pass_times(*processor, batch, prompt, context, need.weight_bytes);
    if (!own)
        return {};
    std::vector<OffloadChoice> choices;
    for (HostPart& part : host_parts(times, need, lm->layers, outside)) {
        if (room > 0 && part.bytes > room)
            continue;
        add_times(times, *own, lm->layers, part);
        choices.push_back({.part = part.experts ? "experts" : "layers",
                           .processor = host,
                           .bytes = part.bytes,
                           .per_token_low_s = part.token.low,
                           .per_token_high_s = part.token.high,
                           .first_token_low_s = part.first.low,
                           .first_token_high_s = part.first.high});
    }
    return choices;
}

std::vector<OffloadChoice> offload_choices(const Session& session, StepRunner runner, std::int64_t batch,
                                           std::int64_t prompt, std::int64_t context,
                                           const MemoryEstimate& need) {
    const double outside = need.peak_bytes - need.capacity_bytes;
    const Machine& machine = runner.machine();
    if (machine.rate(Resource::host_link_bytes) <= 0 || outside <= 0 ||
        machine.in_host_memory()) // it is there already
        return {};
    runner.ignore_capacity();
    const auto times = pass_times(runner, batch, prompt, context, need.weight_bytes);
    if (!times)
        return {};
    return runner.machine().param(Parameter::host_tables, 0) > 0
               ? on_processor(session, runner, *times, batch, prompt, context, need, outside)
               : over_link(runner, *times, batch, prompt, context, need, outside);
}

/// "1.1 GB", "40 MB".
static std::string bytes_text(double bytes) {
    return bytes < 0.05e9 ? fmt::format("{:.0f} MB", bytes / 1e6) : fmt::format("{:.1f} GB", bytes / 1e9);
}

std::string in_words(const std::vector<OffloadChoice>& choices) {
    std::string text;
    for (const OffloadChoice& c : choices) {
        text += fmt::format("{}{} of the {}: {:.3g} to {:.3g} tokens/s",
                            !text.empty()         ? ", or "
                            : c.processor.empty() ? "offloading to the host "
                                                  : "computing on its processor ",
                            bytes_text(c.bytes), c.part, 1 / c.per_token_high_s, 1 / c.per_token_low_s);
    }
    if (!choices.empty() && !choices.front().processor.empty())
        text += " beside a " + choices.front().processor;
    return text;
}

} // namespace archsim
