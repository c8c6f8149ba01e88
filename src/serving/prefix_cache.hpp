#pragma once
// Prompts that an engine still has in its cache: their blocks stay when their request ends, until somebody
// needs the room, the least recently used first (vLLM's automatic prefix caching).

#include <cstdint>
#include <list>
#include <unordered_map>

namespace archsim::serving {

class PrefixCache {
  public:
    /// Whether the prompt is held; then it is in use once more, until done() is called.
    bool use(std::int64_t prompt) {
        const auto found = kept_.find(prompt);
        if (found == kept_.end())
            return false;
        if (found->second.users++ == 0)
            idle_.erase(found->second.place);
        return true;
    }
    bool holds(std::int64_t prompt) const { return kept_.contains(prompt); }
    /// A prompt that was computed, in use by its request. False where another request was quicker.
    bool keep(std::int64_t prompt, double bytes) {
        const bool first = kept_.try_emplace(prompt, Kept{bytes, 1, {}}).second;
        bytes_ += first ? bytes : 0;
        return first;
    }
    void done(std::int64_t prompt) {
        Kept& kept = kept_.at(prompt);
        if (--kept.users == 0)
            kept.place = idle_.insert(idle_.end(), prompt);
    }
    /// Gives up a prompt that nobody uses; returns its bytes, 0 where all are in use.
    double give_up() {
        if (idle_.empty())
            return 0;
        const auto found = kept_.find(idle_.front());
        const double bytes = found->second.bytes;
        idle_.pop_front();
        kept_.erase(found);
        bytes_ = kept_.empty() ? 0 : bytes_ - bytes;
        return bytes;
    }
    double bytes() const { return bytes_; }

  private:
    struct Kept {
        double bytes = 0;
        std::int64_t users = 0;
        std::list<std::int64_t>::iterator place; ///< in idle_, where nobody uses it
    };
    std::unordered_map<std::int64_t, Kept> kept_;
    std::list<std::int64_t> idle_; ///< least recently used first
    double bytes_ = 0;
};

} // namespace archsim::serving
