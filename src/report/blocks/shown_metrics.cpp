#include "report/blocks/shown_metrics.hpp"

#include "result/generation_metrics.hpp"
#include "result/ranking.hpp"

namespace archsim {

MetricView shown_metrics(std::span<const Result> results, const MetricView& asked) {
    return asked.metrics == &MetricTable::standard() && compares_generation(results)
               ? MetricView{&generation_metrics(), asked.conditions}
               : asked;
}

const Metric& shown_metric(std::span<const Result> results, const Metric& asked) {
    if (!compares_generation(results))
        return asked;
    return asked == metric::energy       ? metric::token_energy
           : asked == metric::latency    ? metric::token_rate
           : asked == metric::throughput ? metric::total_token_rate
                                         : asked;
}

const Metric& usual_order(std::span<const Result> results, Scenario scenario) {
    return shown_metric(results, ranked_by(scenario));
}

} // namespace archsim
