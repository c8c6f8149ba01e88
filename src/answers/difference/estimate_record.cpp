#include "answers/difference/estimate_record.hpp"

#include "answers/difference/attribution.hpp"
#include "answers/difference/factor_terms.hpp"
#include "answers/difference/time_model.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace archsim {

namespace {

void add_cost(const Result& result, const CostOptions& options, EstimateRecord& out) {
    if (!value_of(result, metric::cost, options))
        return;
    const Cost cost = cost_of(result, options);
    out.electricity = cost.way() == Tenure::buy ? *cost.electricity : 0;
    out.price_per_s = (*cost.best() - out.electricity) * cost.inferences_per_s;
    out.seconds_per_inference = 1 / cost.inferences_per_s;
}

} // namespace

EstimateRecord record_of(const Result& result, const CostOptions& cost, RecordDetail detail) {
    EstimateRecord record;
    record.model = result.model->name;
    record.hardware = result.hardware;
    if (const double devices = std::max(result.devices(), result.conditions.devices); devices > 1)
        record.hardware += fmt::format(" x{:.0f}", devices);
    record.stack = result.runtime ? result.runtime->id : std::string();
    record.precision = result.conditions.precision;
    record.dims = result.model->dims;
    record.batch = result.estimate.batch;
    for (const Metric* metric : MetricTable::standard().rows())
        if (const auto measure = measure_of(result, *metric, cost))
            record.values[metric->key] = *measure;
    const MemoryEstimate& memory = result.estimate.memory;
    record.weight_bytes = memory.weight_bytes;
    record.activation_bytes = memory.activation_bytes;
    record.kv_cache_bytes = memory.kv_cache_bytes;
    record.workspace_bytes = memory.workspace_bytes;
    add_cost(result, cost, record);
    for (const ResultLeaf& leaf : leaves_of(result)) {
        record.graphs.push_back(record_of_graph(*leaf.result, detail));
        record.graphs.back().repeat = leaf.repeat;
    }
    for (std::size_t part = 0; part < result.parts.size(); ++part)
        record.graphs[part].name = result.parts[part].name;
    if (detail == RecordDetail::all) {
        FactorInputs inputs(result, cost);
        for (std::size_t f = 0; f < kFactorCount; ++f)
            record.inputs.push_back(inputs.of(static_cast<Factor>(f)).value);
    }
    return record;
}

} // namespace archsim
