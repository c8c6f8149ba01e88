#pragma once
// Where a number comes from. Every fact of the hardware database and every fitted parameter carries this.

#include "archsim/core/names.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
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

/// A citation.
struct Source {
    SourceKind kind = SourceKind::assumed;
    std::string cite;
};

/// How measurements bear on an estimate: the chip was measured with such networks under this stack, others of
/// its generation or other networks were, none of its kind was, some refute it, or it leaves a part of the
/// network out.
enum class Standing : std::uint8_t { measured, related, projected, refuted, incomplete };
/// Whether an estimate of that standing may be named first.
constexpr bool leads(Standing standing) {
    return standing <= Standing::related;
}

/// Why something may not be named first.
struct Doubt {
    Standing standing = Standing::measured;
    std::string why;       ///< in words without a period; empty where it may
    std::string rows = {}; ///< of what refutes: "22 of 22 outside of their intervals"
    /// True where it may be named first.
    bool empty() const { return leads(standing); }
    /// "projected: no comparable device was measured on this stack".
    std::string brief() const {
        return empty() ? why : std::string(name_of(standing)).append(": ").append(why);
    }
    /// The same with the rows that say so, in parentheses.
    std::string text() const {
        return rows.empty() ? brief() : brief().append(" (").append(rows).append(")");
    }
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
