#include "answers/compare/model_ranking.hpp"

#include "report/blocks/result_text.hpp"
#include "report/blocks/subgraph_table.hpp"

#include <fmt/format.h>

namespace archsim {

namespace {

Cell number(double value) {
    return {fmt::format("{}", value), value};
}

} // namespace

Table all_subgraphs_table(std::span<const Result> results) {
    Table table;
    for (const char* key :
         {"model",     "hardware",   "power_mode",   "runtime",  "batch_size", "executed_precision",
          "index",     "subgraph",   "kind",         "repeat",   "latency_s",  "compute_s",
          "on_chip_s", "memory_s",   "overhead_s",   "bound",    "binding",    "utilization",
          "macs",      "operations", "memory_bytes", "energy_j", "units_used", "units_total",
          "waves",     "allocation"})
        table.columns.push_back({key, "", key});
    for (const Result& result : results) {
        if (!result.ok() || !result.work)
            continue;
        for (const SubgraphEstimate& s : result.estimate.subgraphs) {
            const Subgraph& subgraph = result.partition->subgraphs[s.index];
            const SubgraphWork& work = result.work->subgraphs[s.index];
            const Allocation& a = s.mapping.allocation;
            const auto lane = [&](Lane l) { return number(s.lane_s[static_cast<std::size_t>(l)]); };
            table.rows.push_back({{result.model->name},
                                  {result.device->id},
                                  {result.power_mode},
                                  {result.runtime->id},
                                  number(result.estimate.batch),
                                  {precision_name(result.estimate.executed)},
                                  number(s.index),
                                  {subgraph.name},
                                  {std::string(name_of(subgraph.kind))},
                                  number(subgraph.repeat),
                                  number(s.latency_s),
                                  lane(Lane::compute),
                                  lane(Lane::on_chip),
                                  lane(Lane::memory),
                                  lane(Lane::overhead),
                                  {std::string(name_of(s.bound))},
                                  {std::string(name_of(s.binding))},
                                  number(s.utilization),
                                  number(work.macs * work.repeat),
                                  number(work.operations() * work.repeat),
                                  number(s.dram_bytes),
                                  number(s.energy.total()),
                                  number(a.units_used),
                                  number(a.units_total),
                                  number(a.waves),
                                  {allocation_text(a, unit_name(*result.device))}});
        }
    }
    return table;
}

} // namespace archsim
