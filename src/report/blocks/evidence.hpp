#pragma once
// What measurements say of an estimate, as the column and the key of every answer's rows: worded here alone.

#include "archsim/compare/result.hpp"
#include "report/blocks/columns.hpp"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace archsim {

inline constexpr const char* kEvidenceMeans =
    "measured: this chip with such networks under this stack; related: others of its generation, or other "
    "networks; projected, refuted, incomplete: not ranked";

/// "related"; empty without an estimate.
inline std::string_view evidence_text(std::optional<Standing> standing) {
    return standing ? name_of(*standing) : std::string_view();
}
/// Absent without an estimate.
inline std::optional<Standing> evidence_of(const Result& result) {
    return result.ok() ? std::optional(standing_of(result.estimate)) : std::nullopt;
}
inline std::optional<Standing> evidence_of(bool estimated, const Doubt& doubt) {
    return estimated ? std::optional(doubt.standing) : std::nullopt;
}

/// What refutes an estimate, with how many rows do; empty where nothing does.
inline std::string refuted_text(const Estimate& estimate) {
    return estimate.refuted_rows.empty() ? estimate.refuted
                                         : fmt::format("{} ({})", estimate.refuted, estimate.refuted_rows);
}

/// `standing` gives what evidence_text() takes of a row.
template <class Row, class Of>
ColumnOf<Row> evidence_column(Of standing, int priority = 2) {
    return {{"Basis", "", "evidence", Align::left, priority}, [standing](const Row& row) {
                const std::optional<Standing> of_row = std::invoke(standing, row);
                return Cell{std::string(evidence_text(of_row)),
                            {},
                            of_row && !leads(*of_row) ? Tone::muted : Tone::plain};
            }};
}
template <class Row, class Of>
Member<Row> evidence_member(Of standing) {
    return {"evidence", kEvidenceMeans, [standing](const Row& row) -> std::optional<std::string_view> {
                const std::optional<Standing> of_row = std::invoke(standing, row);
                return of_row ? std::optional(name_of(*of_row)) : std::nullopt;
            }};
}

} // namespace archsim
