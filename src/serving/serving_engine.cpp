#include "serving/serving_engine.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace archsim::serving {

static std::int64_t name_of_block(const ServedRequest& r, std::size_t block) {
    return r.blocks.empty() ? r.prompt : r.blocks[block];
}

static std::int64_t first_block(const ServedRequest& r) {
    return r.first_block_tokens > 0 ? r.first_block_tokens : r.block_tokens;
}

std::int64_t Engine::blocks(std::int64_t positions) const {
    return (positions + limits_.block_tokens - 1) / limits_.block_tokens * limits_.block_tokens;
}

std::int64_t Engine::kept_positions(const ServedRequest& r) const {
    return (r.prompt_tokens - 1) / limits_.block_tokens * limits_.block_tokens;
}

std::size_t Engine::kept_blocks(const ServedRequest& r) const {
    const std::int64_t positions = kept_positions(r);
    if (!limits_.prefix_cache || role_ == EngineRole::answers || positions <= 0)
        return 0;
    if (r.blocks.empty())
        return r.prompt >= 0 ? 1 : 0;
    const std::int64_t behind = positions - first_block(r);
    const std::int64_t needed = behind <= 0 ? 1 : 1 + (behind + r.block_tokens - 1) / r.block_tokens;
    return std::min(r.blocks.size(), static_cast<std::size_t>(needed));
}

std::int64_t Engine::end_of(const ServedRequest& r, std::size_t held) const {
    if (held == 0)
        return 0;
    const std::int64_t whole = kept_positions(r);
    if (r.blocks.empty())
        return whole;
    // Where a block of the prompt ends within one of the cache's, the cache keeps what fills its own.
    const std::int64_t end = first_block(r) + (static_cast<std::int64_t>(held) - 1) * r.block_tokens;
    return std::min(whole, end / limits_.block_tokens * limits_.block_tokens);
}

std::size_t Engine::held_blocks(const ServedRequest& r) const {
    const std::size_t all = kept_blocks(r);
    std::size_t held = 0;
    while (held < all && prefixes_.holds(name_of_block(r, held)))
        ++held;
    return held;
}

/// The last block first, so that what others share is given up last (vLLM frees them in that order).
void Engine::release(const ServedRequest& r, std::size_t held) {
    while (held > 0)
        prefixes_.done(name_of_block(r, --held));
}

std::int64_t Engine::computed_prompt(const ServedRequest& r, std::size_t held) const {
    const auto cached =
        static_cast<std::int64_t>(std::floor(limits_.prefix_hit * static_cast<double>(r.prompt_tokens)));
    return std::max<std::int64_t>(1, r.prompt_tokens - std::max(cached, end_of(r, held)));
}

double Engine::bytes_for(const ServedRequest& r, std::size_t held) const {
    // A shared prefix lies in the cache once, whoever reads it.
    const std::int64_t own = computed_prompt(r, held),
                       end = role_ == EngineRole::prompts ? own : own + r.output_tokens;
    return prices_->cache_bytes(static_cast<double>(blocks(end)));
}

double Engine::own_bytes(const Sequence& s, std::int64_t positions) const {
    return prices_->cache_bytes(static_cast<double>(blocks(positions - s.found))) - s.handed;
}

double Engine::bytes_at_start(const ServedRequest& r, const Sequence& s) const {
    return grows_ ? own_bytes(s, s.context + s.prompt_left + 1) : bytes_for(r, s.kept);
}

double Engine::expected_rest(const Sequence& s) const {
    if (limits_.admission != Admission::expected)
        return 0;
    const auto most = [&](std::int64_t rest, std::size_t number) {
        return static_cast<double>(
            std::min(rest, static_cast<std::int64_t>(number) * limits_.expected.longest));
    };
    return (expected_share_ * most(rest_, running()) + most(s.left, 1)) * block_bytes_ /
           static_cast<double>(limits_.block_tokens);
}

