#include "session/generation/step.hpp"

#include "estimate/intervals.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace archsim {

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

std::vector<OffloadChoice> offload_choices(StepRunner runner, std::int64_t batch, std::int64_t prompt,
                                           std::int64_t context, const MemoryEstimate& need) {
    const double link = runner.machine().rate(Resource::host_link_bytes);
    const double outside = need.peak_bytes - need.capacity_bytes;
    if (link <= 0 || outside <= 0 || runner.machine().in_host_memory()) // it is there already
        return {};
    runner.ignore_capacity();
    Estimate step = runner.price(*runner.work(batch, 1, context)),
             first = runner.price(*runner.work(batch, prompt, 0));
    if (step.status != Status::ok || first.status != Status::ok)
        return {};
    add_intervals(runner.machine(), SpreadOf::decode, step);
    add_intervals(runner.machine(), SpreadOf::prefill, first);
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
        choices.push_back({kind.part, outside, std::max(step.latency_s, wait), step.latency_s + wait,
                           std::max(first.latency_s, first_wait), first.latency_s + first_wait});
    }
    return choices;
}

/// "1.1 GB", "40 MB".
static std::string bytes_text(double bytes) {
    return bytes < 0.05e9 ? fmt::format("{:.0f} MB", bytes / 1e6) : fmt::format("{:.1f} GB", bytes / 1e9);
}

std::string in_words(const std::vector<OffloadChoice>& choices) {
    std::string text;
    for (const OffloadChoice& c : choices) {
        text += fmt::format("{}{} of the {}: {:.3g} to {:.3g} tokens/s",
                            text.empty() ? "offloading to the host " : ", or ", bytes_text(c.bytes), c.part,
                            1 / c.per_token_high_s, 1 / c.per_token_low_s);
    }
    return text;
}

} // namespace archsim
