#include "report/answers/difference_json.hpp"

#include "report/blocks/result_text.hpp"

#include <array>
#include <cmath>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

Json finite(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json side_json(const EstimateRecord& r) {
    return {{"model", r.model},      {"hardware", r.hardware},
            {"runtime", r.stack},    {"precision", precision_name(r.precision)},
            {"batch_size", r.batch}, {"dims", r.dims}};
}

Json two(const std::array<double, 2>& values) {
    return {finite(values[0]), finite(values[1])};
}

Json part_json(const DifferencePart& p) {
    return {{"value", p.value},
            {"main_factor", p.main_value != 0 ? Json(info_of(p.main).name) : Json(nullptr)},
            {"main_value", p.main_value},
            {"latency_s", two(p.latency_s)},
            {"operations", two(p.operations)},
            {"memory_bytes", two(p.bytes)},
            {"kernels", two(p.kernels)},
            {"energy_j", two(p.energy_j)},
            {"peak_share", two(p.peak_share)}};
}

} // namespace

nlohmann::ordered_json difference_json(const Difference& d) {
    const Attribution& x = d.attribution;
    Json out = {
        {"metric", x.metric->key},
        {"unit", x.metric->unit},
        {"sides", {{"before", side_json(d.sides[0])}, {"after", side_json(d.sides[1])}}},
        {"before", x.b_value},
        {"after", x.a_value},
        {"difference", x.difference},
        {"intervals_overlap", d.overlapping},
        {"operators", {{"before", d.operators[0]}, {"after", d.operators[1]}, {"aligned", d.aligned}}},
        {"causes", Json::array()},
        {"by_change", Json::object()},
        {"classes", Json::array()},
        {"blocks", Json::array()}};
    for (const Contribution& c : x.contributions)
        out["causes"].push_back({{"factor", info_of(c.factor).name},
                                 {"title", info_of(c.factor).title},
                                 {"value", c.value},
                                 {"before_input", finite(c.b.value)},
                                 {"after_input", finite(c.a.value)},
                                 {"input_unit", info_of(c.factor).unit}});
    for (const Change change : {Change::kept, Change::added, Change::removed, Change::displaced})
        out["by_change"][std::string(name_of(change))] = d.by_change[static_cast<std::size_t>(change)];
    for (const ClassDifference& c : d.classes) {
        Json row = {{"class", c.kind}};
        row.update(part_json(c.part));
        row["causes"] = Json::object();
        for (const auto& [factor, value] : c.causes)
            row["causes"][std::string(info_of(factor).name)] = value;
        out["classes"].push_back(std::move(row));
    }
    for (const BlockDifference& b : d.blocks) {
        Json row = {{"block", b.name}, {"change", name_of(b.change)}, {"blocks", b.blocks}};
        row.update(part_json(b.part));
        row["main_class"] = b.main_kind;
        row["main_class_value"] = b.main_part.value;
        row["main_class_peak_share"] = two(b.main_part.peak_share);
        out["blocks"].push_back(std::move(row));
    }
    return out;
}

} // namespace archsim