std::int64_t Engine::steps_in_room() const {
    // Now and then all are looked at anyway, so that the peak is one that was there.
    constexpr std::int64_t kMost = 64;
    const auto number = static_cast<double>(generating_.size());
    if (number == 0 || block_bytes_ <= 0)
        return kMost;
    const double more = std::floor((limits_.cache_bytes - used_bytes_) / (number * block_bytes_)) - 1;
    const double steps =
        more * static_cast<double>(limits_.block_tokens) / static_cast<double>(1 + limits_.drafted);
    return static_cast<std::int64_t>(std::clamp(steps, 0.0, static_cast<double>(kMost))) - ungrown_;
}

void Engine::grow(std::vector<ServedRequest>& requests) {
    ungrown_ = 0;
    generating_.each([&](Sequence& s, std::int64_t context, std::int64_t left) {
        const std::int64_t next = context + std::min(1 + limits_.drafted, left);
        const double bytes = std::max(s.bytes, own_bytes(s, next));
        used_bytes_ += bytes - s.bytes;
        s.bytes = bytes;
    });
    const bool expects = limits_.admission == Admission::expected;
    const auto before = preempted_;
    const auto ahead = [&] {
        return expects && preempted_ > before ? static_cast<double>(limits_.expected.steps_ahead) *
                                                    static_cast<double>(generating_.size()) * block_bytes_ /
                                                    static_cast<double>(limits_.block_tokens)
                                              : 0;
    };
    while (!make_room(ahead()) && running() > 1)
        preempt(requests);
    peak_bytes_ = std::max(peak_bytes_, used_bytes_);
    if (!expects || preempted_ == before)
        return;
    double emitted = 0;
    generating_.each([&](const Sequence& s, std::int64_t context, std::int64_t) {
        emitted +=
            static_cast<double>(context - requests[s.request].prompt_tokens + limits_.expected.steps_ahead);
    });
    expected_share_ = std::min(1.0, emitted / (emitted + static_cast<double>(rest_) + 1));
}

/// The last one begun gives way, in SGLang the one with the shortest answer. What it has is computed again
/// when it is back: at the head of the queue, in SGLang at its end.
void Engine::preempt(std::vector<ServedRequest>& requests) {
    const bool expects = limits_.admission == Admission::expected;
    Sequence s;
    if (!generating_.empty() && (expects || reading_.empty())) {
        s = generating_.take(expects);
    } else {
        s = reading_.back();
        reading_.pop_back();
    }
    ServedRequest& r = requests[s.request];
    r.emitted += s.emitted;
    used_bytes_ -= s.bytes;
    given_ -= s.given;
    rest_ -= s.left;
    to_do_ -= s.prompt_left + s.left;
    release(r, s.kept);
    recomputed_ += s.context;
    ++preempted_;
    const Waiting waits{s.request, began_s_, s.group, true};
    if (expects)
        queue_.push_back(waits);
    else
        queue_.push_front(waits);
    queued_tokens_ += r.prompt_tokens + r.output_tokens;
}

bool Engine::can_ever_hold(const ServedRequest& r) const {
    return bytes_for(r, 0) <= limits_.cache_bytes;
}

/// Gives up prompts that nobody uses until so many bytes fit.
bool Engine::make_room(double bytes) {
    while (used_bytes_ + bytes > limits_.cache_bytes) {
        const double freed = prefixes_.give_up();
        if (freed <= 0)
            return false;
        used_bytes_ -= freed;
    }
    return true;
}

/// Hands the blocks of a prompt that the step computes over to the prefix cache, so that later requests of
/// the same step find them (vLLM's KVCacheManager.allocate_slots); one that another request was quicker with
/// is shared with it from here on.
void Engine::keep_prompt(Sequence& s, const ServedRequest& r) {
    const std::int64_t till = s.context + s.chunk;
    for (const std::size_t all = kept_blocks(r); s.kept < all && end_of(r, s.kept + 1) <= till; ++s.kept) {
        const auto bytes_till = [&](std::size_t held) {
            return held == 0 ? 0 : prices_->cache_bytes(static_cast<double>(end_of(r, held)));
        };
        const double bytes = std::min(s.bytes, bytes_till(s.kept + 1) - bytes_till(s.kept));
        if (!prefixes_.keep(name_of_block(r, s.kept), bytes)) {
            prefixes_.use(name_of_block(r, s.kept));
            used_bytes_ -= bytes;
        }
        s.bytes -= bytes;
        s.handed += bytes;
    }
}

