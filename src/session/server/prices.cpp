#include "session/server/prices.hpp"

#include "archsim/core/finding.hpp"
#include "estimate/algebra.hpp"
#include "session/server/server.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace archsim {

// Counts at which steps are estimated: half powers of two, between which times are nearly straight.
constexpr std::array<std::int64_t, 24> kCountGrid = {
    1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096};
/// Lengths at which they are: none, and the starts of the spans of contexts.
static constexpr std::int64_t length_at(std::size_t index) {
    return index == 0 ? 0 : ContextCounts::kFirst << (index - 1);
}
// Where sequences stand while they share a step with prompts: c0.
constexpr std::size_t kFirstLength = 1;

/// Neighbours of a value on a grid, as indices, and how far it lies between them.
struct Place {
    std::size_t low = 0, high = 0;
    double part = 0;
};

static Place on_counts(double x) {
    const auto above = std::ranges::lower_bound(kCountGrid, x);
    if (above == kCountGrid.begin())
        return {};
    const auto high =
        static_cast<std::size_t>(std::min(above, std::prev(kCountGrid.end())) - kCountGrid.begin());
    const auto low = static_cast<double>(kCountGrid[high - 1]);
    // Beyond the last count the last slope goes on.
    return {high - 1, high, (x - low) / (static_cast<double>(kCountGrid[high]) - low)};
}

static Place on_lengths(double x) {
    const std::size_t span = ContextCounts::span_of(static_cast<std::int64_t>(x));
    const auto low = static_cast<double>(length_at(span));
    return {span, span + 1, (x - low) / (static_cast<double>(length_at(span + 1)) - low)};
}

static double blend(double a, double b, double part) {
    return a + part * (b - a);
}

EnginePrices::EnginePrices(StepRunner runner, const Parallelism& parallelism, std::int64_t middle,
                           std::int64_t longest, const Capture& capture)
    : runner_(std::move(runner)), parallelism_(parallelism), middle_(std::max(middle, ContextCounts::kFirst)),
      capture_(capture) {
    runner_.share(static_cast<double>(parallelism.tensor),
                  parallelism.experts > 1 ? static_cast<double>(parallelism.experts) : 0);
    machine_ = runner_.shared_machine();
    longer_ = given_waits(*machine_).later;
    runner_.ignore_capacity();
    // A prompt of more tokens than a block of a recurrence has, whose kernels are more then.
    const auto prompt = runner_.work(1, 2 * ContextCounts::kFirst, 0);
    launches_ = runner_.launches_of(*prompt);
    if (StepRunner::in_blocks(*prompt)) {
        const Point compiled = host_turn(Parameter::length_compile);
        new_length_ = {compiled.seconds, compiled.joules, compiled.seconds, compiled.joules};
    }
    hidden_ = runner_.model().hidden();
    turn_ = host_turn(Parameter::sequence_time);
    const auto devices = static_cast<double>(parallelism.tensor);
    // A cache grows in straight lines, which bend where a window is full.
    std::vector<std::int64_t> lengths = runner_.model().windows();
    lengths.push_back(1);
    lengths.push_back(2 * std::max(longest, *std::ranges::max_element(lengths)));
    std::ranges::sort(lengths);
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
    for (const std::int64_t positions : lengths)
        cache_.emplace_back(static_cast<double>(positions),
                            devices * runner_.work(1, 1, positions - 1)->memory.kv_cache_bytes);
}

/// The device's wait for its host, at the time that the stack states.
EnginePrices::Point EnginePrices::host_turn(Parameter time) const {
    const double seconds = longer_ * machine_->param(time, 0);
    return {seconds, seconds * idle_watts_each() * machine_->devices};
}

bool EnginePrices::schedule_in_turn() {
    step_turn_ = host_turn(Parameter::state_step_time);
    return step_turn_.seconds > 0;
}

double EnginePrices::cache_bytes(double positions) const {
    if (cache_.size() < 2)
        return cache_.empty() ? 0 : cache_.front().second;
    auto high = std::ranges::lower_bound(cache_, std::pair(positions, 0.0));
    high = high == cache_.begin() ? std::next(high) : high == cache_.end() ? std::prev(high) : high;
    const auto low = std::prev(high);
    return blend(low->second, high->second, (positions - low->first) / (high->first - low->first));
}

double EnginePrices::fixed_bytes(std::int64_t step_tokens) const {
    // Stages hold their own layers only; activations live in one of them at a time.
    const auto stages = static_cast<double>(parallelism_.pipeline);
    const auto step = runner_.work(1, step_tokens, 0);
    return held_weights(*step, machine()) / stages + step->memory.arena_bytes;
}

