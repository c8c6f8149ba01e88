#include "serving/serving_engine.hpp"

#include <algorithm>
#include <cmath>

namespace archsim::serving {

std::int64_t Engine::blocks(std::int64_t positions) const {
    return (positions + limits_.block_tokens - 1) / limits_.block_tokens * limits_.block_tokens;
}

std::int64_t Engine::kept_positions(const ServedRequest& r) const {
    return (r.prompt_tokens - 1) / limits_.block_tokens * limits_.block_tokens;
}

std::int64_t Engine::computed_prompt(const ServedRequest& r, bool held) const {
    auto cached =
        static_cast<std::int64_t>(std::floor(limits_.prefix_hit * static_cast<double>(r.prompt_tokens)));
    if (held)
        cached = std::max(cached, kept_positions(r));
    return std::max<std::int64_t>(1, r.prompt_tokens - cached);
}

/// Whether the prompt of a request may be kept for later ones.
bool Engine::keeps(const ServedRequest& r) const {
    return limits_.prefix_cache && r.prompt >= 0 && role_ != EngineRole::answers && kept_positions(r) > 0;
}

double Engine::bytes_for(const ServedRequest& r, bool held) const {
    // A shared prefix lies in the cache once, whoever reads it.
    const std::int64_t own = computed_prompt(r, held),
                       end = role_ == EngineRole::prompts ? own : own + r.output_tokens;
    return prices_->cache_bytes(static_cast<double>(blocks(end)));
}

bool Engine::can_ever_hold(const ServedRequest& r) const {
    return bytes_for(r, false) <= limits_.cache_bytes;
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

/// Hands the blocks of a prompt that was just computed over to the prefix cache.
void Engine::keep_prompt(Sequence& s, const ServedRequest& r) {
    const double bytes = std::min(s.bytes, prices_->cache_bytes(static_cast<double>(kept_positions(r))));
    if (!s.kept && keeps(r) && prefixes_.keep(r.prompt, bytes)) {
        s.kept = true;
        s.bytes -= bytes;
    }
}

void Engine::enqueue(std::size_t request, const ServedRequest& r, double now) {
    queue_.push_back({request, now});
    queued_tokens_ += r.prompt_tokens + r.output_tokens;
    ahead_ += static_cast<double>(r.prompt_tokens + r.output_tokens);
}

/// Whether the prompts that are seen make up a step, or have waited long enough for one.
bool Engine::admits_now(const std::vector<ServedRequest>& requests, double seen_s, std::int64_t budget) {
    if (limits_.wait_steps == 0 || load_.sequences == 0 || queue_.empty() || queue_.front().since_s > seen_s)
        return true;
    std::int64_t tokens = limits_.step_tokens - budget;
    for (const Waiting& w : queue_)
        if (w.since_s <= seen_s)
            tokens += computed_prompt(requests[w.request], prefixes_.holds(requests[w.request].prompt));
    const double enough = limits_.wait_tokens * static_cast<double>(limits_.step_tokens);
    if (static_cast<double>(tokens) < enough && waited_ < limits_.wait_steps) {
        ++waited_;
        return false;
    }
    waited_ = 0;
    return true;
}

void Engine::admit(const std::vector<ServedRequest>& requests, double seen_s, std::int64_t& budget) {
    while (!queue_.empty() && queue_.front().since_s <= seen_s && budget > 0 &&
           static_cast<std::int64_t>(running_.size()) < limits_.sequences) {
        const ServedRequest& r = requests[queue_.front().request];
        // In use before room is made, so that it is not given up for its own sake.
        const bool held = keeps(r) && prefixes_.use(r.prompt);
        const double bytes = bytes_for(r, held);
        Sequence s;
        s.request = queue_.front().request;
        s.bytes = bytes;
        s.kept = held;
        s.given = blocks(r.prompt_tokens + (role_ == EngineRole::prompts ? 0 : r.output_tokens));
        s.prompt_left = role_ == EngineRole::answers ? 0 : computed_prompt(r, held);
        s.context = r.prompt_tokens - s.prompt_left;
        s.left = role_ == EngineRole::prompts ? 1 : r.output_tokens - r.emitted;
        // First come, first served: nobody overtakes. Without chunks a prompt waits for a step with room, and
        // one larger than a step has its own.
        if (!make_room(bytes) || (!limits_.chunked && s.prompt_left > budget && load_.prompt_tokens > 0)) {
            if (held)
                prefixes_.done(r.prompt);
            break;
        }
        s.chunk = limits_.chunked ? std::min(s.prompt_left, budget) : s.prompt_left;
        load_.prompt_tokens += s.chunk;
        budget -= s.prompt_left > 0 ? s.chunk : limits_.drafted + 1;
        used_bytes_ += bytes;
        running_.push_back(s);
        queued_tokens_ -= r.prompt_tokens + r.output_tokens;
        queue_.pop_front();
    }
    peak_bytes_ = std::max(peak_bytes_, used_bytes_);
}

bool Engine::begin_step(double now, const std::vector<ServedRequest>& requests, StepCost& cost) {
    // An engine without work takes what comes at once; one at work looked when its last step began.
    const double seen_s = limits_.scheduled_ahead && !running_.empty() ? began_s_ : now;
    load_ = {};
    load_.verified = 1 + limits_.drafted;
    std::int64_t budget = limits_.step_tokens;
    for (const Sequence& s : running_)
        if (s.prompt_left == 0) {
            budget -= load_.verified;
            ++load_.sequences;
        }
    for (Sequence& s : running_) {
        s.chunk = std::clamp<std::int64_t>(budget, 0, s.prompt_left);
        budget -= s.chunk;
        load_.prompt_tokens += s.chunk;
    }
    if (admits_now(requests, seen_s, budget))
        admit(requests, seen_s, budget);
    count_load();
    stepping_ = load_.sequences > 0 || load_.prompt_tokens > 0;
    if (!stepping_)
        return false;
    began_s_ = now;
    cost = prices_->price(load_);
    if (limits_.drafted > 0 && load_.sequences > 0) {
        StepLoad plain = load_;
        plain.verified = 1;
        plain.prompt_tokens = 0;
        const StepCost one = prices_->price(plain);
        const double drafts = limits_.draft_cost * static_cast<double>(limits_.drafted);
        cost.seconds += drafts * one.seconds;
        cost.joules += drafts * one.joules;
    }
    measure_waste();
    return true;
}

/// What the step holds, once it is known who is in it.
void Engine::count_load() {
    double contexts = 0, keys = 0;
    load_.sequences = load_.prompts = load_.prompt_tokens = 0;
    for (const Sequence& s : running_)
        if (s.prompt_left == 0) {
            ++load_.sequences;
            contexts += static_cast<double>(s.context);
        } else if (s.chunk > 0) {
            const auto chunk = static_cast<double>(s.chunk);
            ++load_.prompts;
            load_.prompt_tokens += s.chunk;
            keys += chunk * (static_cast<double>(s.context) + (chunk + 1) / 2);
        }
    load_.context = load_.sequences > 0 ? contexts / static_cast<double>(load_.sequences) : 0;
    load_.prompt_keys = load_.prompt_tokens > 0 ? keys / static_cast<double>(load_.prompt_tokens) : 0;
}

void Engine::measure_waste() {
    double given = 0, held = 0;
    for (const Sequence& s : running_) {
        given += static_cast<double>(s.given);
        held += static_cast<double>(s.context + s.chunk);
    }
    waste_ = given > 0 ? 1 - held / given : 0;
}

/// Drafted tokens are taken up to the first wrong one, and the model's own token follows (Leviathan et al.,
/// ICML 2023: the mean is (1 - a^(k + 1)) / (1 - a)).
std::int64_t Engine::accepted_tokens() {
    std::int64_t tokens = 1;
    while (tokens <= limits_.drafted && random_.uniform() < limits_.accepted)
        ++tokens;
    return tokens;
}

std::int64_t Engine::end_step(double now, std::vector<ServedRequest>& requests,
                              std::vector<std::size_t>& finished) {
    stepping_ = false;
    std::int64_t emitted = 0;
    for (Sequence& s : running_) {
        ServedRequest& r = requests[s.request];
        std::int64_t tokens = 0;
        if (s.prompt_left > 0) {
            s.prompt_left -= s.chunk;
            s.context += s.chunk;
            tokens = s.prompt_left == 0 && s.chunk > 0 ? 1 : 0;
            if (s.prompt_left == 0)
                keep_prompt(s, r);
        } else {
            tokens = accepted_tokens();
        }
        tokens = std::min(tokens, s.left);
        if (tokens == 0)
            continue;
        if (r.emitted == 0)
            r.first_token_s = now;
        r.emitted += tokens;
        emitted += tokens;
        s.left -= tokens;
        s.context += tokens;
        if (s.left == 0) {
            used_bytes_ -= s.bytes;
            if (s.kept)
                prefixes_.done(r.prompt);
            finished.push_back(s.request);
        }
    }
    std::erase_if(running_, [](const Sequence& s) { return s.left == 0; });
    if (running_.empty())
        used_bytes_ = prefixes_.bytes(); // sums of doubles leave a rest
    std::int64_t ahead = queued_tokens_;
    for (const Sequence& s : running_)
        ahead += s.prompt_left + s.left;
    ahead_ = static_cast<double>(ahead);
    return emitted;
}

} // namespace archsim::serving
