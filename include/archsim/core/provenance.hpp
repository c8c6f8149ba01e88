#pragma once
// Where a number comes from. Every fact of the hardware database and every fitted parameter carries this.

#include "archsim/core/export.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace archsim {

/// `fitted`: by a recorded fit on published measurements; `tuned`: chosen with such measurements in view, by
/// hand or in a study whose fit is not recorded. Left-out predictions refit or revert both.
enum class SourceKind { datasheet, paper, measured, derived, fitted, tuned, assumed };
/// True where measurements of networks decided the number.
constexpr bool rests_on_measurements(SourceKind kind) {
    return kind == SourceKind::fitted || kind == SourceKind::tuned;
}
ARCHSIM_API std::string_view name_of(SourceKind kind);
ARCHSIM_API std::optional<SourceKind> parse_source_kind(std::string_view text);

/// A citation.
struct Source {
    SourceKind kind = SourceKind::assumed;
    std::string cite;
};

/// One number with its source. `value` is SI; NaN means unknown, which is never the same as zero.
struct Fact {
    double value = std::numeric_limits<double>::quiet_NaN();
    std::shared_ptr<const Source> source; ///< null only when unknown
    std::string note;                     ///< optional remark of the database entry
    int fitted_n = 0;                     ///< measurements behind a fitted value
    double fitted_error = 0.0;            ///< relative error of that fit

    /// False where nobody states the value.
    bool known() const { return !std::isnan(value); }
    /// The value, or `fallback` where it is unknown.
    double value_or(double fallback) const { return known() ? value : fallback; }
};

} // namespace archsim
