#include "report/blocks/shown_metrics.hpp"

#include "archsim/compare/generation_metrics.hpp"
#include "archsim/compare/ranking.hpp"

namespace archsim {

MetricView shown_metrics(std::span<const Result> results, const MetricView& asked) {
    return asked.metrics == &MetricTable::standard() && compares_generation(results)
               ? MetricView{&generation_metrics(), asked.conditions}
               : asked;
}

const Metric& usual_order(std::span<const Result> results, Scenario scenario) {
    if (!compares_generation(results))
        return ranked_by(scenario);
    return scenario == Scenario::throughput ? metric::total_token_rate : metric::token_rate;
}

} // namespace archsim
