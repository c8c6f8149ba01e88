// The variances of the error model as hardware_db/uncertainty.json, one row a line.

#include "fit/report/validation_report.hpp"
#include "hardware/uncertainty.hpp"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kDecimals = 1e4;

double rounded(double value) {
    return std::round(value * kDecimals) / kDecimals;
}

/// A standard deviation of the logarithm.
double deviation(double variance) {
    return rounded(std::sqrt(variance));
}

template <class Row, class Write>
std::string lines_of(const std::vector<Row>& rows, Write write) {
    std::string lines;
    for (const Row& row : rows) {
        Json line = Json::object();
        write(row, line);
        lines += (lines.empty() ? "    " : ",\n    ") + line.dump();
    }
    return lines;
}

void add(Json& line, const char* key, const std::string& value) {
    if (!value.empty())
        line[key] = value;
}

} // namespace

std::string uncertainty_json(const ErrorModel& model) {
    const std::string within = lines_of(model.within, [](const ErrorModel::Within& row, Json& line) {
        add(line, "family", row.family);
        add(line, "runtime", row.runtime);
        if (row.metric >= 0)
            line["metric"] = name_of(static_cast<SpreadOf>(row.metric));
        line["deviation"] = deviation(row.variance);
        line["rows"] = row.rows;
    });
    const std::string fresh = lines_of(model.fresh, [](const ErrorModel::Fresh& row, Json& line) {
        add(line, "family", row.family);
        line["of"] = row.draw ? "draw" : "time";
        line["deviation"] = deviation(row.variance);
        line["scatter"] = rounded(row.scatter);
        line["devices"] = row.devices;
    });
    const std::string sets = lines_of(model.sets, [](const ErrorModel::Set& set, Json& line) {
        line["family"] = set.family;
        line["device"] = set.device;
        line["runtime"] = set.runtime;
        line["metric"] = name_of(set.metric);
        line["networks"] = set.networks;
    });
    return fmt::format(
        "{{\n"
        "  \"$schema\": \"uncertainty_schema.json\",\n"
        "  \"description\": [\"Standard deviations of log(measured / predicted). Written by "
        "scripts/validate from left-out predictions and recorded first runs.\"],\n"
        "  \"degrees_of_freedom\": {},\n"
        "  \"unmeasured_stack\": {},\n"
        "  \"device_share\": {},\n"
        "  \"lane_share\": {},\n"
        "  \"network_share\": {},\n"
        "  \"cell_share\": {},\n"
        "  \"generation_share\": {},\n"
        "  \"difference_scale\": {},\n"
        "  \"within\": [\n{}\n  ],\n"
        "  \"fresh\": [\n{}\n  ],\n"
        "  \"sets\": [\n{}\n  ],\n"
        "  \"sources\": {{\n"
        "    \"left-out\": {{\"kind\": \"fitted\", \"cite\": \"errors of left-out networks and of "
        "first runs of tests/measured, see docs/evidence/validation.md\"}}\n"
        "  }}\n"
        "}}\n",
        model.degrees_of_freedom, deviation(model.unmeasured_stack), rounded(model.device_share),
        rounded(model.lane_share), rounded(model.network_share), rounded(model.cell_share),
        rounded(model.generation_share), rounded(model.difference_scale), within, fresh, sets);
}

} // namespace archsim