double EnginePrices::weight_bytes() const {
    return held_weights(*runner_.work(1, 1, 0), machine()) / static_cast<double>(parallelism_.pipeline);
}

std::string EnginePrices::problem() const {
    const std::lock_guard lock(filling_);
    return problem_;
}

EnginePrices::Point EnginePrices::point_of(const NetworkWork& work) {
    const Estimate e = runner_.price(work, counted_);
    counted_.forget_works();
    if (e.status != Status::ok && problem_.empty())
        problem_ = e.reason.empty() ? "a step cannot be estimated" : e.reason;
    // Static energy follows the time, events do not.
    const double joules = e.energy.total() + (longer_ - 1) * e.energy.static_joules;
    return {longer_ * e.latency_s, joules_at(*machine_, joules, longer_ * e.latency_s),
            e.status == Status::ok};
}

/// A point, by whoever asks first; later ones wait for nobody.
template <class Make>
const EnginePrices::Point& EnginePrices::at(Table& table, std::size_t row, std::size_t column,
                                            const Make& make) {
    Slot& slot = table.slots[row * kLengths + column];
    if (!slot.ready.load(std::memory_order_acquire)) {
        const std::lock_guard lock(filling_);
        if (!slot.ready.load(std::memory_order_relaxed)) {
            slot.point = make();
            slot.ready.store(true, std::memory_order_release);
        }
    }
    return slot.point;
}

/// The same with the lock held, by a caller who has the counts.
void EnginePrices::fill(Table& table, std::size_t row, std::size_t column, const NetworkWork& work) {
    Slot& slot = table.slots[row * kLengths + column];
    if (slot.ready.load(std::memory_order_relaxed))
        return;
    slot.point = point_of(work);
    slot.ready.store(true, std::memory_order_release);
}

/// The host's time for so many sequences while the device waits.
EnginePrices::Point EnginePrices::turn(double sequences) const {
    return {step_turn_.seconds + sequences * turn_.seconds, step_turn_.joules + sequences * turn_.joules};
}

/// A step that takes no less than the host needs to launch it.
EnginePrices::Point EnginePrices::launched(const Point& step, double rows, bool prompts) const {
    const double waits = longer_ * runner_.launch_seconds(launches_, rows, prompts, capture_) - step.seconds;
    return waits <= 0 ? step : sum(step, {waits, waits * idle_watts_each() * machine_->devices});
}

EnginePrices::Point EnginePrices::sum(const Point& a, const Point& b) {
    return {a.seconds + b.seconds, a.joules + b.joules, a.known && b.known};
}

EnginePrices::Point EnginePrices::between(const Point& low, const Point& high, double part) {
    return {blend(low.seconds, high.seconds, part), blend(low.joules, high.joules, part),
            low.known && high.known};
}

EnginePrices::Table& EnginePrices::decode_table(std::int64_t verified) {
    if (verified == 1)
        return decode_;
    const std::lock_guard lock(filling_);
    return verifying_.try_emplace(verified, kCounts).first->second;
}

const EnginePrices::Point& EnginePrices::decode_at(Table& table, std::size_t count, std::size_t length,
                                                   std::int64_t verified) {
    return at(table, count, length,
              [&] { return point_of(*runner_.work(kCountGrid[count], verified, length_at(length))); });
}

/// Sequences that generate: the mean over the contexts that they have, at two counts of them that are
/// neighbours on the grid, and between these.
class EnginePrices::Decoding {
  public:
    Decoding(EnginePrices& prices, std::int64_t sequences, const ContextCounts& contexts,
             std::int64_t verified)
        : prices_(prices), table_(prices.decode_table(verified)), verified_(verified),
          count_(on_counts(static_cast<double>(sequences))) {
        for (std::size_t span = 0; span < ContextCounts::kSpans; ++span) {
            if (contexts.sequences[span] <= 0)
                continue;
            Span& s = spans_[used_++];
            s.index = span;
            s.sequences = contexts.sequences[span];
            s.positions = contexts.positions[span];
            s.starts = at(span);
            all_ += static_cast<double>(s.sequences);
        }
    }

    /// The price of the contexts as they are.
    Point price() {
        Point low_sum, high_sum;
        for (std::size_t i = 0; i < used_; ++i) {
            Span& s = spans_[i];
            const auto number = static_cast<double>(s.sequences);
            const auto low = static_cast<double>(length_at(s.index)),
                       high = static_cast<double>(length_at(s.index + 1));
            const double part = (static_cast<double>(s.positions) / number - low) / (high - low);
            if (part > 0 && s.ends.low == nullptr)
                s.ends = at(s.index + 1);
            const auto add = [&](Point& sum, const Point* starts, const Point* ends) {
                const Point mean = part > 0 ? between(*starts, *ends, part) : *starts;
                sum = {sum.seconds + number * mean.seconds, sum.joules + number * mean.joules,
                       sum.known && mean.known};
            };
            add(low_sum, s.starts.low, s.ends.low);
            if (!on_grid())
                add(high_sum, s.starts.high, s.ends.high);
        }
        const auto mean = [&](const Point& sum) {
            return Point{sum.seconds / all_, sum.joules / all_, sum.known};
        };
        return on_grid() ? mean(low_sum) : between(mean(low_sum), mean(high_sum), count_.part);
    }

