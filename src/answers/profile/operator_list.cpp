#include "answers/profile/operator_list.hpp"

#include "report/render/answer_document.hpp"
#include "report/render/answer_schemas.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

namespace archsim {

namespace {

std::string_view domain_name(const OperatorRow& row) {
    return row.domain.empty() ? std::string_view("ai.onnx") : row.domain;
}

std::vector<const OperatorRow*> by_domain(const OperatorRegistry& operators) {
    std::vector<const OperatorRow*> rows;
    for (const OperatorRow& row : operators.rows())
        rows.push_back(&row);
    std::sort(rows.begin(), rows.end(), [](const OperatorRow* a, const OperatorRow* b) {
        return std::tuple(domain_name(*a), a->name) < std::tuple(domain_name(*b), b->name);
    });
    return rows;
}

/// Operations per element where a fixed number describes them.
Cell cost_cell(const ElementCost& cost, double value) {
    return cost.vector > 0 || cost.special > 0 ? Cell{fmt::format("{}", value), value} : Cell{};
}

Table empty_table(bool with_domain) {
    Table table;
    if (with_domain)
        table.columns.push_back({"Domain", "", "domain"});
    for (Column& column : std::vector<Column>{{"Operator", "", "name"},
                                              {"Since", "", "since", Align::right},
                                              {"Kind", "", "kind"},
                                              {"Fusion", "", "fusion", Align::left, 1},
                                              {"Vector", "", "vector_per_element", Align::right, 2},
                                              {"Special", "", "special_per_element", Align::right, 2},
                                              {"Meaning and count", "", "doc", Align::left, 3}})
        table.columns.push_back(std::move(column));
    return table;
}

std::vector<Cell> cells_of(const OperatorRow& row, bool with_domain) {
    std::vector<Cell> cells;
    if (with_domain)
        cells.push_back({std::string(domain_name(row))});
    cells.push_back({std::string(row.name)});
    cells.push_back({std::to_string(row.since), row.since});
    cells.push_back({std::string(name_of(row.kind))});
    cells.push_back({std::string(name_of(row.fusion))});
    cells.push_back(cost_cell(row.cost, row.cost.vector));
    cells.push_back(cost_cell(row.cost, row.cost.special));
    cells.push_back({std::string(row.doc)});
    return cells;
}

} // namespace

Report describe(const OperatorRegistry& operators, PlainView, Format format) {
    const bool one_table = format == Format::csv;
    const auto rows = by_domain(operators);
    Report report;
    report.title = "Operators";
    report.blocks.emplace_back(Heading{1, report.title});
    report.blocks.emplace_back(Paragraph{fmt::format(
        "{} operators. Since is the first version of its domain that has the operator; every later form is "
        "read too, up to opset {} of ai.onnx. Kind is what hardware has to do; fusion is how the operator "
        "may join its neighbours in one kernel.",
        rows.size(), kNewestOpset)});
    report.blocks.emplace_back(Paragraph{
        "Vector and special are the operations per element outside matrix products, where a fixed number "
        "describes them (special: exp, log, erf, square root, division, trigonometry). Elements are those of "
        "the output for elementwise kinds and of the input for reductions, normalisations and softmax. "
        "1 multiply-accumulate = 2 operations."});
    Table table = empty_table(one_table);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        table.rows.push_back(cells_of(*rows[i], one_table));
        const bool last = i + 1 == rows.size();
        if (!last && (one_table || domain_name(*rows[i]) == domain_name(*rows[i + 1])))
            continue;
        if (!one_table)
            report.blocks.emplace_back(
                Heading{2, fmt::format("{} ({})", domain_name(*rows[i]), table.rows.size())});
        report.blocks.emplace_back(std::exchange(table, empty_table(one_table)));
    }
    return report;
}

namespace {

AnswerDocument<OperatorRegistry> operators_document() {
    const auto cost = [](auto of) {
        return [of](const OperatorRow& row) { return cost_cell(row.cost, row.cost.*of).value; };
    };
    const Members<OperatorRow> row = {
        {"domain", "", [](const OperatorRow& r) { return domain_name(r); }},
        {"name", "", [](const OperatorRow& r) { return r.name; }},
        {"since", "first version of its domain that has it", [](const OperatorRow& r) { return r.since; }},
        {"kind", "what hardware has to do", [](const OperatorRow& r) { return name_of(r.kind); }},
        {"fusion", "how it may join its neighbours in one kernel",
         [](const OperatorRow& r) { return name_of(r.fusion); }},
        {"vector_per_element", "operations; null: no fixed number describes them",
         cost(&ElementCost::vector)},
        {"special_per_element", "exp, log, erf, roots, division, trigonometry", cost(&ElementCost::special)},
        {"doc", "", [](const OperatorRow& r) { return r.doc; }}};
    return {"operators",
            "operators that are understood",
            {{"newest_opset", "of ai.onnx", [](const OperatorRegistry&) { return kNewestOpset; }},
             {"operators", "", by_domain, row}}};
}

} // namespace

nlohmann::ordered_json operators_schema() {
    return operators_document().schema();
}

std::string to_json(const OperatorRegistry& operators, PlainView) {
    return operators_document().text(operators);
}

} // namespace archsim
