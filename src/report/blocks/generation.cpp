#include "report/blocks/generation_report.hpp"

#include "archsim/compare/metric.hpp"
#include "report/blocks/cells.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/failure_notes.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"
#include "result/offload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace archsim {

namespace {

std::string range(const Interval& i, double unit) {
    return fmt::format("{}-{}", format_number(i.low / unit), format_number(i.high / unit));
}

using GenerationColumns = std::vector<ColumnOf<const Result*>>;

/// A number of every result with a prompt; "-" where it is not above zero.
void add_number(GenerationColumns& columns, Column column, double unit,
                double (*of)(const GenerationEstimate&)) {
    column.align = Align::right;
    columns.push_back({std::move(column), [unit, of](const Result* r) {
                           const double value = of(*r->generation);
                           return value > 0 ? cell_in(unit, value) : Cell{"-"};
                       }});
}

/// The same of results with an estimate.
void add_estimated(GenerationColumns& columns, Column column, double unit,
                   double (*of)(const GenerationEstimate&)) {
    add_number(columns, std::move(column), unit, of);
    columns.back().cell = [cell = columns.back().cell](const Result* r) {
        return r->ok() ? cell(r) : Cell{"-"};
    };
}

/// A time and its interval, where the result has it.
void add_time(GenerationColumns& columns, const char* heading, const std::string& key,
              double (*time)(const GenerationEstimate&), Interval (*interval)(const GenerationEstimate&)) {
    add_estimated(columns, {heading, "ms", key + "_s"}, 1e-3, time);
    columns.push_back({{"90 %", "ms", key + "_interval", Align::right, 3}, [time, interval](const Result* r) {
                           const GenerationEstimate& g = *r->generation;
                           return Cell{r->ok() && time(g) > 0 ? range(interval(g), 1e-3) : "-"};
                       }});
}

GenerationColumns generation_columns(bool serving) {
    using G = const GenerationEstimate&;
    GenerationColumns columns = {
        {{"Hardware", "", "hardware"}, [](const Result* r) { return Cell{hardware_label(*r)}; }},
        {{"Devices", "", "devices", Align::right},
         [](const Result* r) { return count_cell(true, r->generation->devices); }}};
    add_time(
        columns, "First token", "time_to_first_token", [](G g) { return g.time_to_first_token_s; },
        [](G g) { return g.time_to_first_token_interval; });
    auto& first = columns[columns.size() - 2].cell; // says why there is no estimate
    first = [shown = first](const Result* r) {
        return r->ok() ? shown(r) : Cell{status_words(r->estimate), {}, Tone::bad};
    };
    add_time(
        columns, "Per token", "time_per_output_token", [](G g) { return g.time_per_output_token_s; },
        [](G g) { return g.time_per_output_token_interval; });
    add_estimated(columns, {"Per user", "tokens/s", "tokens_per_s_stream"}, 1,
                  [](G g) { return g.tokens_per_s_stream; });
    add_estimated(columns, {"Total", "tokens/s", "tokens_per_s_total", Align::right, 1}, 1,
                  [](G g) { return g.tokens_per_s_total; });
    add_estimated(columns, {"Energy", "J/token", "energy_per_token_j"}, 1,
                  [](G g) { return g.energy_per_token_j; });
    add_estimated(columns, {"Energy", "J/prompt token", "energy_per_prompt_token_j", Align::right, 2}, 1,
                  [](G g) { return g.energy_per_prompt_token_j(); });
    add_estimated(columns, {"Energy", "J/request", "energy_per_request_j", Align::right, 2}, 1,
                  [](G g) { return g.energy_per_request_j(); });
    add_estimated(columns, {"Power", "W/device", "power_per_device_w", Align::right, 1}, 1,
                  [](G g) { return g.power_per_device_w(); });
    add_estimated(columns, {"Power", "W/replica", "power_w", Align::right, 2}, 1,
                  [](G g) { return g.power_per_device_w() * g.devices; });
    add_number(columns, {"Weights", "GB", "weight_bytes"}, 1e9, [](G g) { return g.weight_bytes; });
    add_number(columns, {"KV cache", "GB", "kv_cache_bytes", Align::right, 1}, 1e9,
               [](G g) { return g.kv_cache_bytes; });
    add_number(columns, {"Need/device", "GB", "memory_bytes_per_device", Align::right, 1}, 1e9,
               [](G g) { return g.memory_bytes; });
    add_number(columns, {"Has", "GB", "memory_capacity_bytes_per_device", Align::right, 1}, 1e9,
               [](G g) { return g.memory_capacity_bytes; });
    if (serving)
        add_number(columns, {"Serving", "tokens/s", "serving_tokens_per_s"}, 1,
                   [](G g) { return g.serving.tokens_per_s; });
    columns.push_back({{"Stack", "", "runtime", Align::left, 2},
                       [](const Result* r) { return Cell{r->runtime ? r->runtime->id : "-"}; }});
    return columns;
}

/// Columns that a ranking of language models has.
bool in_ranking(std::string_view key) {
    constexpr std::array kRanked = {"time_to_first_token_s",
                                    "time_to_first_token_interval",
                                    "time_per_output_token_s",
                                    "time_per_output_token_interval",
                                    "tokens_per_s_stream",
                                    "tokens_per_s_total",
                                    "energy_per_token_j",
                                    "power_w",
                                    "runtime"};
    return std::find(kRanked.begin(), kRanked.end(), key) != kRanked.end();
}

/// How the columns are defined, each for its own.
void add_definitions(const GenerationEstimate& g, std::vector<TableNote>& notes) {
    notes.emplace_back(fmt::format("First token: the prompt of {:.0f} tokens in one pass.", g.prompt_tokens),
                       "time_to_first_token_s");
    if (g.generate_tokens > 1) {
        notes.emplace_back(
            fmt::format("Per token: mean over the steps of tokens 2 to {:.0f}, while the context grows from "
                        "{:.0f} to {:.0f} positions.",
                        g.generate_tokens, g.prompt_tokens, g.prompt_tokens + g.generate_tokens - 1),
            "time_per_output_token_s");
        notes.emplace_back("Energy per token: of these steps, per sequence and token.", "energy_per_token_j");
    }
    if (g.batch > 1) {
        notes.emplace_back("Stream: of one sequence.", "tokens_per_s_stream");
        notes.emplace_back(fmt::format("Total: of all {:.0f} in the batch.", g.batch), "tokens_per_s_total");
    }
    notes.emplace_back("Energy per prompt token: of the prompt's pass.", "energy_per_prompt_token_j");
    notes.emplace_back("Energy per request: of its prompt and its answer.", "energy_per_request_j");
    notes.emplace_back("Power: mean of one device over the answer.", "power_per_device_w");
    notes.emplace_back("KV cache: at the last token.", "kv_cache_bytes");
}

} // namespace

