#include "report/blocks/result_text.hpp"
#include "core/text.hpp"
#include "hardware/parameter_site.hpp"

#include "core/lists.hpp"
#include "ops/given_values.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/shape_text.hpp"
#include "report/blocks/subgraph_table.hpp"
#include "result/bound_shares.hpp"
#include "result/duty_cycle.hpp"
#include "result/generation_metrics.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <tuple>

namespace archsim {

std::string counted(std::string name, const Result& result) {
    const double devices = result.generation ? result.generation->devices
                                             : std::max(result.devices(), result.conditions.devices);
    return devices > 1 ? fmt::format("{} x{:.0f}", name, devices) : name;
}

/// How several devices share the model of a result.
static std::string sharing_text(const Result& result) {
    if (!result.generation)
        return "which share every layer";
    return result.generation->devices > result.devices()
               ? "each with some of the layers (split by tensors: --parallel tp)"
               : "which share every layer (split by tensors; by layers: --parallel pp)";
}

std::string status_words(const Estimate& estimate) {
    return estimate.status == Status::does_not_fit ? "out of memory" : std::string(status_text(estimate));
}

std::string hardware_label(const Result& result) {
    if (!result.device)
        return counted(result.hardware, result);
    // A chip in a computer is another thing to buy and to feed than the chip: it keeps the words asked.
    const bool inside = result.device->in_computer;
    const std::string name =
        inside ? result.hardware.substr(0, result.hardware.find('@')) : result.device->id;
    return counted(result.power_mode.empty() ? name : fmt::format("{}@{}", name, result.power_mode), result);
}

std::vector<std::string> hardware_labels(std::span<const Result> results, bool with_stacks) {
    auto labels = mapped(results, [](const Result& result) { return hardware_label(result); });
    const auto key = [&](std::size_t i) {
        return std::pair(results[i].model ? results[i].model->name : std::string(), labels[i]);
    };
    std::map<std::pair<std::string, std::string>, std::set<std::string>> stacks; // of rows of one device
    for (std::size_t i = 0; i < results.size(); ++i)
        stacks[key(i)].insert(runtime_label(results[i]));
    std::vector<bool> of_stacks = mapped(
        indices(results.size()), [&](std::size_t i) { return with_stacks && stacks[key(i)].size() > 1; });
    for (std::size_t i = 0; i < results.size(); ++i)
        if (of_stacks[i])
            labels[i] += " under " + runtime_label(results[i]);
    std::map<std::pair<std::string, std::string>, std::set<std::string>> formats; // of rows of one device
    for (std::size_t i = 0; i < results.size(); ++i)
        formats[key(i)].insert(precision_name(results[i].conditions.precision));
    auto several = mapped(indices(results.size()), [&](std::size_t i) { return formats[key(i)].size() > 1; });
    for (std::size_t i = 0; i < results.size(); ++i)
        if (several[i])
            labels[i] += " in " + precision_name(results[i].conditions.precision);
    return labels;
}

std::string family_label(const Result& result) {
    return result.device ? std::string(title_of(result.device->family)) : "?";
}

std::string runtime_label(const Result& result) {
    return result.runtime ? result.runtime->id : result.conditions.stack;
}

std::string precision_name(const PrecisionConfig& c) {
    if (c == PrecisionConfig::uniform(c.compute) || (c.weights == c.compute && c.activations == c.compute))
        return std::string(name_of(c.compute));
    if (c.weights != c.activations && is_integer(c.weights)) // of integers what is multiplied, not stored
        return fmt::format("w{}a{}", bits_of(c.weights),
                           bits_of(is_integer(c.compute) ? c.compute : c.activations));
    if (c.weights == c.activations)
        return fmt::format("{} ({} stored)", name_of(c.compute), name_of(c.weights));
    return fmt::format("{} ({} weights, {} activations)", name_of(c.compute), name_of(c.weights),
                       name_of(c.activations));
}

std::string precision_label(const Result& result) {
    return marked(precision_name(result.estimate.executed), MarkedCell::precision, result);
}

std::string with_interval(const Metric& given, const Result& result, const CostOptions& conditions) {
    const Metric& metric = readable(given, std::span(&result, 1), conditions);
    const auto measure = measure_of(result, metric, conditions);
    if (!measure)
        return "-";
    const std::string& unit = axis_unit_of(metric);
    const std::string range = measure->interval.low == measure->interval.high
                                  ? std::string()
                                  : fmt::format(" ({})", interval_cell_of(metric, measure).text);
    return column_number(metric, measure->value) + range + (unit.empty() ? "" : " ") + unit;
}

std::map<std::string, int> operator_mix(const ModelFacts& model) {
    std::map<std::string, int> mix;
    for (const Operator& op : model.graph->operators)
        if (!op.folded && op.work.kind != OpKind::free)
            ++mix[std::string(name_of(op.work.kind))];
    return mix;
}

Facts model_facts(const ModelFacts& model, std::span<const Result> results) {
    Facts facts;
    facts.add("Parameters", format_count(model.parameters));
    const auto open = [](const Result& r) { return !sizes_wanted(r.estimate.findings).empty(); };
    if (std::ranges::any_of(results, open)) { // nothing is counted before
        facts.add("Multiply-accumulates", "unknown until all sizes are given");
        return facts;
    }
    facts.add("Multiply-accumulates",
              fmt::format("{} ({} operations)", format_count(model.macs), format_count(model.operations)));
    if (std::string dims = sizes_text(model.dims); !dims.empty())
        facts.add("Sizes", dims);
    if (is_quantized(*model.graph))
        facts.add("Quantised", fmt::format("{}; weights {}; what the file leaves open runs as asked",
                                           precision_text(precision_mix(*model.graph)),
                                           weight_text(weight_mix(*model.graph))));
    std::set<std::size_t> counts;
    for (const Result& r : results)
        if (r.partition)
            counts.insert(r.partition->subgraphs.size());
    if (!counts.empty())
        facts.add("Total Subgraphs", *counts.begin() == *counts.rbegin()
                                         ? fmt::format("{}", *counts.begin())
                                         : fmt::format("{} to {}, as the software stack fuses",
                                                       *counts.begin(), *counts.rbegin()));
    const auto partitioned =
        std::ranges::find_if(results, [](const Result& r) { return r.partition || !r.parts.empty(); });
    if (partitioned != results.end() && counts.empty()) {
        const double executed = sum_of(operation_shares(*partitioned), &OperationShare::subgraphs);
        facts.add("Total Subgraphs", fmt::format("{:.0f} executed, every step counted", executed));
    }
    if (partitioned != results.end())
        append(facts.items, subgraph_shares(*partitioned));
    if (counts.size() > 1)
        facts.add("Shares as fused for", hardware_label(*partitioned), 1);
    std::string operators;
    for (const auto& [kind, count] : operator_mix(model))
        operators += fmt::format("{}{} {}", operators.empty() ? "" : ", ", count, kind);
    if (!operators.empty())
        facts.add("Operators", operators);
    return facts;
}

std::vector<const Engine*> running_engines(const Result& result) {
    std::vector<const Engine*> engines;
    if (!result.ok() || !result.device)
        return engines;
    for (const EngineClass kind : {EngineClass::matrix, EngineClass::vector}) {
        for (const Engine& engine : result.device->engines)
            if (engine.kind == kind && uses(*result.runtime, engine) &&
                engine.rate(result.estimate.executed.compute).known())
                engines.push_back(&engine);
        if (!engines.empty())
            break; // where a matrix engine multiplies, the others do the rest
    }
    return engines;
}

/// "BF16 tiles, fp32 path": a name with its unit in the plural.
static std::string with_plural(std::string name, std::string_view unit) {
    const std::size_t at = unit.empty() ? std::string::npos : name.find(unit);
    if (at != std::string::npos)
        name.insert(at + unit.size(), "s");
    return name;
}

/// "179 INT8 tiles, 26 Matrix tiles": the kinds of units that multiply, where a device has several or not all
/// of them do; empty: all are alike.
static std::string kinds_of_units(const Result& result) {
    const auto& all = result.device->engines;
    const bool alike = std::ranges::all_of(all, [&](const Engine& engine) {
        return engine.unit != all.front().unit || engine.count == all.front().count;
    });
    const auto running = running_engines(result);
    if (alike || running.empty() || result.machine->units != all.front().count)
        return "";
    return joined(running, [&](const Engine* engine) {
        return fmt::format("{} {}", format_count(engine->count),
                           engine->count == 1 ? engine->name : with_plural(engine->name, engine->unit));
    });
}

/// "GH100 (hopper)": the die and its generation; one of them where they are the same name.
static std::string architecture_text(const Device& device) {
    if (device.codename.empty() || device.generation.empty())
        return device.codename.empty() ? device.generation : device.codename;
    const std::string codename = bare_name(device.codename), generation = bare_name(device.generation);
    // "Sapphire Rapids" and "sapphire-rapids" are one name; "GH100" is a die of the generation "hopper".
    return codename.find(generation) != std::string::npos || generation.find(codename) != std::string::npos
               ? device.codename
               : fmt::format("{} ({})", device.codename, device.generation);
}

/// "SMs" and "cores" of several; what ends in a size stays as it is written: "MMA 64x64 units".
static std::string counted_unit(const std::string& unit, double count) {
    if (count == 1 || unit.empty())
        return unit;
    const bool sized = unit.find_first_of("0123456789", unit.rfind(' ') + 1) != std::string::npos;
    return unit + (sized ? " units" : "s");
}

constexpr int kBriefPriority = 6; ///< of columns: money, carbon and products of other metrics are details

/// "110 MB at the peak: weights 102 MB, activations 7.23 MB planned (7.23 MB alive at most)".
static std::string memory_text(const MemoryEstimate& m, Detail detail) {
    std::string text = fmt::format("{} at the peak: weights {}, activations {}", format_bytes(m.peak_bytes),
                                   format_bytes(m.weight_bytes), format_bytes(m.activation_bytes));
    if (detail == Detail::all)
        text += fmt::format(" planned ({} alive at most)", format_bytes(m.live_bytes));
    if (m.kv_cache_bytes > 0)
        text += fmt::format(", KV cache {}", format_bytes(m.kv_cache_bytes));
    if (m.workspace_bytes > 0)
        text += fmt::format(", workspace {}", format_bytes(m.workspace_bytes));
    return text;
}

/// The metrics under "Performance": memory and utilisation have lines of their own.
static std::vector<const Metric*> performance_metrics(const Result& result, const MetricView& view,
                                                      Detail detail) {
    return kept(view.metrics->rows(), [&](const Metric* m) {
        return *m != metric::utilization && *m != metric::memory && measure_of(result, *m, view.conditions) &&
               !said_by_another(*m, std::span(&result, 1), view.conditions) &&
               (detail == Detail::all || m->priority <= kBriefPriority);
    });
}

static std::string limited_text(const Metric& m, const Estimate& e) {
    constexpr double kWholeClock = 0.9995; // shown as 100.0 %: of the pass that is shown, not the limited one
    if (m != metric::power || !e.power_limited)
        return "";
    return e.clock_ratio < kWholeClock
               ? fmt::format(" (at its limit: clock {})", format_percent(e.clock_ratio))
               : std::string(" (at its limit in a part)");
}

static std::string performance_title(const Metric& m) {
    return m == metric::energy             ? "Energy/inf"
           : m == metric::token_rate       ? "Output"
           : m == metric::total_token_rate ? "Output of the batch"
                                           : m.title;
}

/// The cost of one request beside its tokens: "prompt 10.4 J, answer 372 J".
static std::string request_text(const GenerationEstimate& g) {
    const double prompt = g.energy_first_token_j / g.batch;
    return fmt::format("prompt of {:.0f} tokens {} ({} each), answer of {:.0f} tokens {}", g.prompt_tokens,
                       format_energy(prompt), format_energy(g.energy_per_prompt_token_j()), g.generate_tokens,
                       format_energy(g.energy_per_request_j() - prompt));
}

/// "Latency 0.529 ms; Throughput 1891 FPS; Power 137 W; ...".
static std::string performance_line(const Result& result, const MetricView& view) {
    std::string text;
    for (const Metric* given : performance_metrics(result, view, Detail::brief)) {
        const Metric& m = readable(*given, std::span(&result, 1), view.conditions);
        const std::string& unit = axis_unit_of(m);
        text += fmt::format("{}{} {}{}{}{}", text.empty() ? "" : "; ", performance_title(*given),
                            column_number(m, value_of(result, m, view.conditions).value_or(0)),
                            unit.empty() ? "" : " ", unit, limited_text(*given, result.estimate));
    }
    return text;
}

static std::vector<NamedValue> bound_facts(const Result& result) {
    const Estimate& e = result.estimate;
    const auto time = bound_shares(result);
    const double total = std::max(1, e.compute_bound + e.memory_bound + e.overhead_bound);
    std::vector<NamedValue> bounds;
    for (const auto& [name, bound, count] : {std::tuple("Compute-bound", Bound::compute, e.compute_bound),
                                             std::tuple("Memory-bound", Bound::memory, e.memory_bound),
                                             std::tuple("Overhead-bound", Bound::overhead, e.overhead_bound)})
        bounds.push_back({name,
                          time ? fmt::format("{:.0f} % of the time, {:.0f} % of subgraphs",
                                             100 * time->of(bound), 100 * count / total)
                               : fmt::format("{:.0f} % of subgraphs", 100 * count / total),
                          1});
    return bounds;
}

static void add_performance(const Result& result, const MetricView& view, Detail detail, Facts& facts) {
    if (detail == Detail::brief) {
        facts.add("Performance", performance_line(result, view));
        return;
    }
    facts.add("Performance", "");
    for (const Metric* m : performance_metrics(result, view, detail))
        facts.add(performance_title(*m),
                  with_interval(*m, result, view.conditions) + limited_text(*m, result.estimate), 1);
    facts.add("Peak power", format_power(result.estimate.peak_power_w) + " in the subgraph that draws most",
              1);
}

Facts device_facts(const Result& result) {
    const Device& d = *result.device;
    Facts facts;
    facts.add("Architecture", architecture_text(d));
    if (result.machine && !d.engines.empty()) {
        std::string units = counted_unit(d.engines.front().unit, result.machine->units);
        if (!units.empty())
            units[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(units[0])));
        const std::string kinds = kinds_of_units(result);
        facts.add(std::move(units),
                  fmt::format("{} at {} GHz", kinds.empty() ? format_count(result.machine->units) : kinds,
                              format_number(result.machine->rate(Resource::matrix_cycles) / 1e9)));
    }
    if (d.dram)
        facts.add("Memory", fmt::format("{} {} ({}/s)", format_bytes(d.dram->capacity.value), d.dram->type,
                                        format_bytes(d.dram->bandwidth.value)));
    // The estimate is of all devices that share the network; what follows is of each.
    const double devices = result.generation ? result.generation->devices : result.devices();
    const std::string each = devices > 1 ? fmt::format("{:.0f} x ", devices) : std::string();
    if (devices > 1)
        facts.add("Devices", fmt::format("{:.0f}, {}", devices, sharing_text(result)));
    if (result.machine && result.machine->power_limit_w > 0)
        facts.add(result.power_mode.empty() ? "TDP" : "Power limit",
                  each + format_power(result.machine->power_limit_w));
    facts.add("Stack", result.runtime ? result.runtime->id : "-");
    return facts;
}

