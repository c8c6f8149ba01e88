#include "fit/rows/mean_waits.hpp"

namespace archsim {

MeanWaits mean_waits(const ServingOutcome& outcome, const ServedProtocol& protocol, std::int64_t in_flight) {
    constexpr double kMilliseconds = 1e3;
    const auto warm_up = static_cast<std::size_t>(protocol.warm_up * in_flight);
    MeanWaits sum;
    double count = 0;
    for (std::size_t i = warm_up; i < outcome.requests.size(); ++i) {
        const ServedRequest& r = outcome.requests[i];
        if (r.refused || r.end_s < 0)
            continue;
        const double compiles = r.arrival_s <= 0 ? protocol.compile_s : 0;
        sum.first_ms += kMilliseconds * (r.time_to_first() + compiles);
        sum.token_ms += kMilliseconds * r.time_per_token();
        ++count;
    }
    return count > 0 ? MeanWaits{sum.first_ms / count, sum.token_ms / count} : MeanWaits{};
}

} // namespace archsim
