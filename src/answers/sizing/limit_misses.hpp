#pragma once
// When a run can be given up, because it misses a limit whatever follows.

#include "answers/sizing/size_service.hpp"
#include "archsim/serving/simulation.hpp"

#include <algorithm>

namespace archsim {

/// Counts the requests of a run that wait longer than a limit: when more have than its P99 may leave out, the
/// run misses it, whatever follows.
class LimitMisses {
  public:
    LimitMisses(const ServiceLevel& level, const ServingPlan& plan, std::int64_t requests, double first)
        : level_(level), first_(first), warm_up_(plan.warm_up_of(requests)),
          // Refused ones and answers of one token do not count; fewer values leave out no more.
          left_out_(beyond_p99(requests - warm_up_)) {}

    /// Of a request that ended. The arithmetic is that of nearest_limit().
    bool can_hold(std::size_t index, const ServedRequest& r) {
        if (static_cast<std::int64_t>(index) < warm_up_)
            return true;
        const auto count = [](std::int64_t& misses, double value, double at_most) {
            if (at_most > 0 && value / at_most > 1)
                ++misses;
        };
        count(to_first_, r.time_to_first() * first_, level_.time_to_first_s);
        count(per_token_, r.time_per_token(), r.output_tokens > 1 ? level_.time_per_token_s : 0);
        count(end_to_end_, r.end_to_end(), level_.end_to_end_s);
        return std::max({to_first_, per_token_, end_to_end_}) <= left_out_;
    }

  private:
    const ServiceLevel& level_;
    double first_;
    std::int64_t warm_up_, left_out_;
    std::int64_t to_first_ = 0, per_token_ = 0, end_to_end_ = 0;
};

} // namespace archsim
