#include "answers/compare/compare_models_report.hpp"

#include "report/blocks/columns.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/subgraph_table.hpp"

namespace archsim {

struct SubgraphRow {
    const Result& result;
    const SubgraphEstimate& s;
    const Subgraph& subgraph() const { return result.partition->subgraphs[s.index]; }
    const SubgraphWork& work() const { return result.work->subgraphs[s.index]; }
};

static std::vector<ColumnOf<SubgraphRow>> subgraph_columns() {
    using R = SubgraphRow;
    std::vector<ColumnOf<R>> columns;
    const auto name = [&](const char* key, auto of) { columns.emplace_back(plain_column(key), of); };
    const auto number = [&](const char* key, auto of) { columns.emplace_back(plain_column(key), 1, of); };
    const auto lane = [&](const char* key, Lane which) {
        number(key, [which](const R& r) { return r.s.lane_s[static_cast<std::size_t>(which)]; });
    };
    name("model", [](const R& r) { return r.result.model->name; });
    name("hardware", [](const R& r) { return r.result.device->id; });
    name("power_mode", [](const R& r) { return r.result.power_mode; });
    name("runtime", [](const R& r) { return r.result.runtime->id; });
    number("batch_size", [](const R& r) { return r.result.estimate.batch; });
    name("executed_precision", [](const R& r) { return precision_name(r.result.estimate.executed); });
    number("index", [](const R& r) { return r.s.index; });
    name("subgraph", [](const R& r) { return r.subgraph().name; });
    name("kind", [](const R& r) { return name_of(r.subgraph().kind); });
    number("repeat", [](const R& r) { return r.subgraph().repeat; });
    number("latency_s", [](const R& r) { return r.s.latency_s; });
    lane("compute_s", Lane::compute);
    lane("on_chip_s", Lane::on_chip);
    lane("memory_s", Lane::memory);
    lane("overhead_s", Lane::overhead);
    name("bound", [](const R& r) { return name_of(r.s.bound); });
    name("binding", [](const R& r) { return name_of(r.s.binding); });
    number("utilization", [](const R& r) { return r.s.utilization; });
    number("macs", [](const R& r) { return r.work().macs * r.work().repeat; });
    number("operations", [](const R& r) { return r.work().operations() * r.work().repeat; });
    number("memory_bytes", [](const R& r) { return r.s.dram_bytes; });
    number("energy_j", [](const R& r) { return r.s.energy.total(); });
    number("units_used", [](const R& r) { return r.s.mapping.allocation.units_used; });
    number("units_total", [](const R& r) { return r.s.mapping.allocation.units_total; });
    number("waves", [](const R& r) { return r.s.mapping.allocation.waves; });
    name("allocation",
         [](const R& r) { return allocation_text(r.s.mapping.allocation, unit_name(*r.result.device)); });
    return columns;
}

Table all_subgraphs_table(std::span<const Result> results) {
    std::vector<SubgraphRow> rows;
    for (const Result& result : results)
        if (result.ok() && result.work)
            for (const SubgraphEstimate& s : result.estimate.subgraphs)
                rows.push_back({result, s});
    return table_of({}, subgraph_columns(), rows);
}

} // namespace archsim
