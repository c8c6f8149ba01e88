// The profile of a graph as report blocks: facts, a table by type, the module tree, the largest operators.

#include "answers/profile/graph_profile.hpp"

#include "ops/given_values.hpp"
#include "ops/uncounted.hpp"
#include "report/blocks/cells.hpp"
#include "report/blocks/finding_text.hpp"
#include "report/blocks/name_pattern.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/precision_text.hpp"
#include "report/blocks/shape_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace archsim {

namespace {

std::vector<Column> sum_columns() {
    return {{"MACs", "", "macs", Align::right},
            {"Operations", "", "operations", Align::right},
            {"Parameters", "", "parameters", Align::right, 1},
            {"Weights", "read", "weight_bytes", Align::right, 3},
            {"Activations", "read + written", "activation_bytes", Align::right, 2},
            {"Intensity", "ops/byte", "operations_per_byte", Align::right, 1}};
}

/// Six cells; "?" where nothing is known, ">" where a part is.
void append_sums(std::vector<Cell>& row, const ProfileSums& sums) {
    const auto add = [&](double value, const std::string& text) {
        if (sums.unknown > 0 && (value == 0 || sums.unknown == sums.operators))
            row.push_back({"?"});
        else if (sums.unknown > 0)
            row.push_back({"> " + text});
        else
            row.push_back({value > 0 ? text : "-", value});
    };
    add(sums.macs, format_count(sums.macs));
    add(sums.operations, format_count(sums.operations));
    add(sums.parameters, format_count(sums.parameters));
    add(sums.weight_bytes, format_bytes(sums.weight_bytes));
    add(sums.activation_bytes, format_bytes(sums.activation_bytes));
    if (sums.unknown > 0)
        row.push_back({"?"});
    else
        add(sums.intensity(), format_number(sums.intensity()));
}

template <typename... Leading>
Table table_with_sums(std::string title, Leading... leading) {
    Table table;
    table.title = std::move(title);
    table.columns = {std::move(leading)...};
    for (Column& column : sum_columns())
        table.columns.push_back(std::move(column));
    return table;
}

Table type_table(const GraphProfile& profile) {
    Table table = table_with_sums("By operator type", Column{"Type", "", "type"},
                                  Column{"Count", "", "count", Align::right},
                                  Column{"Share", "of ops", "share", Align::right, 1});
    for (const TypeProfile& type : profile.types) {
        std::vector<Cell> row{{type.type}, {fmt::format("{:.0f}", type.sums.operators), type.sums.operators}};
        if (profile.totals.unknown > 0) {
            row.push_back({"?"});
        } else {
            const double share =
                profile.totals.operations > 0 ? type.sums.operations / profile.totals.operations : 0;
            row.push_back(share_cell(share));
        }
        append_sums(row, type.sums);
        table.rows.push_back(std::move(row));
    }
    return table;
}

Table module_table(const GraphProfile& profile, int depth) {
    Table table = table_with_sums("By module", Column{"Module", "", "module"},
                                  Column{"Operators", "", "operators", Align::right, 2});
    for (const ModuleProfile& module : profile.modules) {
        if (module.depth > depth)
            continue;
        std::vector<Cell> row{{std::string(2 * static_cast<std::size_t>(module.depth), ' ') + module.name},
                              {fmt::format("{:.0f}", module.sums.operators), module.sums.operators}};
        append_sums(row, module.sums);
        table.rows.push_back(std::move(row));
    }
    return table;
}

double key_of(const ProfileSums& sums, ProfileOrder order) {
    switch (order) {
    case ProfileOrder::operations:
        return sums.operations;
    case ProfileOrder::macs:
        return sums.macs;
    case ProfileOrder::bytes:
        return sums.bytes();
    case ProfileOrder::parameters:
        return sums.parameters;
    case ProfileOrder::intensity:
        return sums.intensity();
    case ProfileOrder::graph:
        break;
    }
    return 0; // all alike: the order of the graph stays
}

/// Operators whose names differ in numbers alone, of one type and shape.
struct OperatorGroup {
    std::vector<std::string> names;
    const OperatorProfile* first;
    ProfileSums sums;
};

/// Each of its own where they are not to stand `together`.
std::vector<OperatorGroup> operator_groups(const GraphProfile& profile, bool together) {
    std::vector<OperatorGroup> groups;
    std::map<std::string, std::size_t> known;
    for (const OperatorProfile& item : profile.operators) {
        const std::string key =
            !together ? std::string()
                      : fmt::format("{} {} {} {} {}", item.op->type, name_shape(item.op->name),
                                    item.sums.operations, item.sums.bytes(), item.sums.parameters);
        const auto [at, fresh] = known.try_emplace(key, groups.size());
        if (fresh || !together) {
            at->second = groups.size();
            groups.push_back({{}, &item, {}});
        }
        groups[at->second].names.push_back(item.op->name);
        groups[at->second].sums += item.sums;
    }
    return groups;
}

Table operator_table(const GraphProfile& profile, const GraphProfileView& view) {
    const bool together = view.top > 0 && view.order != ProfileOrder::graph;
    std::vector<OperatorGroup> groups = operator_groups(profile, together);
    std::stable_sort(groups.begin(), groups.end(), [&](const OperatorGroup& a, const OperatorGroup& b) {
        return key_of(a.sums, view.order) > key_of(b.sums, view.order);
    });
    std::string title = view.order == ProfileOrder::graph
                            ? std::string("Operators")
                            : fmt::format("Operators by {}", name_of(view.order));
    if (const auto top = static_cast<std::size_t>(std::max(0, view.top)); top > 0 && top < groups.size()) {
        title += fmt::format(", the first {} of {}{}", top, groups.size(), together ? " kinds" : "");
        groups.erase(groups.begin() + view.top, groups.end());
    }
    Table table = table_with_sums(std::move(title), Column{"Operator", "", "name"},
                                  Column{"Type", "", "type"}, Column{"Inputs", "", "inputs", Align::left, 2},
                                  Column{"Outputs", "", "outputs", Align::left, 1});
    for (const OperatorGroup& group : groups) {
        const Operator& op = *group.first->op;
        std::vector<Cell> row{{group.names.size() == 1
                                   ? op.name
                                   : fmt::format("{} x {}", group.names.size(), common_name(group.names))},
                              {op.type},
                              {shapes_text(*profile.graph, activations_of(*profile.graph, op))},
                              {shapes_text(*profile.graph, op.outputs)}};
        append_sums(row, group.sums);
        table.rows.push_back(std::move(row));
    }
    return table;
}

Table tensor_table(const ShapedGraph& graph) {
    Table table;
    table.title = "Tensors";
    table.columns = {{"Tensor", "", "tensor"},
                     {"Type", "", "type"},
                     {"Shape", "", "shape"},
                     {"Role", "", "role", Align::left, 1},
                     {"Size", "", "bytes", Align::right, 1}};
    bool bounded = false;
    for (const ShapedTensor& tensor : graph.tensors) {
        const double bytes = tensor.elements() * tensor.stored_bits() / 8;
        std::string role = tensor.role == TensorRole::input         ? "input"
                           : tensor.role == TensorRole::initializer ? "initializer"
                           : tensor.constant                        ? "constant"
                                                                    : "computed";
        bounded |= tensor.data_dependent;
        table.rows.push_back({{tensor.name},
                              {std::string(name_of(tensor.type))},
                              {shape_text(tensor) + (tensor.data_dependent ? " *" : "")},
                              {std::move(role)},
                              tensor.known ? Cell{format_bytes(bytes), bytes} : Cell{"?"}});
    }
    if (bounded)
        table.notes.push_back("* depends on data at run time: an upper bound, or the size given with --dim");
    return table;
}

Facts summary(const GraphProfile& profile, bool totals_known) {
    Facts facts;
    const auto add = [&](const char* name, std::string value) {
        facts.items.push_back({name, std::move(value)});
    };
    if (std::string dims = sizes_text(profile.graph->dims); !dims.empty())
        add("Sizes", std::move(dims));
    add("Operators", fmt::format("{} at run time, {} folded", profile.operators.size(),
                                 profile.graph->operators.size() - profile.operators.size()));
    const ProfileSums& totals = profile.totals;
    if (!profile.precisions.empty())
        add("Precision", precision_text(profile.precisions));
    if (!totals_known) {
        add("Totals", "withheld: a part of the model is not understood (see the findings)");
        return facts;
    }
    const std::string mark = profile.complete ? "" : " (incomplete)";
    add("Parameters", format_count(profile.graph->parameters()) + mark);
    const std::string widths = weight_text(weight_mix(*profile.graph));
    add("Weights",
        format_bytes(profile.stored_weight_bytes) + (widths.empty() ? "" : " (" + widths + ")") + mark);
    add("Multiply-accumulates", fmt::format("{} ({} operations){}", format_count(totals.macs),
                                            format_count(totals.operations), mark));
    add("Activation traffic", format_bytes(totals.activation_bytes) + " unfused" + mark);
    add("Arithmetic intensity", format_number(totals.intensity()) + " operations per byte" + mark);
    return facts;
}

/// Size and work in a line, and the operator that does most of it.
Takeaway profile_takeaway(const GraphProfile& profile, bool totals_known) {
    if (const auto sizes = sizes_wanted(profile.graph->findings); !totals_known && !sizes.empty())
        return {{fmt::format("{}: needs {}, for example {}.", profile.name,
                             sizes.size() == 1 ? "a size" : "sizes", fmt::join(sizes, " "))}};
    if (!totals_known)
        return {
            {fmt::format("{}: a part of the model is not understood; the findings say which.", profile.name),
             fmt::format("Of it {}.", uncounted_text(*profile.graph))}};
    const ProfileSums& totals = profile.totals;
    Takeaway takeaway{
        {fmt::format("{}: {} multiply-accumulates, {} parameters in {}, {} operators.", profile.name,
                     format_count(totals.macs), format_count(profile.graph->parameters()),
                     format_bytes(profile.stored_weight_bytes), profile.operators.size())}};
    if (!profile.complete)
        takeaway.lines.insert(takeaway.lines.begin(),
                              fmt::format("Incomplete: {}.", uncounted_text(*profile.graph)));
    const auto most = std::max_element(
        profile.types.begin(), profile.types.end(),
        [](const TypeProfile& a, const TypeProfile& b) { return a.sums.operations < b.sums.operations; });
    if (most != profile.types.end() && totals.operations > 0)
        takeaway.lines.push_back(fmt::format(
            "{} does {} of the operations; {} operations per byte unfused.", most->type,
            format_percent(most->sums.operations / totals.operations), format_number(totals.intensity())));
    return takeaway;
}

Bullets finding_list(const std::vector<Finding>& findings) {
    Bullets bullets;
    for (const FindingLine& line : finding_lines(findings))
        bullets.items.push_back(fmt::format("{}: {}", name_of(line.severity), line.text));
    return bullets;
}

} // namespace

Report describe(const GraphProfile& profile, const GraphProfileView& view, Format format) {
    Report report;
    report.title = "Graph profile: " + profile.name;
    const bool totals_known = profile.complete || view.allow_unknown;
    if (format == Format::csv) {
        GraphProfileView all = view;
        all.top = 0;
        report.blocks.emplace_back(operator_table(profile, all));
        return report;
    }
    report.blocks.emplace_back(Heading{1, report.title});
    report.blocks.emplace_back(profile_takeaway(profile, totals_known));
    report.blocks.emplace_back(summary(profile, totals_known));
    report.blocks.emplace_back(type_table(profile));
    if (view.depth > 0)
        report.blocks.emplace_back(module_table(profile, view.depth));
    report.blocks.emplace_back(operator_table(profile, view));
    if (view.tensors)
        report.blocks.emplace_back(tensor_table(*profile.graph));
    if (!profile.graph->findings.empty()) {
        report.blocks.emplace_back(Heading{2, "Findings"});
        report.blocks.emplace_back(finding_list(profile.graph->findings));
    }
    return report;
}

} // namespace archsim
