#include "archsim/report/generation_report.hpp"

#include "archsim/compare/metric.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"

#include <fmt/format.h>

#include <set>

namespace archsim {

namespace {

Cell scaled(double value, double unit) {
    return {format_number(value / unit), value};
}

std::string range(const Interval& i, double unit) {
    return fmt::format("{}-{}", format_number(i.low / unit), format_number(i.high / unit));
}

void add_energies(const GenerationEstimate& g, std::vector<Cell>& row) {
    row.push_back(scaled(g.energy_per_prompt_token_j(), 1));
    row.push_back(scaled(g.energy_per_request_j(), 1));
    row.push_back(scaled(g.power_per_device_w(), 1));
}

void add_times(const GenerationEstimate& g, std::vector<Cell>& row) {
    row.push_back(scaled(g.time_to_first_token_s, 1e-3));
    row.push_back({range(g.time_to_first_token_interval, 1e-3)});
    if (g.time_per_output_token_s <= 0) {
        row.insert(row.end(), 5, Cell{"-"});
        add_energies(g, row);
        return;
    }
    row.push_back(scaled(g.time_per_output_token_s, 1e-3));
    row.push_back({range(g.time_per_output_token_interval, 1e-3)});
    row.push_back(scaled(g.tokens_per_s_stream, 1));
    row.push_back(scaled(g.tokens_per_s_total, 1));
    row.push_back(scaled(g.energy_per_token_j, 1));
    add_energies(g, row);
}

} // namespace

Table generation_table(std::span<const Result> results) {
    Table table;
    table.title = "Text Generation";
    table.columns = {{"Hardware", "", "hardware"},
                     {"Devices", "", "devices", Align::right},
                     {"First token", "ms", "time_to_first_token_s", Align::right},
                     {"90 %", "ms", "time_to_first_token_interval", Align::right, 3},
                     {"Per token", "ms", "time_per_output_token_s", Align::right},
                     {"90 %", "ms", "time_per_output_token_interval", Align::right, 3},
                     {"Stream", "tokens/s", "tokens_per_s_stream", Align::right},
                     {"Total", "tokens/s", "tokens_per_s_total", Align::right, 1},
                     {"Energy", "J/token", "energy_per_token_j", Align::right},
                     {"Energy", "J/prompt token", "energy_per_prompt_token_j", Align::right, 2},
                     {"Energy", "J/request", "energy_per_request_j", Align::right, 2},
                     {"Power", "W/device", "power_per_device_w", Align::right, 1},
                     {"Weights", "GB", "weight_bytes", Align::right},
                     {"KV cache", "GB", "kv_cache_bytes", Align::right},
                     {"Need/device", "GB", "memory_bytes_per_device", Align::right, 1},
                     {"Has", "GB", "memory_capacity_bytes_per_device", Align::right, 1},
                     {"Serving", "tokens/s", "serving_tokens_per_s", Align::right},
                     {"Runtime", "", "runtime", Align::left, 2}};
    bool serving = false;
    std::set<std::string> notes;
    for (const Result& r : results) {
        if (!r.generation)
            continue;
        const GenerationEstimate& g = *r.generation;
        std::vector<Cell> row{{hardware_label(r)}, {fmt::format("{:.0f}", g.devices), g.devices}};
        if (r.ok()) {
            add_times(g, row);
        } else {
            row.insert(row.end(), 10, Cell{"-"});
            row[2] = {std::string(name_of(r.estimate.status)), {}, Tone::bad};
            notes.insert(fmt::format("{}: {}", hardware_label(r), r.estimate.reason));
        }
        row.push_back(scaled(g.weight_bytes, 1e9));
        row.push_back(scaled(g.kv_cache_bytes, 1e9));
        row.push_back(scaled(g.memory_bytes, 1e9));
        row.push_back(g.memory_capacity_bytes > 0 ? scaled(g.memory_capacity_bytes, 1e9) : Cell{"-"});
        row.push_back(g.serving.sequences > 0 ? scaled(g.serving.tokens_per_s, 1) : Cell{"-"});
        row.push_back({r.runtime ? r.runtime->id : "-"});
        serving = serving || g.serving.sequences > 0;
        if (g.serving.sequences > 0)
            notes.insert(
                fmt::format("{}: serves {:.0f} sequences at once", hardware_label(r), g.serving.sequences));
        table.rows.push_back(std::move(row));
    }
    if (!serving) {
        const std::size_t column = table.columns.size() - 2;
        table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(column));
        for (auto& row : table.rows)
            row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
    }
    table.notes.assign(notes.begin(), notes.end());
    return table;
}

