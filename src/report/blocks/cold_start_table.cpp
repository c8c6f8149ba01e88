#include "report/blocks/cold_start_table.hpp"

#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace archsim {

namespace {

Cell time_cell(double seconds, double unit) {
    return std::isnan(seconds) ? Cell{"-"} : Cell{format_number(seconds / unit), seconds};
}

std::string kind_of(const Fact* fact) {
    return fact == nullptr || fact->source == nullptr ? std::string("-")
                                                      : std::string(name_of(fact->source->kind));
}

} // namespace

std::optional<ColdStart> cold_start_of(const Result& r) {
    if (!r.ok() || r.machine == nullptr)
        return std::nullopt;
    return cold_start(*r.machine, r.model->operators, r.estimate.memory.weight_bytes, r.estimate.latency_s);
}

Table cold_start_table(std::span<const Result> results) {
    std::vector<std::pair<const Result*, ColdStart>> rows;
    for (const Result& r : results)
        if (const auto start = cold_start_of(r))
            rows.emplace_back(&r, *start);
    const auto key = [](const ColdStart& start) {
        return std::isnan(start.first_s()) ? HUGE_VAL : start.first_s();
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const auto& a, const auto& b) { return key(a.second) < key(b.second); });
    Table table;
    table.title = "Cold Start (First Inference, Nothing Cached)";
    table.columns = {{"Hardware", "", "hardware"},
                     {"Stack", "", "runtime"},
                     {"Build", "s", "build_s", Align::right},
                     {"Weights", "ms", "weight_upload_s", Align::right},
                     {"First", "s", "first_inference_s", Align::right},
                     {"Warm", "ms", "latency_s", Align::right},
                     {"Build from", "", "build_source", Align::left, 1},
                     {"Link from", "", "link_source", Align::left, 2}};
    for (const auto& [result, start] : rows)
        table.rows.push_back({{hardware_label(*result)},
                              {result->runtime->id},
                              time_cell(start.build_s, 1),
                              time_cell(start.upload_s, 1e-3),
                              time_cell(start.first_s(), 1),
                              time_cell(start.warm_s, 1e-3),
                              {kind_of(start.build)},
                              {kind_of(start.link)}});
    table.notes = {
        "Build: compilation or graph building by the software stack, which many keep on disk; weights: "
        "their way to the device; storage is not counted"};
    return table;
}

} // namespace archsim