/// Joins the group with the fewest, which is the one that somebody has just left.
std::size_t Engine::join() {
    const auto fewest = std::ranges::min_element(members_);
    ++*fewest;
    return static_cast<std::size_t>(fewest - members_.begin());
}

void Engine::enqueue(std::size_t request, const ServedRequest& r, double now) {
    queue_.push_back({request, now, join(), false});
    queued_tokens_ += r.prompt_tokens + r.output_tokens;
    ahead_ += static_cast<double>(r.prompt_tokens + r.output_tokens);
}

/// The last look at what has arrived. An engine without work takes what comes at once; one at work looked
/// when its last step began, or does so now.
double Engine::seen_till(double now) {
    const double looks_s = limits_.scheduled_ahead && running() > 0 ? began_s_ : now;
    const bool looks = running() == 0 || load_.prompt_tokens > 0 || ++unseen_ >= limits_.poll_steps;
    if (looks) {
        looked_s_ = looks_s;
        unseen_ = 0;
    }
    return looked_s_;
}

bool Engine::all_groups_wait(double seen_s) const {
    std::vector<bool> waits(members_.size(), false);
    for (const Waiting& w : queue_)
        if (w.since_s <= seen_s)
            waits[w.group] = true;
    return std::ranges::all_of(waits, [](bool w) { return w; });
}

/// Whether the prompts that are seen make up a step, or have waited long enough for one.
bool Engine::admits_now(const std::vector<ServedRequest>& requests, double seen_s, std::int64_t budget) {
    if (limits_.wait_steps == 0 || load_.sequences == 0 || queue_.empty() || queue_.front().since_s > seen_s)
        return true;
    std::int64_t tokens = limits_.step_tokens - budget, prompts = 0;
    for (const Waiting& w : queue_)
        if (w.since_s <= seen_s) {
            tokens += computed_prompt(requests[w.request], held_blocks(requests[w.request]));
            ++prompts;
        }
    const bool full =
        static_cast<double>(tokens) >= limits_.wait_tokens * static_cast<double>(limits_.step_tokens);
    const bool shared = load_.sequences < limits_.wait_prompts ||
                        (limits_.groups > 1 ? all_groups_wait(seen_s) : prompts >= limits_.wait_prompts);
    if (!(full && shared) && waited_ < limits_.wait_steps) {
        ++waited_;
        return false;
    }
    waited_ = 0;
    return true;
}

void Engine::admit(std::vector<ServedRequest>& requests, double seen_s, std::int64_t& budget) {
    while (!queue_.empty() && queue_.front().since_s <= seen_s && budget > 0 &&
           static_cast<std::int64_t>(running()) < limits_.sequences) {
        ServedRequest& r = requests[queue_.front().request];
        // In use before room is made, so that it is not given up for its own sake.
        const std::size_t held = held_blocks(r);
        for (std::size_t block = 0; block < held; ++block)
            prefixes_.use(name_of_block(r, block));
        const bool again = queue_.front().again;
        const std::int64_t known = r.prompt_tokens + (again ? r.emitted : 0);
        Sequence s{.request = queue_.front().request,
                   .group = queue_.front().group,
                   .kept = held,
                   .given = blocks(r.prompt_tokens + (role_ == EngineRole::prompts ? 0 : r.output_tokens))};
        s.prompt_left =
            role_ == EngineRole::answers && !again ? 0 : computed_prompt(r, held) + known - r.prompt_tokens;
        s.context = known - s.prompt_left;
        s.found = role_ == EngineRole::answers ? 0 : s.context;
        s.left = role_ == EngineRole::prompts ? 1 : r.output_tokens - r.emitted;
        const double bytes = s.bytes = bytes_at_start(r, s);
        // Counted anew where it may not fit: what others have grown by since.
        const double rest = running() > 0 ? expected_rest(s) : 0;
        if (ungrown_ > 0 && used_bytes_ + bytes + rest +
                                    block_bytes_ * static_cast<double>(generating_.size()) *
                                        (1 + static_cast<double>(ungrown_)) >
                                limits_.cache_bytes)
            grow(requests);
        // First come, first served: nobody overtakes. Without chunks a prompt waits for a step with room, and
        // one larger than a step has its own.
        if (!make_room(bytes + rest) ||
            (!limits_.chunked && s.prompt_left > budget && load_.prompt_tokens > 0)) {
            release(r, held);
            break;
        }
        s.chunk = limits_.chunked ? std::min(s.prompt_left, budget) : s.prompt_left;
        load_.prompt_tokens += s.chunk;
        budget -= s.prompt_left > 0 ? s.chunk : limits_.drafted + 1;
        used_bytes_ += bytes;
        keep_prompt(s, r);
        given_ += s.given;
        added_ += s.prompt_left + s.left;
        rest_ += s.left;
        if (s.prompt_left > 0)
            reading_.push_back(s);
        else
            generating_.add(s);
        if (role_ != EngineRole::answers && !again)
            r.cached_tokens = s.context;
        queued_tokens_ -= r.prompt_tokens + r.output_tokens;
        queue_.pop_front();
    }
    peak_bytes_ = std::max(peak_bytes_, used_bytes_);
}

