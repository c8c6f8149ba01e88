// What tables say to people, they say to programs: the same numbers, in SI units, and the best first.

#include "cli/workplace.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace archsim::test;

using Row = std::vector<std::string>;

/// Rows of fields (RFC 4180); an empty line is a row without fields.
std::vector<Row> parsed_csv(const std::string& text) {
    std::vector<Row> rows;
    Row row;
    std::string field;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted ? c == '"' && text.substr(i + 1, 1) == "\"" : false) {
            field += text[++i];
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && (c == ',' || c == '\n')) {
            row.push_back(std::exchange(field, {}));
            if (c == '\n')
                rows.push_back(row.size() == 1 && row.front().empty() ? Row{} : row);
            if (c == '\n')
                row.clear();
        } else {
            field += c;
        }
    }
    return rows;
}

std::optional<double> number_in(const std::string& text) {
    static const std::regex kNumber(R"([+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)");
    return std::regex_match(text, kNumber) ? std::optional(std::stod(text)) : std::nullopt;
}

/// A table of a CSV: its heading, and its rows below.
struct Sheet {
    Row keys;
    std::vector<Row> rows;
};
std::vector<Sheet> sheets_of(const std::string& csv) {
    std::vector<Sheet> sheets;
    bool heading = true;
    for (const Row& row : parsed_csv(csv)) {
        if (row.empty()) {
            heading = true;
        } else if (std::exchange(heading, false)) {
            sheets.push_back({row, {}});
        } else {
            sheets.back().rows.push_back(row);
        }
    }
    return sheets;
}

/// Tools and what they have columns of their own for. What has no CSV of its own stands in other tests.
const std::vector<std::string>& commands() {
    static const std::vector<std::string> all = {
        "compare_models resnet18 --deployment edge",
        "compare_models resnet18 --hardware A100 Coral-Edge-TPU --percentiles --rate 1000",
        "compare_models resnet18 --hardware A100 H100 --percentiles --cost --explain-energy --show-memory",
        "compare_models tinyllama-1.1b --hardware H100 L4 --precision bf16 --prompt-tokens 64 "
        "--generate-tokens 16",
        "compare_models llama-3-70b --hardware T4 --precision fp16",
        "analyze_batch resnet18 --hardware A100 Hailo-8 --batch-sizes 1,8 --max-latency 1ms",
        "analyze_batch tinyllama-1.1b --hardware H100 --precision bf16 --prompt-tokens 64 --generate-tokens "
        "16 --batch-sizes 1,4",
        "analyze_comprehensive resnet18 --hardware TPU-v4 --precision int8",
        "analyze_graph_mapping resnet18 --hardware KPU-T256",
        "serve_model tinyllama-1.1b --hardware H100 L4 Coral-Edge-TPU --precision fp16 --rate 2 --requests "
        "40",
        "size_service tinyllama-1.1b --hardware H100 T4 Coral-Edge-TPU --prompt-tokens 256 --output-tokens "
        "64 --rate 20 --tpot-p99 20ms --requests "
        "40",
        "size_service tinyllama-1.1b --hardware T4 --prompt-tokens 256 --output-tokens 64 --users 4 "
        "--ttft-p99 1us --requests 40",
        "local_models --on GTX-1650 --host Core-i7-12700H --formats int4 --context 1k",
        "local_models --on GTX-1650 --kind vision",
        "list_hardware_mappers",
        "list_hardware_mappers --show A100",
        "discover_models --family resnet",
        "discover_models my_models",
        "profile_graph mobilenet_v2 --tensors",
        "check_model vit_b_16 --hardware Coral-Edge-TPU Hailo-8 H100 --precision int8",
        "check_budget resnet18 --hardware H100 Coral-Edge-TPU --fail-on 'latency>1ns'",
        "explain_difference resnet18 resnet34 --hardware H100 --precision fp16",
        "compare_architectures resnet18",
        "compare_architectures resnet18 --level subgraph",
        "compare_architectures resnet18 --what-if bandwidth=2x --sensitivity",
        "validate_estimates --measurements my_board.csv",
        "calibrate_device A100 --measurements my_board.csv"};
    return all;
}

} // namespace

