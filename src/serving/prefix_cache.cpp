#include "serving/prefix_cache.hpp"

namespace archsim::serving {

bool PrefixCache::use(std::int64_t prompt) {
    const auto found = kept_.find(prompt);
    if (found == kept_.end())
        return false;
    if (found->second.users++ == 0)
        idle_.erase(found->second.place);
    return true;
}

bool PrefixCache::keep(std::int64_t prompt, double bytes) {
    if (!kept_.try_emplace(prompt, Kept{bytes, 1, {}}).second)
        return false;
    bytes_ += bytes;
    return true;
}

void PrefixCache::done(std::int64_t prompt) {
    Kept& kept = kept_.at(prompt);
    if (--kept.users == 0)
        kept.place = idle_.insert(idle_.end(), prompt);
}

double PrefixCache::give_up() {
    if (idle_.empty())
        return 0;
    const auto found = kept_.find(idle_.front());
    const double bytes = found->second.bytes;
    idle_.pop_front();
    kept_.erase(found);
    bytes_ = kept_.empty() ? 0 : bytes_ - bytes;
    return bytes;
}

} // namespace archsim::serving
