#include "answers/profile/graph_profile.hpp"

#include "core/lists.hpp"
#include "report/blocks/columns.hpp"
#include "report/render/answer_document.hpp"

#include <algorithm>
#include <tuple>

namespace archsim {

namespace {

std::string_view domain_name(const OperatorRow& row) {
    return row.domain.empty() ? std::string_view("ai.onnx") : row.domain;
}

std::vector<const OperatorRow*> by_domain(const OperatorRegistry& operators) {
    std::vector<const OperatorRow*> rows =
        mapped(operators.rows(), [](const OperatorRow& row) { return &row; });
    std::ranges::sort(rows, [](const OperatorRow* a, const OperatorRow* b) {
        return std::tuple(domain_name(*a), a->name) < std::tuple(domain_name(*b), b->name);
    });
    return rows;
}

using OperatorColumns = std::vector<ColumnOf<const OperatorRow*>>;

OperatorColumns operator_columns(bool with_domain) {
    using R = const OperatorRow*;
    constexpr CellType kText = CellType::text, kNumber = CellType::number;
    const auto cost = [](double ElementCost::*of) {
        return [of](R row) {
            const double value = row->cost.*of;
            return row->cost.vector > 0 || row->cost.special > 0 ? Cell{fmt::format("{}", value), value}
                                                                 : Cell{};
        };
    };
    OperatorColumns columns;
    if (with_domain)
        columns.emplace_back(
            Column{"Domain", "", "domain"}, [](R row) { return domain_name(*row); }, kText);
    append(
        columns,
        {{{"Operator", "", "name"}, [](R row) { return row->name; }, kText},
         {most_best("Since", "", "since"), [](R row) { return count_cell(true, row->since); },
          CellType::count, "first version of its domain that has it"},
         {{"Kind", "", "kind"}, [](R row) { return name_of(row->kind); }, kText, "what hardware has to do"},
         {{"Fusion", "", "fusion", Align::left, 1},
          [](R row) { return name_of(row->fusion); },
          kText,
          "how it may join its neighbours in one kernel"},
         {least_best("Vector", "", "vector_per_element", 2), cost(&ElementCost::vector), kNumber,
          "operations; null: no fixed number describes them"},
         {least_best("Special", "", "special_per_element", 2), cost(&ElementCost::special), kNumber,
          "exp, log, erf, roots, division, trigonometry"},
         {{"Meaning and count", "", "doc", Align::left, 3},
          [](R row) { return text_cell(std::string(row->doc)); },
          kText}});
    return columns;
}

AnswerDocument<OperatorRegistry> operators_document() {
    return {"operators",
            "operators that are understood",
            {{"newest_opset", "of ai.onnx", [](const OperatorRegistry&) { return kNewestOpset; }},
             {"operators", "", by_domain, members_of(operator_columns(true))}}};
}

} // namespace

Report describe(const OperatorRegistry& operators, PlainView, Format format) {
    const bool one_table = format == Format::csv;
    const auto rows = by_domain(operators);
    Report report{"Operators", {}};
    add_blocks(
        report, Heading{1, report.title},
        Paragraph{fmt::format("{} operators. Since is the first version of its domain that has the operator; "
                              "every later form is "
                              "read too, up to opset {} of ai.onnx. Kind is what hardware has to do; fusion "
                              "is how the operator "
                              "may join its neighbours in one kernel.",
                              rows.size(), kNewestOpset)},
        Paragraph{
            "Vector and special are the operations per element outside matrix products, where a fixed number "
            "describes them (special: exp, log, erf, square root, division, trigonometry). Elements are "
            "those of "
            "the output for elementwise kinds and of the input for reductions, normalisations and softmax. "
            "1 multiply-accumulate = 2 operations."});
    for (auto first = rows.begin(); first != rows.end();) {
        const auto last =
            one_table ? rows.end() : std::find_if(first, rows.end(), [&](const OperatorRow* row) {
                return domain_name(*row) != domain_name(**first);
            });
        if (!one_table)
            report.blocks.emplace_back(
                Heading{2, fmt::format("{} ({})", domain_name(**first), last - first)});
        report.blocks.emplace_back(table_of({}, operator_columns(one_table), std::vector(first, last)));
        first = last;
    }
    return report;
}

nlohmann::ordered_json operators_schema() {
    return operators_document().schema();
}

std::string to_json(const OperatorRegistry& operators, PlainView) {
    return operators_document().text(operators);
}

} // namespace archsim