void Engine::price_ahead() {
    if (ahead_at_ < ahead_costs_.size())
        return;
    const auto steps = std::min(coasts_, static_cast<std::int64_t>(ahead_costs_.size()));
    ahead_at_ -= static_cast<std::size_t>(steps);
    load_.go_on(1);
    prices_->price_on(load_, std::span(ahead_costs_).subspan(ahead_at_));
    load_.go_on(steps - 1);
}

double Engine::run_till(double step_ends, bool several) {
    run_at_ = run_steps_ = 0;
    run_ends_[run_steps_++] = step_ends;
    if (several && coasts_ > 0 && (queue_.empty() || blocked_)) {
        price_ahead();
        for (std::size_t i = ahead_at_; i < ahead_costs_.size(); ++i, ++run_steps_)
            run_ends_[run_steps_] = step_ends += ahead_costs_[i].seconds;
    }
    return step_ends;
}

std::optional<double> Engine::cut_run() {
    if (run_at_ + 1 >= run_steps_ || (blocked_ && !queue_.empty()))
        return std::nullopt;
    run_steps_ = run_at_ + 1;
    return run_ends_[run_at_];
}

Engine::WorkAhead Engine::work_ahead(double now) const {
    if (next_to_catch_up() > now)
        return {ahead_, next_to_catch_up()};
    const auto first = run_ends_.begin() + static_cast<std::ptrdiff_t>(run_at_),
               last = run_ends_.begin() + static_cast<std::ptrdiff_t>(run_steps_) - 1,
               next = std::upper_bound(first, last, now);
    return {static_cast<double>(queued_tokens_ + to_do_ + added_ - generated_ * (next - first)),
            next == last ? std::numeric_limits<double>::infinity() : *next};
}

/// So many steps of the run are behind: those that coast() has taken.
std::int64_t Engine::go_on(std::int64_t steps) {
    const std::int64_t emitted = steps * generated_;
    generating_.go_on(steps);
    to_do_ += std::exchange(added_, 0) - emitted;
    rest_ -= emitted;
    ahead_ = static_cast<double>(queued_tokens_ + to_do_);
    return emitted;
}

void Engine::age() {
    ++ungrown_;
    const ExpectedAnswers& share = limits_.expected;
    expected_share_ = std::max(share.least, expected_share_ - (share.first - share.least) / share.steps);
}

/// One more step of the sequences of the last one, each a position further.
StepCost Engine::coast() {
    price_ahead();
    used_ += load_.sequences;
    count_waste();
    --coasts_;
    return ahead_costs_[ahead_at_++];
}

std::span<const StepRequest> Engine::last_step() {
    held_.clear();
    if (!prompts_alone_)
        for (const std::int64_t context : generating_.contexts_in_turn())
            held_.push_back({load_.verified, context});
    for (const Sequence& s : reading_)
        if (s.chunk > 0)
            held_.push_back({s.chunk, s.context});
    return held_;
}

