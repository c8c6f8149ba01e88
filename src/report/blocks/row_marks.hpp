#pragma once
// Signs beside a result in a table, and the note that explains each. A row of the table in row_marks.cpp is
// all that a new sign needs.

#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"
#include "result/ranking.hpp"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace archsim {

/// Where a sign stands.
enum class MarkedCell : std::uint8_t { none, hardware, precision };

/// A sign that some results carry.
struct RowMark {
    std::string_view sign; ///< "*"; empty: a note alone
    MarkedCell cell = MarkedCell::none;
    bool in_brackets = false; ///< its rank is in brackets: "(2)"
    /// The note under the table, after "SIGN NAME: "; empty where the result does not carry the sign.
    std::string (*note)(const Result& result);
    bool names_results = true; ///< false: the note holds for all that carry the sign, and names none
};

/// `text` with the signs that the result carries in that cell.
std::string marked(std::string text, MarkedCell cell, const Result& result);
/// "3", "3=" where tied, "(3)" where a mark says so.
std::string rank_text(const Rank& rank, const Result& result);
/// A value with the signs of its result: "(8.99)" of a projection, "11.6*" in another format than was asked
/// for.
std::string marked_value(std::string text, const Result& result);
/// Notes of the results of a table, equal ones once with all the names.
using MarkNotes = std::map<std::pair<std::size_t, std::string>, std::vector<std::string>>;
/// Adds the notes of a result, which the table calls `name`.
void add_mark_notes(const Result& result, const std::string& name, MarkNotes& notes);
/// "* A100, H100: asked fp32, ...", each of the column whose cells carry the sign.
std::vector<TableNote> lines_of(const MarkNotes& notes);
/// The same for a table of values, whose signs stand beside these, each name once.
std::vector<TableNote> value_lines_of(MarkNotes notes);
/// The same for a table without ranks: what brackets around a rank say names the results there.
std::vector<TableNote> unranked_lines_of(const MarkNotes& notes);

/// "A100, H100: needs 141 GB, the device has 80.0 GB"; results with an estimate are passed over. With a
/// model's name, "bert on A100, H100: ...", and "bert: ..." where every result has the same reason.
std::vector<std::string> failure_notes(const std::vector<const Result*>& results,
                                       const std::string& model = {});

/// "Coral-Edge-TPU: refuted: detectors were measured 2 to 4 times slower ...": of each device whose estimates
/// may not lead, once.
std::vector<std::string> doubt_lines(std::span<const Result> results);

// What is wrong with device files of one's own, beside the estimates made from them:
//
//   Warning: nano2.json: no power mode runs all 16 units, the largest runs 8: more units change nothing (one
//   of 6 findings; list_hardware_mappers --check nano2.json).

/// One sentence per device file with findings, in the order of the results; empty: all files are sound.
std::vector<std::string> device_warnings(std::span<const Result> results);

} // namespace archsim