TEST_CASE("a cell of a CSV is a number, a name or empty", "[cli][laws][csv]") {
    // Ranges, bounds, signs for what is unknown, and numbers with a unit: each of them is for people.
    const std::string number = R"([+-]?\d[\d.]*(e[+-]?\d+)?)",
                      unit = R"( ?([munµ]?s|[munµ]?J|[kMGTP]?B|[mk]?W|%|x|v|[kMGT]|TOPS|USD|/s|tokens?/s))";
    const std::regex not_for_programs("-|\\?|n/a|\u2013|(>=?|<=?|~|\\$) ?" + number + ".*|" + number + unit +
                                      "|" + number + "(" + unit + ")?( ?- ?| to | of | / | -> |\u2013)" +
                                      number + "(" + unit + ")?|" + number + "=? ?\\(.*\\)");
    const std::set<std::string> names = {"power_mode", "power_modes"}; // "7W" is what NVIDIA calls it
    const Workplace workplace;
    std::size_t numbers = 0;
    for (const std::string& command : commands())
        for (const Sheet& sheet : sheets_of(workplace.run(command + " --format csv --quiet").output))
            for (const Row& row : sheet.rows) {
                REQUIRE(row.size() == sheet.keys.size());
                for (std::size_t c = 0; c < row.size(); ++c) {
                    if (number_in(row[c]))
                        ++numbers;
                    else if (!names.contains(sheet.keys[c]) && std::regex_match(row[c], not_for_programs))
                        FAIL_CHECK(command << ": " << sheet.keys[c] << " = \"" << row[c] << '"');
                }
            }
    CHECK(numbers > 5000);
}

namespace {

void collect(const nlohmann::json& value, std::vector<double>& numbers) {
    if (value.is_number())
        numbers.push_back(value.get<double>());
    else if (value.is_structured())
        for (const auto& item : value)
            collect(item, numbers);
}

/// How much of its SI unit a unit of tables is; nothing of words that are no unit.
std::optional<double> factor_of(const std::string& unit) {
    static const std::map<std::string, double> kUnits = {
        {"", 1},          {"s", 1},          {"ms", 1e-3},          {"µs", 1e-6},       {"ns", 1e-9},
        {"J", 1},         {"kJ", 1e3},       {"mJ", 1e-3},          {"µJ", 1e-6},       {"nJ", 1e-9},
        {"B", 1},         {"kB", 1e3},       {"MB", 1e6},           {"GB", 1e9},        {"TB", 1e12},
        {"W", 1},         {"mW", 1e-3},      {"kW", 1e3},           {"%", 1e-2},        {"k", 1e3},
        {"M", 1e6},       {"G", 1e9},        {"T", 1e12},           {"nm", 1},          {"USD", 1},
        {"TOPS", 1e12},   {"TFLOPS", 1e12},  {"GB/s", 1e9},         {"mJ/inf", 1e-3},   {"J/inf", 1},
        {"mJ ms", 1e-6},  {"J s", 1},        {"USD/million", 1e-6}, {"g/1000", 1e-3},   {"req/s", 1},
        {"tokens/s", 1},  {"/s", 1},         {"inferences/s", 1},   {"USD/M tok", 1},   {"J/token", 1},
        {"USD/month", 1}, {"of numbers", 1}, {"USD/h rented", 1},   {"USD/h owned", 1}, {"v", 1e12},
        {"J/M tok", 1},   {"g CO2e/M", 1}};
    const auto found = kUnits.find(unit);
    return found == kUnits.end() ? std::nullopt : std::optional(found->second);
}

/// A number as it is printed: between which two it lies (chances are rounded down).
struct Shown {
    double low, high;
    std::string where;
};

/// The numbers of the table of a Markdown report that has most of them.
std::vector<Shown> numbers_of_main_table(const std::string& markdown) {
    const auto fields = [](const std::string& line) {
        Row row;
        std::istringstream stream(line.substr(1));
        for (std::string field; std::getline(stream, field, '|');)
            row.push_back(field.size() < 2 ? "" : field.substr(1, field.size() - 2));
        return row;
    };
    static const std::regex kCell(R"(\(?([+-]?\d+(\.(\d+))?)(e([+-]?\d+))? ?([^\d=*!()]*)[=*!)]*)");
    std::vector<Shown> best, own;
    Row headings;
    std::istringstream stream(markdown);
    for (std::string line; std::getline(stream, line);) {
        if (!line.starts_with('|')) {
            headings.clear();
            continue;
        }
        if (headings.empty()) {
            headings = fields(line);
            own.clear();
            continue;
        }
        const Row row = fields(line);
        for (std::size_t c = 0; c < row.size() && c < headings.size(); ++c) {
            std::string text = row[c];
            std::erase(text, '\\');
            std::smatch parts;
            const std::size_t bracket = headings[c].find(" (");
            const std::string unit = bracket == std::string::npos
                                         ? std::string()
                                         : headings[c].substr(bracket + 2, headings[c].size() - bracket - 3);
            if (!std::regex_match(text, parts, kCell))
                continue;
            const auto factor = factor_of(parts[6].length() > 0 ? parts[6].str() : unit);
            if (!factor)
                continue;
            const double power = parts[5].length() > 0 ? std::stod(parts[5]) : 0;
            const double value = std::stod(parts[1]) * std::pow(10, power) * *factor,
                         last = 1.01 * std::pow(10, power - static_cast<double>(parts[3].length())) * *factor;
            own.push_back({value - last, value + last, headings[c] + " = " + row[c]});
        }
        if (own.size() > best.size())
            best = own;
    }
    return best;
}

/// Programs find it: as it is, or under a key that says "per million".
bool holds(const std::vector<double>& numbers, const Shown& shown) {
    constexpr double kMillion = 1e6;
    return std::any_of(numbers.begin(), numbers.end(), [&](double n) {
        return (n >= shown.low && n <= shown.high) ||
               (n >= shown.low * kMillion && n <= shown.high * kMillion);
    });
}

} // namespace

