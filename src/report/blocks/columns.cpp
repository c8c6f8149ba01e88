#include "report/blocks/columns.hpp"

#include "archsim/core/finding.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace archsim {

std::vector<std::string>& names_under(std::string_view text, NamesByText& all) {
    const auto known = std::ranges::find_if(all, [&](const auto& one) { return one.first == text; });
    return known != all.end() ? known->second : all.emplace_back(text, std::vector<std::string>()).second;
}

nlohmann::ordered_json json_of(const Cell& cell) {
    using Json = nlohmann::ordered_json;
    if (cell.value) {
        if (!std::isfinite(*cell.value))
            return nullptr;
        if (cell.kind == CellKind::flag)
            return *cell.value != 0;
        return cell.kind == CellKind::count ? Json(static_cast<std::int64_t>(*cell.value))
                                            : Json(*cell.value);
    }
    if (cell.interval)
        return nullptr;
    return cell.text.empty() && cell.kind != CellKind::text ? Json(nullptr) : Json(cell.text);
}

nlohmann::ordered_json schema_of(CellType type) {
    switch (type) {
    case CellType::text:
        return {{"type", "string"}};
    case CellType::name:
        return {{"type", {"string", "null"}}};
    case CellType::number:
        return {{"type", {"number", "null"}}};
    case CellType::count:
        return {{"type", {"integer", "null"}}};
    case CellType::number_or_word:
        return {{"type", {"number", "string", "null"}}};
    case CellType::flag:
        break;
    }
    return {{"type", {"boolean", "null"}}};
}

/// The column of that name: its heading, its key, or the beginning of one of them.
static std::size_t find_column(const Table& table, const std::string& name) {
    const std::string wanted = bare_name(name);
    const auto find = [&](const auto& is_it) {
        return static_cast<std::size_t>(std::ranges::find_if(table.columns, is_it) - table.columns.begin());
    };
    for (const std::size_t found :
         {find([&](const Column& c) { return bare_name(c.heading) == wanted || bare_name(c.key) == wanted; }),
          find([&](const Column& c) {
              return !wanted.empty() &&
                     (bare_name(c.key).starts_with(wanted) || bare_name(c.heading).starts_with(wanted));
          })})
        if (found < table.columns.size())
            return found;
    std::string names = joined(table.columns, [&](const Column& column) {
        return !column.heading.empty() ? column.heading : std::string();
    });
    throw UsageError(fmt::format("--sort: there is no column \"{}\"; there are {}", name, names));
}

/// The number that orders it: an interval's lower end.
static std::optional<double> number_of(const Cell& cell) {
    return !cell.value && cell.interval ? std::optional(cell.interval->low) : cell.value;
}

static void sort_rows(Table& table, std::size_t by) {
    const bool rising = table.columns[by].best == BestIs::least;
    const bool numbers =
        std::ranges::any_of(table.rows, [by](const auto& row) { return number_of(row[by]).has_value(); });
    std::ranges::stable_sort(table.rows, [&](const auto& a, const auto& b) {
        if (!numbers)
            return a[by].text < b[by].text;
        const auto x = number_of(a[by]), y = number_of(b[by]);
        if (!x || !y)
            return x.has_value() && !y.has_value();
        return rising ? *x < *y : *x > *y;
    });
}

static bool same_columns(const Table& a, const Table& b) {
    return std::equal(a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end(),
                      [](const Column& x, const Column& y) { return x.key == y.key; });
}

/// The report's first table, which takes in the rows of those that continue it; they go, with the headings
/// that set them apart.
static Table* joined_table(Report& report) {
    std::vector<Block> kept;
    std::optional<std::size_t> first;
    bool joined = false;
    for (Block& block : report.blocks) {
        Table* more = std::get_if<Table>(&block);
        if (more == nullptr || !first || !same_columns(std::get<Table>(kept[*first]), *more)) {
            if (more != nullptr && !first)
                first = kept.size();
            kept.push_back(std::move(block));
            continue;
        }
        if (std::holds_alternative<Heading>(kept.back()))
            kept.pop_back();
        Table& whole = std::get<Table>(kept[*first]);
        append(whole.rows, std::move(more->rows));
        whole.title.clear();
        joined = true;
    }
    report.blocks = std::move(kept);
    if (!first)
        return nullptr;
    const Heading* before = *first > 0 ? std::get_if<Heading>(&report.blocks[*first - 1]) : nullptr;
    if (joined && before != nullptr && before->level > 1)
        report.blocks.erase(report.blocks.begin() + static_cast<std::ptrdiff_t>(--*first));
    return &std::get<Table>(report.blocks[*first]);
}

void order_tables(Report& report, const TableOrder& order) {
    if (!order.asked())
        return;
    Table* const table = joined_table(report);
    if (table == nullptr)
        return;
    if (!order.column.empty())
        sort_rows(*table, find_column(*table, order.column));
    if (order.top > 0 && table->rows.size() > order.top) {
        table->notes.push_back(fmt::format("and {} more: --top 0 shows all", table->rows.size() - order.top));
        table->rows.resize(order.top);
    }
}

} // namespace archsim