/// "Working 9.6 % of the time, 9.80 W; idle 2.50 W; average 3.20 W; 15.6 h on the battery".
static std::string duty_text(const DutyCycle& duty) {
    std::string text = fmt::format("Working {} of the time, {}", format_percent(duty.active_share),
                                   format_power(duty.work_w));
    if (duty.idle_w)
        text += fmt::format("; idle {}{}", format_power(*duty.idle_w), duty.sleeps ? "" : " awake");
    text += !duty.holds()    ? "; cannot keep up"
            : duty.average_w ? "; average " + format_power(*duty.average_w)
                             : "; idle power not known";
    return duty.battery_hours
               ? fmt::format("{}; {} on the battery", text, format_lasting(*duty.battery_hours))
               : text;
}

Facts performance_facts(const Result& result, const MetricView& view, Detail detail) {
    const Estimate& e = result.estimate;
    Facts facts;
    add_performance(result, view, detail, facts);
    if (const auto duty = stated_duty(result, view.conditions.power_at))
        facts.items.push_back({"At the rate", duty_text(*duty)});
    if (e.pieces > 1)
        facts.add("Batch", fmt::format("in up to {:g} pieces, one after another", e.pieces),
                  detail == Detail::all ? 1 : 0);
    const auto add = [&](const char* title, std::vector<NamedValue> items) {
        if (items.empty())
            return;
        facts.add(title, "");
        append(facts.items, std::move(items));
    };
    if (detail == Detail::brief)
        facts.add("Utilization", utilization_line(result));
    else {
        add("Utilization", utilization_facts(result));
        add("Time by operation", time_shares(result));
    }
    if (const auto time = bound_shares(result);
        time && detail == Detail::brief) // as the verdict speaks of it
        facts.add(
            "Bottleneck Distribution",
            fmt::format("Compute-bound {:.0f} % of the time; Memory-bound {:.0f} %; Overhead-bound {:.0f} %",
                        100 * time->compute, 100 * time->memory, 100 * time->overhead));
    else
        add("Bottleneck Distribution", bound_facts(result));
    if (result.generation)
        facts.add("Request", request_text(generation_at(result, view.conditions.power_at)));
    facts.add("Memory use", memory_text(e.memory, detail));
    return facts;
}

} // namespace archsim
