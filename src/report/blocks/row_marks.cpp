#include "report/blocks/result_text.hpp"

#include "core/lists.hpp"
#include "report/blocks/verdict.hpp"

#include <algorithm>
#include <array>
#include <fmt/ranges.h>

namespace archsim {

constexpr std::array kMarks = {
    RowMark{"(rank)", MarkedCell::none, true,
            [](const Result& r) {
                const Estimate& e = r.estimate;
                return r.ok() && !may_lead(e) && e.uncounted.empty()
                           ? doubt_of(e).text() + "; excluded from the ranking"
                           : std::string();
            }},
    RowMark{"~", MarkedCell::hardware, false,
            [](const Result& r) {
                const Estimate& e = r.estimate;
                return r.ok() && !e.projected && !e.unlike.empty()
                           ? e.unlike + " on this stack and chip, others were: a wider interval"
                           : std::string();
            }},
    RowMark{"*", MarkedCell::precision, false,
            [](const Result& r) {
                return r.estimate.precision_note.empty()
                           ? std::string()
                           : fmt::format("{} requested; {}", precision_name(r.conditions.precision),
                                         r.estimate.precision_note);
            }},
    RowMark{"!", MarkedCell::hardware, true,
            [](const Result& r) {
                return r.ok() && !r.estimate.uncounted.empty()
                           ? fmt::format("incomplete, which --allow-unknown accepts, and not ranked: {}",
                                         r.estimate.uncounted)
                           : std::string();
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

static std::string column_of(const RowMark& mark) {
    return mark.in_brackets                     ? "rank"
           : mark.cell == MarkedCell::precision ? "executed_precision"
           : mark.cell == MarkedCell::hardware  ? "hardware"
                                                : "";
}

static std::string named(const std::vector<std::string>& names, const std::string& note) {
    return fmt::format("{}: {}", fmt::join(names, ", "), note);
}

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

std::string marked_value(std::string text, const Result& result) {
    for (const RowMark& mark : kMarks)
        if (!mark.note(result).empty())
            text = mark.in_brackets ? "(" + text + ")" : text + std::string(mark.sign);
    return text;
}

void add_mark_notes(const Result& result, const std::string& name, MarkNotes& notes) {
    for (std::size_t m = 0; m < kMarks.size(); ++m)
        if (std::string note = kMarks[m].note(result); !note.empty())
            notes[{m, std::move(note)}].push_back(name);
}

std::vector<TableNote> lines_of(const MarkNotes& notes) {
    std::vector<TableNote> lines;
    for (const auto& [what, names] : notes) {
        const RowMark& mark = kMarks[what.first];
        const std::string sign = mark.sign.empty() ? std::string() : std::string(mark.sign) + " ";
        lines.emplace_back(sign + (mark.names_results ? named(names, what.second) : what.second),
                           column_of(mark));
    }
    return lines;
}

std::vector<TableNote> value_lines_of(MarkNotes notes) {
    for (auto& [what, names] : notes)
        names.erase(std::unique(names.begin(), names.end()), names.end());
    std::vector<TableNote> lines = unranked_lines_of(notes);
    for (TableNote& line : lines)
        line.column.clear();
    return lines;
}

std::vector<TableNote> unranked_lines_of(const MarkNotes& notes) {
    std::vector<TableNote> lines = lines_of(notes);
    std::size_t line = 0;
    for (const auto& [what, names] : notes) {
        if (kMarks[what.first].in_brackets)
            lines[line] = TableNote(named(names, what.second));
        ++line;
    }
    return lines;
}

std::vector<std::string> failure_notes(const std::vector<const Result*>& results, const std::string& model) {
    NamesByText reasons;
    for (const Result* r : results)
        if (!r->ok())
            names_under(r->estimate.reason, reasons).push_back(hardware_label(*r));
    std::vector<std::string> notes;
    for (const auto& [reason, devices] : reasons) {
        const bool everywhere = !model.empty() && devices.size() == results.size() && devices.size() > 1;
        std::string who = model.empty() ? "" : model;
        if (!everywhere)
            who += (who.empty() ? "" : " on ") + names_text(devices);
        notes.push_back(who + ": " + reason);
    }
    return notes;
}

std::vector<std::string> doubt_lines(std::span<const Result> results) {
    std::vector<std::string> lines;
    for (const Result& r : results)
        if (const std::string doubt = r.ok() ? doubt_of(r.estimate).brief() : std::string(); !doubt.empty())
            if (std::string line = fmt::format("{}: {}.", hardware_label(r), doubt); !contains(lines, line))
                lines.push_back(std::move(line));
    return lines;
}

std::vector<std::string> device_warnings(std::span<const Result> results) {
    std::vector<std::string> lines;
    for (const Result& r : results) {
        if (!r.device || r.device->findings.empty())
            continue;
        const std::vector<Finding>& all = r.device->findings;
        // An edit of the units that no power mode runs changes nothing, which says more than the peak that is
        // off by the same edit.
        const auto mode = std::ranges::find(all, "/power_modes", &Finding::where);
        const Finding& f = mode == all.end() ? all.front() : *mode;
        std::string line = fmt::format(
            "Warning: {}: {}: {}{} (list_hardware_mappers --check {}).", r.device->file, f.where, f.message,
            all.size() > 1 ? fmt::format("; one of {} findings", all.size()) : std::string(), r.device->file);
        if (!contains(lines, line))
            lines.push_back(std::move(line));
    }
    return lines;
}

} // namespace archsim
