#include "run/serving/prices.hpp"

#include "run/generation/stages.hpp"

#include <algorithm>
#include <cmath>

namespace archsim {

namespace {

// Counts at which steps are estimated: half powers of two, between which times are nearly straight.
constexpr std::array<std::int64_t, 24> kCounts = {
    1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096};
// Shortest context and chunk of a prompt that are told apart.
constexpr std::int64_t kShortest = 64;
enum Tables : std::int64_t { kDecode, kMixed, kPrompt };

/// Neighbours of `x` on a grid, and how far it lies between them.
struct Place {
    std::int64_t low = 0, high = 0;
    double part = 0;
};

Place on_counts(double x) {
    const auto above = std::lower_bound(kCounts.begin(), kCounts.end(), x);
    if (above == kCounts.begin())
        return {kCounts.front(), kCounts.front(), 0};
    const auto high = above == kCounts.end() ? std::prev(above) : above;
    const auto low = std::prev(high);
    // Beyond the last count the last slope goes on.
    return {*low, *high, (x - static_cast<double>(*low)) / static_cast<double>(*high - *low)};
}

/// Powers of two from `first`, and 0 below it.
Place on_powers(double x, std::int64_t first) {
    const auto start = static_cast<double>(first);
    if (x <= start)
        return {0, first, x / start};
    const auto low = static_cast<std::int64_t>(start * std::exp2(std::floor(std::log2(x / start))));
    return {low, 2 * low, (x - static_cast<double>(low)) / static_cast<double>(low)};
}

double between(double a, double b, double part) {
    return a + part * (b - a);
}

} // namespace

EnginePrices::EnginePrices(StepRunner runner, const Parallelism& parallelism, std::int64_t middle,
                           std::int64_t longest, bool whole_graph)
    : runner_(std::move(runner)), parallelism_(parallelism), middle_(std::max(middle, kShortest)),
      longest_(std::max(longest, kShortest)), whole_graph_(whole_graph) {
    runner_.share(static_cast<double>(parallelism.tensor),
                  parallelism.experts > 1 ? static_cast<double>(parallelism.experts) : 0);
    machine_ = runner_.shared_machine();
    runner_.ignore_capacity();
    subgraphs_ = runner_.work(1, kShortest, 0)->subgraphs.size();
    if (const auto& lm = runner_.model().bound(1, 1, middle_)->model().info.language_model)
        hidden_ = lm->hidden;
    const auto devices = static_cast<double>(parallelism.tensor);
    // A cache grows in straight lines, which bend where a window is full.
    std::vector<std::int64_t> lengths = runner_.model().windows();
    for (std::int64_t positions = 1; positions < 2 * longest_; positions *= 2)
        lengths.push_back(positions);
    std::sort(lengths.begin(), lengths.end());
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
    while (lengths.size() > 2 && lengths[lengths.size() - 2] >= longest_)
        lengths.pop_back();
    for (const std::int64_t positions : lengths)
        cache_.emplace_back(static_cast<double>(positions),
                            devices * runner_.work(1, 1, positions - 1)->memory.kv_cache_bytes);
}

double EnginePrices::cache_bytes(double positions) const {
    if (cache_.size() < 2)
        return cache_.empty() ? 0 : cache_.front().second;
    auto high = std::lower_bound(cache_.begin(), cache_.end(), std::pair(positions, 0.0));
    high = high == cache_.begin() ? std::next(high) : high == cache_.end() ? std::prev(high) : high;
    const auto low = std::prev(high);
    return between(low->second, high->second, (positions - low->first) / (high->first - low->first));
}

double EnginePrices::fixed_bytes(std::int64_t step_tokens) const {
    // Stages hold their own layers only; activations live in one of them at a time.
    const auto stages = static_cast<double>(parallelism_.pipeline);
    const auto step = runner_.work(1, step_tokens, 0);
    return step->weight_bytes / stages + step->memory.arena_bytes;
}

double EnginePrices::weight_bytes() const {
    return runner_.work(1, 1, 0)->weight_bytes / static_cast<double>(parallelism_.pipeline);
}

EnginePrices::Point EnginePrices::keep(const Estimate& e) {
    if (e.status != Status::ok && problem_.empty())
        problem_ = e.reason.empty() ? "a step cannot be estimated" : e.reason;
    return {e.latency_s, e.energy.total()};
}

EnginePrices::Point EnginePrices::decode_at(std::int64_t sequences, std::int64_t verified,
                                            std::int64_t context) {
    const auto [it, fresh] = known_.try_emplace({kDecode, sequences, verified, context});
    if (fresh)
        it->second = keep(runner_.price(*runner_.work(sequences, verified, context)));
    return it->second;
}

EnginePrices::Point EnginePrices::decode(std::int64_t sequences, std::int64_t verified, double context) {
    const Place b = on_counts(static_cast<double>(sequences)), c = on_powers(context, kShortest);
    const auto at = [&](std::int64_t count) {
        const Point low = decode_at(count, verified, c.low), high = decode_at(count, verified, c.high);
        return Point{between(low.seconds, high.seconds, c.part), between(low.joules, high.joules, c.part)};
    };
    const Point low = at(b.low);
    if (b.part <= 0)
        return low;
    const Point high = at(b.high);
    return {between(low.seconds, high.seconds, b.part), between(low.joules, high.joules, b.part)};
}

EnginePrices::Point EnginePrices::prompt_at(std::int64_t tokens, std::int64_t past) {
    const auto [it, fresh] = known_.try_emplace({kPrompt, tokens, past, 0});
    if (fresh)
        it->second = keep(runner_.price(*runner_.work(1, std::max<std::int64_t>(1, tokens), past)));
    return it->second;
}

EnginePrices::Point EnginePrices::prompt(double tokens, double past) {
    const Place p = on_powers(tokens, kShortest), s = on_powers(std::max(0.0, past), 2 * kShortest);
    const auto at = [&](std::int64_t count) {
        const Point low = prompt_at(count, s.low);
        if (s.part <= 0)
            return low;
        const Point high = prompt_at(count, s.high);
        return Point{between(low.seconds, high.seconds, s.part), between(low.joules, high.joules, s.part)};
    };
    const Point low = at(p.low), high = at(p.high);
    return {between(low.seconds, high.seconds, p.part), between(low.joules, high.joules, p.part)};
}

EnginePrices::Point EnginePrices::mixed_at(std::int64_t sequences, std::int64_t prompt) {
    const auto [it, fresh] = known_.try_emplace({kMixed, sequences, prompt, 0});
    if (fresh)
        it->second =
            keep(runner_.price(mixed_step(*runner_.work(sequences, 1, middle_),
                                          *runner_.work(1, std::max<std::int64_t>(1, prompt), 0), 1)));
    return it->second;
}

EnginePrices::Point EnginePrices::mixed(double sequences, double prompt) {
    const Place b = on_counts(sequences), p = on_powers(prompt, kShortest);
    const auto at = [&](std::int64_t count) {
        const Point low = p.low == 0 ? decode_at(count, 1, middle_) : mixed_at(count, p.low),
                    high = mixed_at(count, p.high);
        return Point{between(low.seconds, high.seconds, p.part), between(low.joules, high.joules, p.part)};
    };
    const Point low = at(b.low);
    if (b.part <= 0)
        return low;
    const Point high = at(b.high);
    return {between(low.seconds, high.seconds, b.part), between(low.joules, high.joules, b.part)};
}

StepCost EnginePrices::price(const StepLoad& load) {
    const auto stages = static_cast<double>(parallelism_.pipeline);
    // Every group of a stage has its part of the batch, and all wait for the largest.
    const double parts = stages * static_cast<double>(parallelism_.groups());
    const auto share = static_cast<std::int64_t>(std::ceil(static_cast<double>(load.sequences) / parts));
    // A prompt is in one group.
    const auto prompt_groups =
        static_cast<double>(std::clamp<std::int64_t>(load.prompts, 1, parallelism_.groups()));
    const double prompt_tokens =
        std::ceil(static_cast<double>(load.prompt_tokens) / (stages * prompt_groups));
    const double past = load.prompt_keys - static_cast<double>(load.prompt_tokens) / 2;
    Point whole, alone;
    if (share > 0)
        alone = whole = decode(share, load.verified, load.context);
    if (load.prompt_tokens > 0 && share > 0) {
        const Point both = mixed(static_cast<double>(share), prompt_tokens);
        const Point middle = decode(share, 1, static_cast<double>(middle_));
        const Point further = prompt(prompt_tokens, past), plain = prompt(prompt_tokens, 0);
        whole.seconds += both.seconds - middle.seconds + further.seconds - plain.seconds;
        whole.joules += both.joules - middle.joules + further.joules - plain.joules;
    } else if (load.prompt_tokens > 0) {
        whole = prompt(prompt_tokens, past);
    }
    if (load.prompt_tokens > 0) {
        const double rows = static_cast<double>(share * load.verified) + prompt_tokens;
        const double waits = runner_.launch_seconds(subgraphs_, rows, whole_graph_) - whole.seconds;
        if (waits > 0) {
            whole.seconds += waits;
            whole.joules += waits * machine_->static_power_w * machine_->devices;
        }
    }
    StepCost cost;
    // Every stage's devices work through all parts of the batch; between stages the activations cross a link.
    double hops = 0;
    if (parallelism_.pipeline > 1) {
        const auto rows = static_cast<double>(share * load.verified) + prompt_tokens;
        hops = stage_hops(runner_.machine(), parallelism_, rows, hidden_);
        // A prompt alone fills the stages once before they work side by side.
        if (share == 0)
            hops += whole.seconds * (stages - 1) / stages;
    }
    cost.seconds = whole.seconds + hops;
    cost.joules = whole.joules * stages;
    cost.prompt_seconds = std::clamp(whole.seconds - alone.seconds, 0.0, cost.seconds);
    cost.prompt_joules = std::clamp((whole.joules - alone.joules) * stages, 0.0, cost.joules);
    return cost;
}

Estimate EnginePrices::typical_step(std::int64_t sequences) const {
    const std::int64_t part = sequences / (parallelism_.pipeline * parallelism_.groups());
    return runner_.price(*runner_.work(std::max<std::int64_t>(1, part), 1, middle_), true);
}

Estimate EnginePrices::typical_prompt(std::int64_t tokens) const {
    return runner_.price(*runner_.work(1, std::max<std::int64_t>(1, tokens), 0));
}

} // namespace archsim