    /// Every sequence is a position further, in its span.
    void go_on() {
        for (std::size_t i = 0; i < used_; ++i)
            spans_[i].positions += spans_[i].sequences;
    }

  private:
    struct Pair {
        const Point* low = nullptr; ///< at the count below
        const Point* high = nullptr;
    };
    struct Span {
        std::size_t index = 0;
        std::int64_t sequences = 0, positions = 0;
        Pair starts, ends; ///< its end is asked for where somebody is beyond the start
    };
    bool on_grid() const { return count_.part <= 0; }
    Pair at(std::size_t length) {
        Pair pair{.low = &prices_.decode_at(table_, count_.low, length, verified_)};
        if (!on_grid())
            pair.high = &prices_.decode_at(table_, count_.high, length, verified_);
        return pair;
    }

    EnginePrices& prices_;
    Table& table_;
    std::int64_t verified_;
    Place count_;
    double all_ = 0;
    std::size_t used_ = 0;
    std::array<Span, ContextCounts::kSpans> spans_;
};

EnginePrices::Point EnginePrices::decode(std::int64_t sequences, const ContextCounts& contexts,
                                         std::int64_t verified) {
    return Decoding(*this, sequences, contexts, verified).price();
}

EnginePrices::Point EnginePrices::prompt_at(std::size_t length, std::size_t past) {
    return at(prompt_, length, past, [&] {
        return point_of(*runner_.work(1, std::max<std::int64_t>(1, length_at(length)), length_at(past)));
    });
}

EnginePrices::Point EnginePrices::prompt(double tokens, double past) {
    const Place p = on_lengths(tokens), s = on_lengths(std::max(0.0, past));
    const auto over = [&](std::size_t length) {
        const Point low = prompt_at(length, s.low);
        return s.part <= 0 ? low : between(low, prompt_at(length, s.high), s.part);
    };
    const Point low = over(p.low);
    return p.part <= 0 ? low : between(low, over(p.high), p.part);
}

EnginePrices::Point EnginePrices::several_at(std::size_t tokens, std::size_t length) {
    if (length >= tokens)
        return prompt_at(tokens, 0);
    return at(several_, tokens, length, [&] {
        return point_of(*runner_.work(length_at(tokens) / length_at(length), length_at(length), 0));
    });
}

EnginePrices::Point EnginePrices::several(double tokens, double length) {
    const Place p = on_lengths(tokens),
                n = on_lengths(std::max(length, static_cast<double>(ContextCounts::kFirst)));
    const auto over = [&](std::size_t all) {
        const Point low = several_at(all, n.low);
        return n.part <= 0 || n.low >= all ? low : between(low, several_at(all, n.high), n.part);
    };
    const Point low = over(p.low);
    return p.part <= 0 ? low : between(low, over(p.high), p.part);
}

EnginePrices::Point EnginePrices::mixed_at(std::size_t count, std::size_t length) {
    if (length == 0)
        return decode_at(decode_, count, kFirstLength, 1);
    return at(mixed_, count, length, [&] {
        const auto decode = runner_.work(kCountGrid[count], 1, length_at(kFirstLength)),
                   prompt = runner_.work(1, length_at(length), 0);
        // The price that the sum takes away again is at hand.
        fill(decode_, count, kFirstLength, *decode);
        fill(prompt_, length, 0, *prompt);
        return point_of(mixed_step(*decode, *prompt, 1));
    });
}

EnginePrices::Point EnginePrices::mixed(std::int64_t sequences, double prompt) {
    const Place b = on_counts(static_cast<double>(sequences)), p = on_lengths(prompt);
    const auto over = [&](std::size_t count) {
        const Point low = mixed_at(count, p.low);
        return p.part <= 0 ? low : between(low, mixed_at(count, p.high), p.part);
    };
    const Point low = over(b.low);
    return b.part <= 0 ? low : between(low, over(b.high), b.part);
}

StepCost EnginePrices::price(const StepLoad& load) {
    bool known = true;
    return priced(load, known);
}