std::vector<TableNote> generation_notes(std::span<const Result> results) {
    std::vector<TableNote> notes;
    const auto first =
        std::find_if(results.begin(), results.end(), [](const Result& r) { return !!r.generation; });
    if (first != results.end())
        add_definitions(*first->generation, notes);
    return notes;
}

Table generation_table(std::span<const Result> results, BesideRanking beside) {
    std::vector<const Result*> rows;
    std::vector<std::string> notes;
    bool serving = false;
    for (const Result& r : results) {
        if (!r.generation)
            continue;
        rows.push_back(&r);
        const double sequences = r.generation->serving.sequences;
        serving = serving || sequences > 0;
        if (sequences > 0)
            notes.push_back(fmt::format("{}: serves {:.0f} sequences at once", hardware_label(r), sequences));
    }
    GenerationColumns columns = generation_columns(serving);
    if (beside == BesideRanking::yes)
        std::erase_if(columns, [](const auto& each) { return in_ranking(each.column.key); });
    Table table = table_of(beside == BesideRanking::yes ? "Text Generation: memory, energy of requests"
                                                        : "Text Generation",
                           columns, rows);
    if (beside == BesideRanking::no) // the ranking says why
        for (std::string& note : failure_notes(rows))
            table.notes.emplace_back(std::move(note));
    table.notes.insert(table.notes.end(), notes.begin(), notes.end());
    for (TableNote& note : generation_notes(results))
        table.notes.push_back(std::move(note));
    return table;
}

namespace {

/// A part with its executions, or the whole.
struct PartRow {
    std::string name;
    double times = 1;
    const Result* result = nullptr;
    bool whole = false;
};
using PartColumns = std::vector<ColumnOf<PartRow>>;

/// What only estimates have, of all executions.
void add_part_metric(PartColumns& columns, Column column, const Metric& metric, bool each) {
    column.align = Align::right;
    columns.push_back({std::move(column), [&metric, each](const PartRow& row) {
                           const auto value = value_of(*row.result, metric);
                           return row.result->ok() && value ? cell_in(1e-3, *value * (each ? 1 : row.times))
                                                            : Cell{"-"};
                       }});
}

PartColumns part_columns() {
    PartColumns columns = {
        {{"Part", "", "part"},
         [](const PartRow& row) {
             return Cell{row.name, {}, row.whole ? Tone::strong : Tone::plain};
         }},
        {{"Times", "", "repeat", Align::right}, [](const PartRow& row) { return amount_cell(row.times); }},
        {{"Parameters", "", "parameters", Align::right},
         [](const PartRow& row) {
             const double parameters = row.result->model->parameters;
             return amount_cell(parameters);
         }},
        {{"MACs", "each", "macs", Align::right}, [](const PartRow& row) {
             const double macs = row.result->model->macs;
             return amount_cell(macs);
         }}};
    add_part_metric(columns, {"Latency", "ms each", "latency_s"}, metric::latency, true);
    auto& first = columns.back().cell; // says why there is no estimate
    first = [shown = first](const PartRow& row) {
        const Result& r = *row.result;
        return r.ok() || row.whole ? shown(row) : Cell{status_words(r.estimate), {}, Tone::bad};
    };
    add_part_metric(columns, {"Latency", "ms all", "total_latency_s"}, metric::latency, false);
    add_part_metric(columns, {"Energy", "mJ all", "total_energy_j"}, metric::energy, false);
    columns.push_back({{"Weights", "MB", "weight_bytes", Align::right}, [](const PartRow& row) {
                           return cell_in(1e6, row.result->estimate.memory.weight_bytes);
                       }});
    columns.push_back({{"Peak", "MB", "peak_bytes", Align::right}, [](const PartRow& row) {
                           return cell_in(1e6, row.result->estimate.memory.peak_bytes);
                       }});
    return columns;
}

} // namespace

Table parts_table(const Result& result) {
    std::vector<PartRow> rows;
    std::vector<std::string> notes;
    for (const ResultPart& part : result.parts) {
        rows.push_back({part.name, part.repeat, part.result.get()});
        if (!part.result->ok())
            notes.push_back(fmt::format("{}: {}", part.name, part.result->estimate.reason));
    }
    rows.push_back({"total", 1, &result, true});
    if (std::string turn = in_words(parts_in_turn(result)); !turn.empty())
        notes.push_back("Memory: " + std::move(turn));
    Table table = table_of(fmt::format("Parts on {}", hardware_label(result)), part_columns(), rows);
    table.notes.assign(notes.begin(), notes.end());
    return table;
}

} // namespace archsim
