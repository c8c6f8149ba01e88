#include "report/blocks/explanations.hpp"

#include "core/lists.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/result_text.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace archsim {

static std::string kind_of(const Fact* fact) {
    return fact == nullptr || fact->source == nullptr ? std::string()
                                                      : std::string(name_of(fact->source->kind));
}

using ColdRow = std::pair<const Result*, ColdStart>;

std::optional<ColdStart> cold_start_of(const Result& r) {
    if (!r.ok() || r.machine == nullptr)
        return std::nullopt;
    const double largest =
        peak_of(0.0, r.parts, [](const ResultPart& part) { return part.result->model->operators; });
    return cold_start(*r.machine, r.model->operators, r.estimate.memory.weight_bytes, r.estimate.latency_s,
                      largest);
}

Table cold_start_table(std::span<const Result> results) {
    std::vector<ColdRow> rows;
    for (const Result& r : results)
        if (const auto start = cold_start_of(r))
            rows.emplace_back(&r, *start);
    const auto key = [](const ColdStart& start) {
        return std::isnan(start.first_s()) ? HUGE_VAL : start.first_s();
    };
    std::ranges::stable_sort(
        rows, [&](const ColdRow& a, const ColdRow& b) { return key(a.second) < key(b.second); });
    const bool parts = std::ranges::any_of(rows, [](const ColdRow& r) { return !r.first->parts.empty(); });
    std::vector<ColumnOf<ColdRow>> columns = {
        {{"Hardware", "", "hardware"}, [](const ColdRow& r) { return hardware_label(*r.first); }},
        {{"Stack", "", "runtime"}, [](const ColdRow& r) { return r.first->runtime->id; }},
        {least_best("Build", "s", "build_s"), 1, [](const ColdRow& r) { return r.second.build_s; }},
        {least_best("Weights", "ms", "weight_upload_s"), 1e-3,
         [](const ColdRow& r) { return r.second.upload_s; }},
        {least_best("First", "s", "first_inference_s"), 1,
         [](const ColdRow& r) { return r.second.first_s(); }},
        {least_best("Prebuilt", "s", "first_prebuilt_s"), 1,
         [](const ColdRow& r) { return r.second.upload_s + r.second.warm_s; }}};
    if (parts)
        append(columns, where<ColdRow>([](const ColdRow& r) { return !r.first->parts.empty(); },
                                       {{least_best("Side by side", "s", "side_by_side_s"), 1,
                                         [](const ColdRow& r) { return r.second.side_by_side_s(); }}}));
    append(
        columns,
        {{least_best("Warm", "ms", "latency_s"), 1e-3, [](const ColdRow& r) { return r.second.warm_s; }},
         {{"Compiled before", "", "compiled_before", Align::left},
          [](const ColdRow& r) { return r.second.before != nullptr ? "by " + r.second.before->tool : ""; }},
         {{"Build from", "", "build_source", Align::left, 1},
          [](const ColdRow& r) { return kind_of(r.second.build); }},
         {{"Link from", "", "link_source", Align::left, 2},
          [](const ColdRow& r) { return kind_of(r.second.link); }}});
    Table table = table_of("Cold Start (First Inference, Nothing Cached)", columns, rows);
    table.notes = {"Build: compilation or graph building by the software stack, which many keep on disk, and "
                   "nothing where a network is compiled before it is deployed; weights: their way to the "
                   "device; storage is not counted; prebuilt: the first inference where the build is on "
                   "disk, or shaders were compiled before anybody waits"};
    if (parts)
        table.notes.emplace_back("Side by side: all parts of the model built at once, each on a thread of "
                                 "its own, where the stack can; their weights share the link");
    return table;
}

std::vector<Block> explanation_blocks(std::span<const Result> results, const Explanations& explanations) {
    std::vector<Block> blocks;
    const auto append = [&](std::vector<Block> more) {
        blocks.insert(blocks.end(), std::make_move_iterator(more.begin()),
                      std::make_move_iterator(more.end()));
    };
    if (explanations.memory)
        append(memory_blocks(results));
    if (explanations.energy)
        append(describe_energy(results, {explanations.subgraphs}).blocks);
    if (explanations.cost)
        append(cost_blocks(results, explanations.conditions));
    else if (explanations.carbon)
        append(carbon_blocks(results, explanations.conditions));
    return blocks;
}

Members<Explained> explanation_members() {
    const auto asked = [](auto whether) {
        return [whether](const Explained& e) {
            return Sometimes<Explained>{whether(e.explanations) ? std::optional(e) : std::nullopt};
        };
    };
    return {{"memory", "with --show-memory", asked([](auto& e) { return e.memory; }), memory_members()},
            {"energy", "with --explain-energy: every event", asked([](auto& e) { return e.energy; }),
             energy_members()},
            {"cost", "with --cost or a grid's carbon", asked([](auto& e) { return e.cost || e.carbon; }),
             cost_members()}};
}

} // namespace archsim
