// One software stack: what it serves, fuses, costs and cannot run, with every number and source.

#include "answers/hardware/hardware_list.hpp"
#include "hardware/operator_rules.hpp"
#include "report/blocks/number_format.hpp"

#include <fmt/format.h>
#include <utility>

namespace archsim {

namespace {

std::vector<std::string> fused(const FusionPolicy& fusion, bool wanted) {
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
    std::vector<std::string> names;
    for (const auto& [does, name] : parts)
        if (does == wanted)
            names.emplace_back(name);
    return names;
}

std::string generations_text(const std::vector<std::string>& generations) {
    return generations.empty() ? std::string() : fmt::format("on {}: ", joined(generations));
}

/// " (on ethos-u, stride above 2)".
std::string conditions_text(const OperatorRule& rule) {
    std::vector<std::string> parts;
    if (!rule.generations.empty())
        parts.push_back("on " + joined(rule.generations));
    for (const OperatorCondition& condition : rule.when)
        parts.push_back(condition.text());
    return parts.empty() ? std::string() : fmt::format(" ({})", joined(parts));
}

std::string fallback_text(const Runtime& stack) {
    switch (stack.fallback) {
    case Fallback::none:
        return "none: the network is refused";
    case Fallback::host:
        return "the host processor, with a transfer each way";
    case Fallback::vector:
        return "the vector engine";
    }
    return {};
}

std::string cold_start_text(const Runtime& stack) {
    if (!stack.compile_base.known() || !stack.compile_per_operator.known())
        return "unknown";
    return fmt::format("{} s + {} s per operator to build, then the weights over the host link ({})",
                       format_number(stack.compile_base.value),
                       format_number(stack.compile_per_operator.value),
                       name_of(stack.compile_base.source->kind));
}

} // namespace

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
    Report report;
    report.title = stack.name;
    report.blocks.push_back(Heading{1, stack.name});
    report.blocks.push_back(Takeaway{verdict_lines(sheet)});
    Facts facts;
    const auto add = [&](std::string name, std::string value) {
        facts.items.push_back({std::move(name), value.empty() ? std::string("-") : std::move(value)});
    };
    std::vector<std::string> formats;
    for (const Precision precision : stack.precisions)
        formats.emplace_back(name_of(precision));
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
            add("Takes", fmt::format("{}{}", generations_text(list.generations), joined(list.operators)));
        if (stack.rules->rest_follows)
            add("Leaves too", stack.rules->rest_because);
    }
    add("8-bit kernels for", joined(stack.integer_operators));
    add("8-bit on one thread", joined(stack.one_thread_operators));
    add("Falls back to", fallback_text(stack));
    add("Cold start", cold_start_text(stack));
    add("Measured with", stack.check.command.empty() ? stack.check.why_not : stack.check.command);
    add("File", stack.file);
    report.blocks.push_back(std::move(facts));
    report.blocks.push_back(fact_table(
        sheet.facts, [](const std::string& pointer) { return joined(pointer_steps(pointer), " / "); }));
    if (!stack.notes.empty())
        report.blocks.push_back(Bullets{stack.notes});
    return report;
}

} // namespace archsim
