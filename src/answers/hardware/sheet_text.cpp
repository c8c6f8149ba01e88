#include "answers/hardware/sheet_text.hpp"

#include "report/blocks/columns.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_sources.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace archsim {

namespace {

/// The unit of a file as people write it: "us" is µs, "mm2" mm², a plain number has none.
std::string unit_text(const std::string& unit) {
    return unit == "us" ? "µs" : unit == "mm2" ? "mm²" : unit == "1" ? "" : unit;
}

std::string source_text(const StatedFact& fact) {
    return (fact.cite.empty() ? "no source" : fact.cite) +
           fit_text(fact.fitted_n, fact.fitted_error, fact.note);
}

} // namespace

std::string joined(const std::vector<std::string>& names, std::string_view separator) {
    return fmt::format("{}", fmt::join(names, separator));
}

std::string counts_text(const SourceCounts& sources) {
    std::string text;
    for (const SourceKind kind : kSourceKinds)
        if (sources[kind] > 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", sources[kind], name_of(kind));
    return text;
}

std::vector<std::string> pointer_steps(const std::string& pointer) {
    std::vector<std::string> steps;
    for (std::size_t at = 1; at <= pointer.size();) {
        const std::size_t next = std::min(pointer.find('/', at), pointer.size());
        steps.push_back(pointer.substr(at, next - at));
        at = next + 1;
    }
    return steps;
}

Table fact_table(const std::vector<StatedFact>& facts,
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
              return Cell{std::string(name_of(fact.kind)),
                          {},
                          fact.kind == SourceKind::assumed ? Tone::bad : Tone::plain};
          }},
         {{"Source", "", "source"}, source_text}},
        facts);
    const SourceCounts counts = count_sources(facts);
    table.notes.push_back(fmt::format("{} numbers: {}.", counts.total(), counts_text(counts)));
    return table;
}

} // namespace archsim