TEST_CASE("every number of an answer's table is in its CSV and its JSON, in SI units", "[cli][laws][csv]") {
    // Of these the table is the answer; others have several, of which CSV holds one.
    const std::set<std::string> tools = {"compare_models", "analyze_batch", "serve_model",
                                         "size_service",   "local_models",  "list_hardware_mappers",
                                         "discover_models"};
    const Workplace workplace;
    std::size_t looked_at = 0;
    for (const std::string& command : commands()) {
        if (!tools.contains(command.substr(0, command.find(' '))) ||
            command.find("--explain") != std::string::npos || command.find("--show") != std::string::npos)
            continue;
        const auto said = [&](const char* format) {
            return workplace.run(command + " --quiet --format " + format).output;
        };
        std::vector<double> csv, json;
        for (const Row& row : parsed_csv(said("csv")))
            for (const std::string& field : row)
                if (const auto number = number_in(field))
                    csv.push_back(*number);
        collect(nlohmann::json::parse(said("json")), json);
        for (const Shown& shown : numbers_of_main_table(said("markdown"))) {
            ++looked_at;
            if (!holds(csv, shown))
                FAIL_CHECK(command << " --format csv has no " << shown.where);
            if (!holds(json, shown))
                FAIL_CHECK(command << " --format json has no " << shown.where);
        }
    }
    CHECK(looked_at > 2000);
}

TEST_CASE("--sort puts the best first, by every column of numbers", "[cli][laws][sort]") {
    // By the words of keys: what is spent is best where it is least, what is given where it is most.
    const auto least_is_best = [](const std::string& key) {
        for (const char* most : {"_per_s", "_per_w", "probability", "free_bytes", "capacity"})
            if (key.ends_with(most))
                return false;
        for (const char* least :
             {"_s", "_j", "_w", "usd", "joules", "carbon", "embodied", "devices", "fallback", "leaving",
              "islands", "process_nm", "peak_memory_bytes", "_edp", "energy_delay"})
            if (key.ends_with(least) || key.starts_with(least) || key.find("_usd") != std::string::npos)
                return true;
        return false;
    };
    const std::set<std::string> neither = {"batch_size",       "operators",    "places",     "utilization",
                                           "mean_batch",       "year",         "parameters", "mean_waiting",
                                           "operations_share", "memory_bytes", "rank"};
    const Workplace workplace;
    std::size_t sorted = 0;
    for (const std::string command :
         {"size_service tinyllama-1.1b --hardware H100 T4 L4 --prompt-tokens 256 --output-tokens 64 --rate "
          "20 --tpot-p99 50ms --requests 40",
          "serve_model tinyllama-1.1b --hardware H100 T4 L4 --precision fp16 --rate 2 --requests 40",
          "local_models --on GTX-1650 --formats int4 --context 1k", "list_hardware_mappers --category kpu",
          "analyze_batch resnet18 --hardware A100 KPU-T256 --batch-sizes 1,2,8",
          "check_model vit_b_16 --hardware Coral-Edge-TPU Hailo-8 H100 --precision int8",
          "compare_architectures resnet18"}) {
        const std::vector<Sheet> all = sheets_of(workplace.run(command + " --format csv --quiet").output);
        REQUIRE_FALSE(all.empty());
        const Sheet& asked = all.front();
        for (std::size_t c = 0; c < asked.keys.size(); ++c) {
            const std::string& key = asked.keys[c];
            const bool numbers = std::any_of(asked.rows.begin(), asked.rows.end(),
                                             [c](const Row& row) { return number_in(row[c]).has_value(); });
            if (!numbers || neither.contains(key) || key.find("_vs_") != std::string::npos ||
                key.find("_high_") != std::string::npos) // the lower end orders intervals
                continue;
            INFO(command << " --sort " << key);
            const std::vector<Sheet> told =
                sheets_of(workplace.run(command + " --format csv --quiet --sort " + key).output);
            REQUIRE_FALSE(told.empty());
            const Sheet& said = told.front();
            REQUIRE(said.rows.size() == asked.rows.size());
            std::vector<double> values;
            bool ended = false; // rows without a value are last
            for (const Row& row : said.rows) {
                const auto value = number_in(row[c]);
                CHECK_FALSE((ended && value));
                ended = ended || !value;
                if (value)
                    values.push_back(*value);
            }
            sorted += values.size() > 1 ? 1 : 0;
            CHECK(std::is_sorted(values.begin(), values.end(),
                                 [&](double a, double b) { return least_is_best(key) ? a < b : a > b; }));
        }
    }
    CHECK(sorted > 40);
}
