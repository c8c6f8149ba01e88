#include "report/blocks/row_marks.hpp"

#include "report/blocks/result_text.hpp"

#include <array>
#include <fmt/format.h>

namespace archsim {

namespace {

constexpr std::array kMarks = {
    RowMark{"(rank)", MarkedCell::none, true,
            [](const Result& r) {
                return r.estimate.projected
                           ? std::string("projected: neither this device nor its kind under this stack was "
                                         "measured; it counts for nobody's rank")
                           : std::string();
            },
            false},
    RowMark{"*", MarkedCell::precision, false,
            [](const Result& r) {
                return r.estimate.precision_note.empty()
                           ? std::string()
                           : fmt::format("asked {}, {}", precision_name(r.conditions.precision),
                                         r.estimate.precision_note);
            }},
    RowMark{"", MarkedCell::none, false,
            [](const Result& r) {
                return r.estimate.pieces > 1
                           ? fmt::format("runs the batch in up to {:g} pieces, whose activations stay on "
                                         "the chip longer",
                                         r.estimate.pieces)
                           : std::string();
            }},
};

} // namespace

std::string marked(std::string text, MarkedCell cell, const Result& result) {
    for (const RowMark& mark : kMarks)
        if (mark.cell == cell && !mark.note(result).empty())
            text += mark.sign;
    return text;
}

std::string rank_text(const Rank& rank, const Result& result) {
    std::string text = fmt::format("{}{}", rank.place, rank.tied ? "=" : "");
    for (const RowMark& mark : kMarks)
        if (mark.in_brackets && !mark.note(result).empty())
            return "(" + text + ")";
    return text;
}

void add_mark_notes(const Result& result, const std::string& name, std::set<std::string>& notes) {
    for (const RowMark& mark : kMarks)
        if (const std::string note = mark.note(result); !note.empty())
            notes.insert(mark.names_results
                             ? fmt::format("{}{}{}: {}", mark.sign, mark.sign.empty() ? "" : " ", name, note)
                             : fmt::format("{} {}", mark.sign, note));
}

} // namespace archsim
