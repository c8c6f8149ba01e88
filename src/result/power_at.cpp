#include "result/power_at.hpp"

#include "estimate/wall_power.hpp"

namespace archsim {

double joules_at(const Result& result, double joules, double seconds, PowerBoundary boundary) {
    if (boundary == PowerBoundary::chip || result.machine == nullptr || !(joules > 0) || !(seconds > 0))
        return joules;
    const double devices = result.devices();
    return seconds * wall_power(*result.machine, joules / (seconds * devices), devices).at(boundary);
}

double times_inside(const Result& result, PowerBoundary boundary) {
    const double device_w = result.estimate.power_w;
    return device_w > 0 ? joules_at(result, device_w, 1, boundary) / device_w : 1;
}

GenerationEstimate generation_at(const Result& result, PowerBoundary boundary) {
    GenerationEstimate g = *result.generation;
    if (boundary == PowerBoundary::chip)
        return g;
    const auto of = [&](double joules, double seconds) {
        return joules_at(result, joules, seconds, boundary);
    };
    g.energy_first_token_j = of(g.energy_first_token_j, g.time_to_first_token_s);
    if (const double chip = g.energy_per_token_j; chip > 0) {
        g.energy_per_token_j = of(g.batch * chip, g.time_per_output_token_s) / g.batch;
        const double times = g.energy_per_token_j / chip;
        g.energy_per_token_interval = {g.energy_per_token_interval.low * times,
                                       g.energy_per_token_interval.high * times};
    }
    for (GenerationStep& step : g.steps)
        step.energy_j = of(step.energy_j, step.latency_s);
    if (SaturatedServing& s = g.serving; s.tokens_per_s > 0)
        s.energy_per_token_j = of(s.energy_per_token_j * s.tokens_per_s, 1) / s.tokens_per_s;
    return g;
}

} // namespace archsim
