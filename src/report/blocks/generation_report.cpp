#include "report/blocks/ranking_table.hpp"

#include "core/lists.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "result/generation_metrics.hpp"
#include "result/memory_fit.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

namespace archsim {

/// A result with a prompt, its energies where power is taken.
struct GenerationRow {
    const Result* result = nullptr;
    GenerationEstimate generation;
};
using GenerationColumns = std::vector<ColumnOf<GenerationRow>>;

static bool has_generation_estimate(const GenerationRow& r) {
    return r.result->ok();
}

/// A number of every result with a prompt; unknown where it is not above zero.
template <class Of>
static ColumnOf<GenerationRow> generation_number(Column column, double unit, Of of) {
    return {std::move(column), unit,
            [of](const GenerationRow& r) { return positive(std::invoke(of, r.generation)); }};
}

/// A time and its interval, where the result has it.
static void add_time(GenerationColumns& columns, const char* heading, const std::string& key,
                     double GenerationEstimate::*time, Interval GenerationEstimate::*interval) {
    append(columns,
           where<GenerationRow>(has_generation_estimate,
                                {generation_number(least_best(heading, "ms", key + "_s"), 1e-3, time),
                                 {interval_column("90 %", "ms", key + "_low_s", key + "_high_s", 3),
                                  [time, interval](const GenerationRow& r) {
                                      const double value = r.generation.*time;
                                      const Interval& i = r.generation.*interval;
                                      return value > 0 ? interval_cell(1e-3, i.low, value, i.high) : Cell{};
                                  }}}));
}

static GenerationColumns generation_columns(bool serving) {
    using G = GenerationEstimate;
    GenerationColumns columns = {
        {{"Hardware", "", "hardware"}, [](const GenerationRow& r) { return hardware_label(*r.result); }},
        {least_best("Devices", "", "devices"),
         [](const GenerationRow& r) { return count_cell(true, r.generation.devices); }}};
    add_time(columns, "First token", "time_to_first_token", &G::time_to_first_token_s,
             &G::time_to_first_token_interval);
    auto& first = columns[columns.size() - 2].cell; // says why there is no estimate
    first = [shown = first](const GenerationRow& r) {
        return r.result->ok() ? shown(r) : Cell{status_words(r.result->estimate), {}, Tone::bad};
    };
    add_time(columns, "Per token", "time_per_output_token", &G::time_per_output_token_s,
             &G::time_per_output_token_interval);
    append(columns,
           where<GenerationRow>(
               has_generation_estimate,
               {generation_number(most_best("Per user", "tokens/s", "tokens_per_s_stream"), 1,
                                  &G::tokens_per_s_stream),
                generation_number(most_best("Total", "tokens/s", "tokens_per_s_total", 1), 1,
                                  &G::tokens_per_s_total),
                generation_number(least_best("Energy", "J/token", "energy_per_token_j"), 1,
                                  &G::energy_per_token_j),
                generation_number(least_best("Energy", "J/prompt token", "energy_per_prompt_token_j", 2), 1,
                                  &G::energy_per_prompt_token_j),
                generation_number(least_best("Energy", "J/request", "energy_per_request_j", 2), 1,
                                  &G::energy_per_request_j),
                generation_number(least_best("Power", "W/device", "power_per_device_w", 1), 1,
                                  &G::power_per_device_w),
                generation_number(least_best("Power", "W/replica", "power_w", 2), 1,
                                  [](const G& g) { return g.power_per_device_w() * g.devices; })}));
    append(columns,
           {generation_number(least_best("Weights", "GB", "weight_bytes"), 1e9, &G::weight_bytes),
            generation_number(least_best("KV cache", "GB", "kv_cache_bytes", 1), 1e9, &G::kv_cache_bytes),
            generation_number(least_best("Need/device", "GB", "memory_bytes_per_device", 1), 1e9,
                              &G::memory_bytes),
            generation_number(most_best("Has", "GB", "memory_capacity_bytes_per_device", 1), 1e9,
                              &G::memory_capacity_bytes)});
    if (serving)
        columns.push_back(generation_number(most_best("Serving", "tokens/s", "serving_tokens_per_s"), 1,
                                            [](const G& g) { return g.serving.tokens_per_s; }));
    columns.emplace_back(Column{"Stack", "", "runtime", Align::left, 2}, [](const GenerationRow& r) {
        return r.result->runtime ? r.result->runtime->id : std::string();
    });
    return columns;
}

/// Columns that a ranking of language models has.
static bool in_ranking(std::string_view key) {
    constexpr std::array kRanked = {"time_to_first_token_s",
                                    "time_to_first_token_low_s",
                                    "time_per_output_token_s",
                                    "time_per_output_token_low_s",
                                    "tokens_per_s_stream",
                                    "tokens_per_s_total",
                                    "energy_per_token_j",
                                    "power_w",
                                    "runtime"};
    return contains(kRanked, key);
}

/// How the columns are defined, each for its own.
static void add_definitions(const GenerationEstimate& g, std::vector<TableNote>& notes) {
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

/// A part with its executions, or the whole.
struct PartRow {
    std::string name;
    double times = 1;
    const Result* result = nullptr;
    bool whole = false;
};
using PartColumns = std::vector<ColumnOf<PartRow>>;

/// A number of the whole network, each time or of all executions.
static ColumnOf<PartRow> part_metric(const char* unit, const char* key, const Metric& metric,
                                     const CostOptions& conditions, bool each) {
    return {least_best(metric.title, unit, key), 1e-3, [&metric, conditions, each](const PartRow& row) {
                const auto value =
                    row.result->ok() ? value_of(*row.result, metric, conditions) : std::nullopt;
                return value ? std::optional(*value * (each ? 1 : row.times)) : std::nullopt;
            }};
}

static PartColumns part_columns(const CostOptions& conditions) {
    PartColumns columns = {
        {{"Part", "", "part"},
         [](const PartRow& row) {
             return Cell{row.name, {}, row.whole ? Tone::strong : Tone::plain};
         }},
        {least_best("Times", "", "repeat"), [](const PartRow& row) { return amount_cell(row.times); }},
        {least_best("Parameters", "", "parameters"),
         [](const PartRow& row) { return amount_cell(row.result->model->parameters); }},
        {least_best("MACs", "each", "macs"),
         [](const PartRow& row) { return amount_cell(row.result->model->macs); }},
        part_metric("ms each", "latency_s", metric::latency, conditions, true),
        part_metric("ms all", "total_latency_s", metric::latency, conditions, false),
        part_metric("mJ all", "total_energy_j", metric::energy, conditions, false),
        {least_best("Weights", "MB", "weight_bytes"), 1e6,
         [](const PartRow& row) { return row.result->estimate.memory.weight_bytes; }},
        {least_best("Peak", "MB", "peak_bytes"), 1e6,
         [](const PartRow& row) { return row.result->estimate.memory.peak_bytes; }}};
    constexpr std::size_t kFirstMetric = 4; // says why there is no estimate
    columns[kFirstMetric].cell = [shown = columns[kFirstMetric].cell](const PartRow& row) {
        const Result& r = *row.result;
        return r.ok() || row.whole ? shown(row) : Cell{status_words(r.estimate), {}, Tone::bad};
    };
    return columns;
}

/// A number of any estimate, as `of` gives it.
template <class Of>
static auto planned(Of of) {
    return [of](const ShownGeneration& s) { return std::invoke(of, s.estimate); };
}
/// One that is known with an estimate.
template <class Of>
static auto if_ok(Of of) {
    return [of](const ShownGeneration& s) { return known(s.ok, std::invoke(of, s.estimate)); };
}
/// One that is known where tokens are written one after another.
template <class Of>
static auto if_stepped(Of of) {
    return [of](const ShownGeneration& s) {
        return known(s.ok && s.estimate.time_per_output_token_s > 0, std::invoke(of, s.estimate));
    };
}
static auto low(Interval GenerationEstimate::*interval) {
    return [interval](const GenerationEstimate& g) { return (g.*interval).low; };
}
static auto high(Interval GenerationEstimate::*interval) {
    return [interval](const GenerationEstimate& g) { return (g.*interval).high; };
}

static Members<OffloadChoice> offload_members() {
    using O = OffloadChoice;
    return {
        {"part", "what is kept in host memory", &O::part},
        {"processor", "the host's, where it computes it", [](const O& o) { return nonempty(o.processor); }},
        {"bytes", "of each device", &O::bytes},
        {"time_per_output_token_low_s", "the link works beside everything else", &O::per_token_low_s},
        {"time_per_output_token_high_s", "all waits for the link", &O::per_token_high_s},
        {"time_to_first_token_low_s", "", &O::first_token_low_s},
        {"time_to_first_token_high_s", "", &O::first_token_high_s}};
}

static Members<SaturatedServing> saturated_members() {
    using S = SaturatedServing;
    return {{"sequences", "that run at once", &S::sequences},
            {"step_s", "one token for each, and the prompts of those that start", &S::step_s},
            {"tokens_per_s", "of all sequences", &S::tokens_per_s},
            {"tokens_per_s_low", "", [](const S& s) { return s.tokens_interval.low; }},
            {"tokens_per_s_high", "", [](const S& s) { return s.tokens_interval.high; }},
            {"energy_per_token_j", "", &S::energy_per_token_j}};
}

std::vector<TableNote> generation_notes(std::span<const Result> results) {
    std::vector<TableNote> notes;
    const auto first = std::ranges::find_if(results, [](const Result& r) { return !!r.generation; });
    if (first != results.end())
        add_definitions(*first->generation, notes);
    return notes;
}

Table generation_table(std::span<const Result> results, BesideRanking beside,
                       std::optional<PowerBoundary> power_at) {
    std::vector<GenerationRow> rows;
    std::vector<const Result*> shown;
    std::vector<std::string> notes;
    bool serving = false;
    for (const Result& r : results) {
        if (!r.generation)
            continue;
        rows.push_back({&r, generation_at(r, power_at)});
        shown.push_back(&r);
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
        append(table.notes, failure_notes(shown));
    append(table.notes, notes);
    append(table.notes, generation_notes(results));
    return table;
}

Table parts_table(const Result& result, const CostOptions& conditions) {
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
    Table table =
        table_of(fmt::format("Parts on {}", hardware_label(result)), part_columns(conditions), rows);
    table.notes.assign(notes.begin(), notes.end());
    return table;
}

Members<ShownGeneration> generation_members() {
    using G = GenerationEstimate;
    const auto capacity = [](const ShownGeneration& s) { return positive(s.estimate.memory_capacity_bytes); };
    return {
        {"prompt_tokens", "of each sequence", planned(&G::prompt_tokens)},
        {"generate_tokens", "of each sequence", planned(&G::generate_tokens)},
        {"batch_size", "sequences", planned(&G::batch)},
        {"devices", "", planned(&G::devices)},
        {"devices_needed", "that hold the model; null: none found",
         [](const ShownGeneration& s) { return positive(s.estimate.devices_needed); }},
        {"time_to_first_token_s", "", if_ok(&G::time_to_first_token_s)},
        {"time_to_first_token_low_s", "", if_ok(low(&G::time_to_first_token_interval))},
        {"time_to_first_token_high_s", "", if_ok(high(&G::time_to_first_token_interval))},
        {"time_per_output_token_s", "mean after the first", if_stepped(&G::time_per_output_token_s)},
        {"time_per_output_token_low_s", "", if_stepped(low(&G::time_per_output_token_interval))},
        {"time_per_output_token_high_s", "", if_stepped(high(&G::time_per_output_token_interval))},
        {"tokens_per_s_stream", "of one sequence", if_stepped(&G::tokens_per_s_stream)},
        {"tokens_per_s_total", "of all sequences", if_stepped(&G::tokens_per_s_total)},
        {"tokens_per_s_total_low", "", if_stepped(low(&G::tokens_per_s_total_interval))},
        {"tokens_per_s_total_high", "", if_stepped(high(&G::tokens_per_s_total_interval))},
        {"kv_cache_bytes", "at the end of the answer", planned(&G::kv_cache_bytes)},
        {"weight_bytes", "", planned(&G::weight_bytes)},
        {"memory_bytes_per_device", "", planned(&G::memory_bytes)},
        {"memory_capacity_bytes_per_device", "", capacity},
        {"fits", "null: the capacity is not known",
         [](const ShownGeneration& s) {
             const G& g = s.estimate;
             return g.memory_capacity_bytes > 0 ? std::optional(g.memory_bytes <= g.memory_capacity_bytes)
                                                : std::nullopt;
         }},
        {"energy_first_token_j", "", if_ok(&G::energy_first_token_j)},
        {"energy_per_token_j", "", if_stepped(&G::energy_per_token_j)},
        {"energy_per_token_low_j", "", if_stepped(low(&G::energy_per_token_interval))},
        {"energy_per_token_high_j", "", if_stepped(high(&G::energy_per_token_interval))},
        {"energy_per_prompt_token_j", "", if_ok(&G::energy_per_prompt_token_j)},
        {"energy_per_request_j", "", if_ok(&G::energy_per_request_j)},
        {"power_per_device_w", "", if_ok(&G::power_per_device_w)},
        {"power_w", "of all devices", if_ok([](const G& g) { return g.power_per_device_w() * g.devices; })},
        {"steps", "some of those that write a token", planned(&G::steps),
         Members<GenerationStep>{{"context", "tokens in the cache before the step", &GenerationStep::context},
                                 {"latency_s", "", &GenerationStep::latency_s},
                                 {"energy_j", "", &GenerationStep::energy_j}}},
        {"offload", "where the model is too large: what host memory could hold", planned(&G::offload),
         offload_members()},
        {"serving", "a server that always has requests waiting; null: not estimated",
         [](const ShownGeneration& s) {
             return s.estimate.serving.sequences > 0 ? &s.estimate.serving : nullptr;
         },
         saturated_members()}};
}

Members<ResultPart> part_members(const CostOptions& conditions) {
    using P = ResultPart;
    std::vector<Member<P>> measures;
    for (const MetricField& field : fields_of(MetricTable::standard()))
        if (*field.metric == metric::latency || *field.metric == metric::energy)
            measures.emplace_back(field.key(), meaning_of(field), [field, conditions](const P& p) {
                const auto measure = measure_of(*p.result, *field.metric, conditions);
                return known(measure.has_value(), measure ? field.of(*measure) : 0);
            });
    return Members<P>{
        {"name", "", &P::name},
        {"model", "", [](const P& p) { return p.result->model->name; }},
        {"repeat", "executions per inference", &P::repeat},
        {"parameters", "learned values", [](const P& p) { return p.result->model->parameters; }},
        {"macs", "multiply-accumulates; 1 = 2 operations", [](const P& p) { return p.result->model->macs; }},
        {"status", "", [](const P& p) { return status_text(p.result->estimate); }, result_status()},
        {"reason", "one sentence, empty when exactly as asked",
         [](const P& p) { return p.result->estimate.reason; }}}
        .with(Members<P>(std::move(measures)))
        .with({{"weight_bytes", "", [](const P& p) { return p.result->estimate.memory.weight_bytes; }},
               {"peak_bytes", "while this part runs: its weights, activations and workspace",
                [](const P& p) { return p.result->estimate.memory.peak_bytes; }},
               {"subgraphs", "null: not cut", [](const P& p) {
                    const auto& cut = p.result->partition;
                    return cut ? std::optional(cut->subgraphs.size()) : std::nullopt;
                }}});
}

} // namespace archsim
