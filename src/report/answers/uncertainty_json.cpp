// The interval table as hardware_db/uncertainty.json, one class a line.

#include "archsim/report/validation_report.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

/// Two decimals, outwards: an interval never claims more than it was derived from.
double outwards(double factor) {
    return factor < 1 ? std::floor(factor * 100) / 100 : std::ceil(factor * 100) / 100;
}

/// One class a line.
std::string lines_of(const std::vector<ResidualClassFacts>& classes) {
    std::string lines;
    for (const ResidualClassFacts& facts : classes) {
        Json line = {{"metric", facts.metric}};
        for (const auto& [key, value] :
             {std::pair{"family", facts.family}, std::pair{"evidence", facts.evidence},
              std::pair{"runtime", facts.runtime}, std::pair{"regime", facts.regime}})
            if (!value.empty())
                line[key] = value;
        // The table's lower bound is at least 1e-3, and factors straddle 1.
        line["low"] = std::max(0.01, outwards(facts.low));
        line["high"] = outwards(facts.high);
        line["rows"] = facts.rows;
        line["basis"] = facts.basis;
        lines += (lines.empty() ? "    " : ",\n    ") + line.dump();
    }
    return lines;
}

} // namespace

std::string uncertainty_json(const std::vector<ResidualClassFacts>& classes, const MeasuredOn& measured) {
    return "{\n"
           "  \"$schema\": \"uncertainty_schema.json\",\n"
           "  \"description\": [\"Factors between which measured / predicted lies with nominal 90 % "
           "probability. "
           "Written by scripts/validate from predictions of left-out networks, devices and families.\"],\n"
           "  \"minimum_rows\": 0,\n"
           "  \"classes\": [\n" +
           lines_of(classes) +
           "\n  ],\n"
           "  \"projection\": [\n" +
           lines_of(projection_classes(classes)) +
           "\n  ],\n"
           "  \"measured\": {\n"
           "    \"devices\": " +
           Json(measured.devices).dump() +
           ",\n"
           "    \"stacks\": " +
           Json(measured.stacks).dump() +
           ",\n"
           "    \"pairs\": " +
           Json(measured.pairs).dump() +
           "\n  },\n"
           "  \"sources\": {\n"
           "    \"left-out\": {\"kind\": \"fitted\", \"cite\": \"errors of left-out networks and devices of "
           "tests/measured, see docs/validation.md\"}\n"
           "  }\n"
           "}\n";
}

} // namespace archsim