bool Engine::resume(std::size_t request, const ServedRequest& r, std::int64_t emitted) {
    Sequence s{.request = request,
               .context = r.prompt_tokens + emitted,
               .left = r.output_tokens - emitted,
               .kept = held_blocks(r),
               .given = blocks(r.prompt_tokens + r.output_tokens)};
    for (std::size_t block = 0; block < s.kept; ++block)
        prefixes_.use(name_of_block(r, block));
    s.found = r.prompt_tokens - computed_prompt(r, s.kept);
    const double bytes = s.bytes = bytes_at_start(r, s);
    if (static_cast<std::int64_t>(running()) >= limits_.sequences || !make_room(bytes)) {
        release(r, s.kept);
        return false;
    }
    s.group = join();
    s.emitted = emitted;
    used_bytes_ += bytes;
    keep_prompt(s, r);
    peak_bytes_ = std::max(peak_bytes_, used_bytes_);
    given_ += s.given;
    to_do_ += s.left;
    rest_ += s.left;
    ahead_ = static_cast<double>(queued_tokens_ + to_do_);
    generating_.add(s);
    return true;
}

bool Engine::begin_step(double now, std::vector<ServedRequest>& requests, StepCost& cost) {
    const double seen_s = seen_till(now);
    if (coasts_ > 0 && (queue_.empty() || blocked_)) {
        cost = coast();
        stepping_ = true;
        began_s_ = now;
        return true;
    }
    load_ = StepLoad{};
    ahead_at_ = ahead_costs_.size();
    load_.verified = 1 + limits_.drafted;
    const std::int64_t gave_way = preempted_;
    if (grows_ && steps_in_room() < 1)
        grow(requests);
    load_.sequences = static_cast<std::int64_t>(generating_.size());
    std::int64_t budget =
        limits_.step_tokens - (limits_.prompts_apart ? 0 : load_.sequences * load_.verified);
    for (Sequence& s : reading_) {
        s.chunk = std::clamp<std::int64_t>(budget, 0, s.prompt_left);
        budget -= s.chunk;
        load_.prompt_tokens += s.chunk;
        keep_prompt(s, requests[s.request]);
    }
    // Nobody is begun in a step in which somebody gives way (vLLM's scheduler; SGLang's has no room).
    const bool looked = preempted_ == gave_way && admits_now(requests, seen_s, budget);
    if (looked)
        admit(requests, seen_s, budget);
    // As long as nobody leaves there will be no more room for it.
    blocked_ = looked && limits_.wait_steps == 0 && limits_.admission != Admission::expected &&
               !queue_.empty() && queue_.front().since_s <= seen_s;
    prompts_alone_ = limits_.prompts_apart && load_.prompt_tokens > 0;
    count_load();
    coasts_ = limits_.drafted > 0 || !reading_.empty() ? 0 : generating_.steps_alike();
    if (grows_)
        coasts_ = std::clamp<std::int64_t>(steps_in_room() - 1, 0, coasts_);
    stepping_ = load_.sequences + load_.prompts > 0;
    if (!stepping_)
        return false;
    began_s_ = now;
    cost = price();
    return true;
}

StepCost Engine::price() {
    StepCost cost = prices_->price(load_);
    if (load_.prompt_tokens > 0)
        if (const StepCost more = prices_->new_length();
            more.seconds > 0 && lengths_.insert(load_.prompt_tokens).second) {
            cost.seconds += more.seconds;
            cost.joules += more.joules;
            cost.prompt_seconds += more.seconds;
            cost.prompt_joules += more.joules;
        }
    if (limits_.drafted > 0 && load_.sequences > 0) {
        StepLoad plain = load_;
        plain.verified = 1;
        plain.prompts = plain.prompt_tokens = 0;
        const StepCost one = prices_->price(plain);
        const double drafts = std::max(0.0, limits_.draft_cost) * static_cast<double>(limits_.drafted);
        cost.seconds += drafts * one.seconds;
        cost.joules += drafts * one.joules;
    }
    return cost;
}