void EnginePrices::price_on(StepLoad load, std::span<StepCost> costs) {
    const std::int64_t share = share_of(load.sequences);
    Decoding decoding(*this, share, load.contexts, load.verified);
    for (StepCost& cost : costs) {
        const Point whole = launched(sum(decoding.price(), turn(static_cast<double>(share))),
                                     static_cast<double>(share * load.verified), false);
        cost = cost_of(whole, whole, share * load.verified, 0);
        decoding.go_on();
    }
}

StepCost EnginePrices::certain_price(const StepLoad& load) {
    bool known = true;
    const StepCost cost = priced(load, known);
    if (!known)
        throw InputError(problem());
    return cost;
}

/// Every group of a stage has its part of the batch, and all wait for the largest.
std::int64_t EnginePrices::share_of(std::int64_t sequences) const {
    const double parts =
        static_cast<double>(parallelism_.pipeline) * static_cast<double>(parallelism_.groups());
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(sequences) / parts));
}

StepCost EnginePrices::priced(const StepLoad& load, bool& known) {
    const auto stages = static_cast<double>(parallelism_.pipeline);
    const std::int64_t share = share_of(load.sequences);
    // A prompt is in one group.
    const auto prompt_groups =
        static_cast<double>(std::clamp<std::int64_t>(load.prompts, 1, parallelism_.groups()));
    const double prompt_tokens =
        std::ceil(static_cast<double>(load.prompt_tokens) / (stages * prompt_groups));
    ContextCounts mean;
    const ContextCounts* contexts = &load.contexts;
    if (share > 0 &&
        std::ranges::all_of(load.contexts.sequences, [](std::int64_t number) { return number == 0; })) {
        mean.add(static_cast<std::int64_t>(load.context));
        contexts = &mean;
    }
    Point whole, alone;
    const auto add = [&](const Point& more, double sign) {
        whole.seconds += sign * more.seconds;
        whole.joules += sign * more.joules;
        whole.known = whole.known && more.known;
    };
    if (share > 0)
        alone = whole = sum(decode(share, *contexts, load.verified), turn(static_cast<double>(share)));
    if (load.prompt_tokens > 0) {
        const auto tokens = static_cast<double>(load.prompt_tokens);
        const double length = load.prompt_length > 0 ? load.prompt_length : tokens;
        const double past = load.prompt_keys - (length + 1) / 2;
        const Point plain = prompt(prompt_tokens, 0);
        if (share > 0) {
            ContextCounts first;
            first.add(length_at(kFirstLength));
            add(mixed(share, prompt_tokens), 1);
            add(decode(share, first, 1), -1);
        } else {
            add(plain, 1);
        }
        if (past > 0) {
            add(prompt(prompt_tokens, past), 1);
            add(plain, -1);
        }
        if (load.prompts > 1 && length < prompt_tokens) {
            add(several(prompt_tokens, length), 1);
            add(plain, -1);
        }
        add(turn(std::ceil(static_cast<double>(load.prompts) / (stages * prompt_groups))), 1);
        if (share > 0)
            add(step_turn_, -1);
    }
    whole =
        launched(whole, static_cast<double>(share * load.verified) + prompt_tokens, load.prompt_tokens > 0);
    known = whole.known;
    return cost_of(whole, alone, share * load.verified, prompt_tokens);
}

/// Every stage's devices work through all parts of the batch; between stages the activations cross a link.
/// `alone`: the step without its prompts; `rows`: tokens of the sequences that generate.
StepCost EnginePrices::cost_of(const Point& whole, const Point& alone, std::int64_t rows,
                               double prompt_tokens) const {
    const auto stages = static_cast<double>(parallelism_.pipeline);
    double hops = 0;
    if (parallelism_.pipeline > 1) {
        hops = longer_ * stage_hops(runner_.machine(), parallelism_,
                                    static_cast<double>(rows) + prompt_tokens, hidden_);
        // A prompt alone fills the stages once before they work side by side.
        if (rows == 0)
            hops += whole.seconds * (stages - 1) / stages;
    }
    StepCost cost;
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

double EnginePrices::draft_cost() const {
    const auto work = runner_.work(1, 1, middle_);
    const Estimate step = runner_.price(*work, true);
    const double layers = runner_.model().layers();
    if (step.status != Status::ok || step.subgraphs.empty() || layers < 1)
        return 0;
    // The head is the product that nothing of weights follows.
    double head_s = 0;
    for (const SubgraphEstimate& s : step.subgraphs)
        if (work->subgraphs[s.index].kind == OpKind::matmul)
            head_s = s.latency_s;
    return ((step.latency_s - head_s) / layers + head_s) / step.latency_s;
}

Estimate EnginePrices::typical_prompt(std::int64_t tokens) const {
    return runner_.price(*runner_.work(1, std::max<std::int64_t>(1, tokens), 0));
}

} // namespace archsim
