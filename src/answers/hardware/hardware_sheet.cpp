// One device with every number and source, and the outcome of a check, as report blocks.

#include "answers/hardware/hardware_list.hpp"

#include "answers/mapping/graph_mapping.hpp"
#include "core/lists.hpp"
#include "hardware/operator_rules.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/result_text.hpp"

#include <algorithm>
#include <fmt/ranges.h>

namespace archsim {

/// The unit of a file as people write it: "us" is µs, "mm2" mm², a plain number has none.
static std::string unit_text(const std::string& unit) {
    return unit == "us" ? "µs" : unit == "mm2" ? "mm²" : unit == "1" ? "" : unit;
}

static std::string source_text(const StatedFact& fact) {
    return (fact.cite.empty() ? "no source" : fact.cite) +
           fit_text(fact.fitted_n, fact.fitted_error, fact.note);
}

/// "/dram/bandwidth" -> {"dram", "bandwidth"}
static std::vector<std::string> pointer_steps(const std::string& pointer) {
    std::vector<std::string> steps;
    for (std::size_t at = 1; at <= pointer.size();) {
        const std::size_t next = std::min(pointer.find('/', at), pointer.size());
        steps.push_back(pointer.substr(at, next - at));
        at = next + 1;
    }
    return steps;
}

/// "/dram/bandwidth" -> "dram bandwidth"; array items by their name where they have one.
static std::string field_text(const std::string& pointer, const Device& device) {
    std::vector<std::string> steps = pointer_steps(pointer);
    const auto name_item = [&](const auto& items) {
        const auto index = static_cast<std::size_t>(std::stoul(steps[1]));
        if (index < items.size())
            steps[1] = items[index].name;
    };
    if (steps.size() > 1 && steps[0] == "engines")
        name_item(device.engines);
    else if (steps.size() > 1 && steps[0] == "memory")
        name_item(device.memory);
    else if (steps.size() > 1 && steps[0] == "power_modes")
        name_item(device.power_modes);
    return joined(steps, " / ");
}

static Facts identity_of(const Device& device, const std::string& mode) {
    Facts facts;
    const auto add = [&](std::string name, std::string value) {
        if (!value.empty())
            facts.add(std::move(name), std::move(value));
    };
    add("Name", device.name);
    add("Family", std::string(title_of(device.family)));
    add("Vendor", device.vendor);
    add("Architecture", device.codename);
    add("Generation", device.generation);
    add("Year", device.year > 0 ? std::to_string(device.year) : "");
    add("Aliases", joined(device.aliases));
    add("Power modes", joined(device.power_modes, [&](const PowerMode& candidate) {
            return candidate.name + (candidate.name == mode ? " (chosen)" : "");
        }));
    add("Software stacks", joined(device.runtimes));
    add("Default stack", device.default_runtime);
    add("Host processor", device.host);
    add("File", device.file);
    return facts;
}

/// Facts that a buyer or an estimate would like to know and the entry does not say.
static std::vector<std::string> not_stated(const Device& device) {
    std::vector<std::string> absent;
    const auto need = [&](bool stated, const char* what) {
        if (!stated)
            absent.emplace_back(what);
    };
    need(device.clock_base.known() || device.clock_boost.known(), "clocks");
    need(!device.memory.empty(), "on-chip memory");
    need(device.dram.has_value(), "DRAM");
    need(!device.dram || device.dram->achievable_fraction.known(), "achievable share of the DRAM bandwidth");
    need(device.tdp.known(), "power limit");
    need(device.idle.known(), "idle power");
    need(device.family.row().is_host || device.host_link_bandwidth.known() || !device.host_link_type.empty(),
         "host link");
    need(device.link_bandwidth.known(), "chip-to-chip bandwidth");
    const auto need_price = [&](const std::optional<Price>& price, const char* what) {
        if (price && !price->amount.known())
            absent.push_back(fmt::format("{} ({}, {})", what, price->amount.note, price->date));
        else
            need(price.has_value(), what);
    };
    need_price(device.list_price, "list price");
    need_price(device.cloud_price, "price per hour");
    return absent;
}

static Table peak_table(const Device& device) {
    struct Peak {
        EngineClass engines;
        Precision format;
        double ops_per_s;
    };
    const double bandwidth = device.dram ? device.dram->bandwidth.value_or(0) : 0;
    std::vector<Peak> peaks;
    for (const EngineClass kind : {EngineClass::matrix, EngineClass::vector, EngineClass::special})
        for (const Precision precision : kPrecisions)
            if (const double peak = device.peak(kind, precision); peak > 0)
                peaks.push_back({kind, precision, peak});
    return table_of<Peak>("Dense peaks: units x operations per clock x clock",
                          {{{"Engines", "", "engines"}, [](const Peak& p) { return name_of(p.engines); }},
                           {{"Format", "", "format"}, [](const Peak& p) { return name_of(p.format); }},
                           {most_best("Peak", "TOPS", "peak_ops_per_s"), 1e12, &Peak::ops_per_s},
                           {least_best("Ridge", "ops/byte", "ridge_ops_per_byte"), 1,
                            [=](const Peak& p) {
                                return bandwidth > 0 ? std::optional(p.ops_per_s / bandwidth) : std::nullopt;
                            }}},
                          peaks);
}

/// Every number with its source; `field` turns a JSON pointer into words.
static Table fact_table(const std::vector<StatedFact>& facts,
                        const std::function<std::string(const std::string& pointer)>& field) {
    Table table = table_of<StatedFact>(
        "Every number and where it comes from",
        {{{"Field", "", "field"}, [&](const StatedFact& fact) { return field(fact.where); }},
         {{"Value", "", "value", Align::right},
          [](const StatedFact& fact) {
              return Cell{fmt::format("{:g}", fact.value), fact.value};
          }},
         {{"Unit", "", "unit"}, [](const StatedFact& fact) { return text_cell(unit_text(fact.unit)); }},
         {{"Kind", "", "kind"},
          [](const StatedFact& fact) {
              return toned_cell(name_of(fact.kind),
                                fact.kind == SourceKind::assumed ? Tone::bad : Tone::plain);
          }},
         {{"Source", "", "source"}, source_text}},
        facts);
    const SourceCounts counts = count_sources(facts);
    table.notes.push_back(fmt::format("{} numbers: {}.", counts.total(), counts_text(counts)));
    return table;
}

// One software stack: what it serves, fuses, costs and cannot run, with every number and source.

static std::vector<std::string> fused(const FusionPolicy& fusion, bool wanted) {
    const std::pair<bool, const char*> parts[] = {
        {fusion.batch_norm, "batch normalisation"},
        {fusion.activation, "activations"},
        {fusion.gated_activation, "gated activations"},
        {fusion.residual_add, "residual additions"},
        {fusion.elementwise_chain, "element-wise chains"},
        {fusion.attention, "attention"},
        {fusion.concat_in_place, "concatenation in place"},
        {fusion.strided_views, "transposes read in place"},
        {fusion.strided_products, "batches of products read in place"},
        {fusion.normalization, "decomposed normalisation"},
        {fusion.attention && fusion.biased_attention, "biased attention"},
        {fusion.reduction_prologue, "producers of reductions"}};
    return mapped(kept(parts, [&](const auto& part) { return part.first == wanted; }),
                  [](const auto& part) { return std::string(part.second); });
}

/// " (on ethos-u, stride above 2)".
static std::string conditions_text(const OperatorRule& rule) {
    std::vector<std::string> parts;
    if (!rule.generations.empty())
        parts.push_back("on " + joined(rule.generations));
    for (const OperatorCondition& condition : rule.when)
        parts.push_back(condition.text());
    return parts.empty() ? std::string() : fmt::format(" ({})", joined(parts));
}

static std::string fallback_text(const Runtime& stack) {
    return stack.fallback == Fallback::none   ? "none: the network is refused"
           : stack.fallback == Fallback::host ? "the host processor, with a transfer each way"
                                              : "the vector engine";
}

static std::string cold_start_text(const Runtime& stack) {
    if (stack.compiled_before)
        return fmt::format("compiled before by {}{}, then the weights over the host link ({})",
                           stack.compiled_before->tool,
                           stack.compiled_before->generations.empty()
                               ? ""
                               : " (" + joined(stack.compiled_before->generations) + ")",
                           name_of(stack.compiled_before->build.source->kind));
    if (!stack.compile_base.known() || !stack.compile_per_operator.known())
        return "unknown";
    return fmt::format("{} s + {} s per operator to build, then the weights over the host link ({})",
                       format_number(stack.compile_base.value),
                       format_number(stack.compile_per_operator.value),
                       name_of(stack.compile_base.source->kind));
}

std::string joined(const std::vector<std::string>& names, std::string_view separator) {
    return fmt::format("{}", fmt::join(names, separator));
}

std::string counts_text(const SourceCounts& sources) {
    return joined(kSourceKinds, [&](SourceKind kind) {
        return sources[kind] > 0 ? fmt::format("{} {}", sources[kind], name_of(kind)) : std::string();
    });
}

Report describe(const DeviceSheet& sheet, PlainView, Format) {
    const Device& device = *sheet.choice.device;
    Report report{device.id, {}};
    add_blocks(report, Heading{1, device.id}, Takeaway{verdict_lines(sheet)},
               identity_of(device, sheet.choice.power_mode), peak_table(device));
    const auto field = [&](const std::string& pointer) { return field_text(pointer, device); };
    report.blocks.push_back(fact_table(sheet.facts, field));
    const std::string assumed = joined(sheet.facts, [&](const StatedFact& fact) {
        return fact.kind == SourceKind::assumed ? field(fact.where) : std::string();
    });
    if (!assumed.empty())
        report.blocks.push_back(Paragraph{"Assumed: " + assumed + "."});
    if (const auto absent = not_stated(device); !absent.empty())
        report.blocks.push_back(Paragraph{"Not stated: " + joined(absent) + "."});
    if (!device.notes.empty())
        report.blocks.push_back(Bullets{device.notes});
    for (const Finding& finding : device.findings)
        report.blocks.push_back(Paragraph{to_string(finding), Tone::bad});
    return report;
}

Report describe(const HardwareCheck& check, PlainView, Format) {
    Report report{"Check of " + check.path, {}};
    report.blocks.push_back(Takeaway{verdict_lines(check)});
    for (const Finding& finding : check.findings)
        report.blocks.push_back(
            Paragraph{fmt::format("{}: {}", name_of(finding.severity), to_string(finding)), Tone::bad});
    Facts facts;
    facts.add("Checked", check.path);
    if (check.devices > 0)
        facts.add("Devices", fmt::format("{}, {} numbers ({})", check.devices, check.device_sources.total(),
                                         counts_text(check.device_sources)));
    if (check.runtimes > 0)
        facts.add("Software stacks",
                  fmt::format("{}, {} numbers ({})", check.runtimes, check.runtime_sources.total(),
                              counts_text(check.runtime_sources)));
    facts.add("Findings", std::to_string(check.findings.size()));
    for (const Result& run : check.runs)
        facts.add(fmt::format("{} on {}", run.model->title, run.runtime->id),
                  fmt::format("{} in {}, {} of the peak", format_time(run.estimate.latency_s),
                              precision_name(run.estimate.executed),
                              format_percent(run.estimate.utilization)));
    report.blocks.push_back(std::move(facts));
    if (!check.runs.empty()) // how one layer lies on it, where no software decides
        add_slowest_subgraphs(check.runs.back(), 1, report);
    return report;
}

RuntimeSheet runtime_sheet(const HardwareDatabase& database, std::string_view name) {
    RuntimeSheet sheet;
    sheet.runtime = database.runtime(name);
    sheet.facts = database.runtime_facts(sheet.runtime->id);
    std::vector<Finding> elsewhere; // devices that cannot be read are not this question
    for (const auto& device : database.all_devices(elsewhere)) {
        if (!sheet.runtime->serves(*device))
            continue;
        sheet.devices.push_back(device->id);
        if (device->default_runtime == sheet.runtime->id)
            sheet.default_of.push_back(device->id);
    }
    return sheet;
}

Report describe(const RuntimeSheet& sheet, PlainView, Format) {
    const Runtime& stack = *sheet.runtime;
    Report report{stack.name, {}};
    add_blocks(report, Heading{1, stack.name}, Takeaway{verdict_lines(sheet)});
    Facts facts;
    const auto add = [&](std::string name, std::string value) {
        facts.add(std::move(name), value.empty() ? std::string("-") : std::move(value));
    };
    std::vector<std::string> formats =
        mapped(stack.precisions, [](const Precision precision) { return std::string(name_of(precision)); });
    for (const Precision precision : stack.weight_only)
        formats.push_back(fmt::format("{} (weights only)", name_of(precision)));
    add("Id", stack.id);
    add("What it is", stack.description);
    add("Aliases", joined(stack.aliases));
    add("Serves", fmt::format("{} devices: {}", sheet.devices.size(), joined(sheet.devices)));
    add("Default of", joined(sheet.default_of));
    add("Fuses", joined(fused(stack.fusion, true)));
    add("Does not fuse", joined(fused(stack.fusion, false)));
    for (const auto& [family, policy] : stack.fusion_by_family)
        add(fmt::format("Fuses on a {}", name_of(family)), joined(fused(policy, true)));
    add("Captured graphs", stack.graph_capture ? "yes: kernels start from the device" : "no");
    if (stack.autocast)
        add("16-bit floats", "automatic mixed precision: fp32 outside products");
    add("Formats", formats.empty() ? "all that the device has" : joined(formats));
    if (stack.rules) {
        for (const OperatorRule& rule : stack.rules->refused)
            add("Leaves",
                fmt::format("{}{}: {}", joined(rule.operators), conditions_text(rule), rule.because));
        for (const OperatorList& list : stack.rules->lists)
            add("Takes", (list.generations.empty() ? "" : fmt::format("on {}: ", joined(list.generations))) +
                             joined(list.operators));
        if (stack.rules->rest_follows)
            add("Leaves too", stack.rules->rest_because);
    }
    add("8-bit kernels for", joined(stack.integer_operators));
    add("8-bit on one thread", joined(stack.one_thread_operators));
    add("Falls back to", fallback_text(stack));
    add("Cold start", cold_start_text(stack));
    add("Measured with", stack.check.command.empty() ? stack.check.why_not : stack.check.command);
    add("File", stack.file);
    add_blocks(report, std::move(facts), fact_table(sheet.facts, [](const std::string& pointer) {
                   return joined(pointer_steps(pointer), " / ");
               }));
    if (!stack.notes.empty())
        report.blocks.push_back(Bullets{stack.notes});
    return report;
}

} // namespace archsim