/// The last of the blocks that are given out as sequences grow is half empty in the mean.
void Engine::count_waste() {
    const double used = static_cast<double>(used_),
                 half = 0.5 * static_cast<double>(limits_.block_tokens - 1) * static_cast<double>(running()),
                 given = grows_ ? used + half : static_cast<double>(given_);
    waste_ = given > 0 ? 1 - used / given : 0;
}

/// The load of the step, once it is known who is in it: StepLoad::of() of all, without looking at each.
void Engine::count_load() {
    held_.clear();
    for (const Sequence& s : reading_)
        if (s.chunk > 0)
            held_.push_back({s.chunk, s.context});
    load_ = StepLoad::of(held_, 1 + limits_.drafted);
    used_ = generating_.positions();
    for (const Sequence& s : reading_)
        used_ += s.context + s.chunk;
    count_waste();
    generated_ = prompts_alone_ ? 0 : static_cast<std::int64_t>(generating_.size());
    if (generated_ == 0)
        return;
    load_.sequences += generated_;
    // Chunks that look like one more token were counted above.
    std::int64_t positions = 0;
    for (std::size_t span = 0; span < ContextCounts::kSpans; ++span) {
        load_.contexts.sequences[span] += generating_.contexts().sequences[span];
        positions += load_.contexts.positions[span] += generating_.contexts().positions[span];
    }
    load_.context = static_cast<double>(positions) / static_cast<double>(load_.sequences);
}

/// Drafted tokens are taken up to the first wrong one, and the model's own token follows (Leviathan et al.,
/// ICML 2023: the mean is (1 - a^(k + 1)) / (1 - a)).
std::int64_t Engine::accepted_tokens() {
    std::int64_t tokens = 1;
    while (tokens <= limits_.drafted && random_.uniform() < limits_.accepted)
        ++tokens;
    return tokens;
}

void Engine::finish(const Sequence& s, std::vector<ServedRequest>& requests,
                    std::vector<std::size_t>& finished) {
    ServedRequest& r = requests[s.request];
    r.emitted += s.emitted;
    used_bytes_ -= s.bytes;
    given_ -= s.given;
    --members_[s.group];
    release(r, s.kept);
    finished.push_back(s.request);
}

/// Prompts go on by their chunks; one that is done gives its first token. Returns the tokens emitted.
std::int64_t Engine::read(std::vector<ServedRequest>& requests, std::vector<std::size_t>& begun,
                          std::vector<std::size_t>& finished) {
    std::int64_t emitted = 0;
    for (Sequence& s : reading_) {
        s.prompt_left -= s.chunk;
        s.context += s.chunk;
        to_do_ -= s.chunk;
        if (s.prompt_left > 0)
            continue;
        if (s.emitted == 0 && requests[s.request].emitted == 0)
            begun.push_back(s.request);
        ++s.emitted;
        ++emitted;
        --s.left;
        ++s.context;
        if (s.left > 0)
            generating_.add(s);
        else
            finish(s, requests, finished);
    }
    std::erase_if(reading_, [](const Sequence& s) { return s.prompt_left == 0; });
    return emitted;
}

std::int64_t Engine::end_step(std::vector<ServedRequest>& requests, std::vector<std::size_t>& begun,
                              std::vector<std::size_t>& finished) {
    stepping_ = false;
    to_do_ += std::exchange(added_, 0);
    std::int64_t emitted = 0;
    ended_.clear();
    if (!prompts_alone_ && limits_.drafted > 0) {
        emitted = generating_.advance_by([this] { return accepted_tokens(); }, ended_);
    } else if (!prompts_alone_) {
        emitted = static_cast<std::int64_t>(generating_.size());
        generating_.advance(ended_);
    }
    for (const Sequence& s : ended_)
        finish(s, requests, finished);
    emitted += read(requests, begun, finished);
    to_do_ -= emitted;
    rest_ -= emitted;
    age();
    if (running() == 0) {
        used_bytes_ = prefixes_.bytes(); // sums of doubles leave a rest
        expected_share_ = limits_.expected.first;
    }
    ahead_ = static_cast<double>(queued_tokens_ + to_do_);
    return emitted;
}

} // namespace archsim::serving