Paragraph generation_definitions(const GenerationEstimate& g) {
    std::string text =
        fmt::format("First token: the prompt of {:.0f} tokens in one pass. Per token: mean "
                    "over the steps of tokens 2 to {:.0f}, "
                    "while the context grows from {:.0f} to {:.0f} positions. Stream: of one "
                    "sequence; total: of all {:.0f} in "
                    "the batch. Energy: of the decode steps, per sequence and token; of the "
                    "prompt's pass, per token of it; of a whole request. Power: mean of one device "
                    "over the answer. KV cache: at the last token. Latency in the "
                    "other tables is that of the whole answer.",
                    g.prompt_tokens, g.generate_tokens, g.prompt_tokens,
                    g.prompt_tokens + g.generate_tokens - 1, g.batch);
    return {text, Tone::muted};
}

Table parts_table(const Result& result) {
    Table table;
    table.title = fmt::format("Parts on {}", hardware_label(result));
    table.columns = {{"Part", "", "part"},
                     {"Times", "", "repeat", Align::right},
                     {"Parameters", "", "parameters", Align::right},
                     {"MACs", "each", "macs", Align::right},
                     {"Latency", "ms each", "latency_s", Align::right},
                     {"Latency", "ms all", "total_latency_s", Align::right},
                     {"Energy", "mJ all", "total_energy_j", Align::right},
                     {"Weights", "MB", "weight_bytes", Align::right}};
    std::vector<std::string> notes;
    for (const ResultPart& part : result.parts) {
        const Result& r = *part.result;
        const Estimate& e = r.estimate;
        std::vector<Cell> row{{part.name},
                              {format_number(part.repeat), part.repeat},
                              {format_count(r.model->parameters), r.model->parameters},
                              {format_count(r.model->macs), r.model->macs}};
        if (r.ok()) {
            row.push_back(scaled(e.latency_s, 1e-3));
            row.push_back(scaled(e.latency_s * part.repeat, 1e-3));
            row.push_back(scaled(value_or_nan(r, metric::energy) * part.repeat, 1e-3));
        } else {
            row.push_back({std::string(name_of(e.status)), {}, Tone::bad});
            row.insert(row.end(), 2, Cell{"-"});
            notes.push_back(fmt::format("{}: {}", part.name, e.reason));
        }
        row.push_back(scaled(e.memory.weight_bytes, 1e6));
        table.rows.push_back(std::move(row));
    }
    const Estimate& e = result.estimate;
    std::vector<Cell> total{{"total", {}, Tone::strong},
                            {"1", 1.0},
                            {format_count(result.model->parameters), result.model->parameters},
                            {format_count(result.model->macs), result.model->macs}};
    if (result.ok()) {
        total.push_back(scaled(e.latency_s, 1e-3));
        total.push_back(scaled(e.latency_s, 1e-3));
        total.push_back(scaled(value_or_nan(result, metric::energy), 1e-3));
    } else {
        total.insert(total.end(), 3, Cell{"-"});
    }
    total.push_back(scaled(e.memory.weight_bytes, 1e6));
    table.rows.push_back(std::move(total));
    table.notes = std::move(notes);
    return table;
}

} // namespace archsim
