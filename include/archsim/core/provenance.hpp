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
/// Names of its values.
template <>
struct NamesOf<SourceKind> {
    static constexpr std::array<std::string_view, 7> all = {"datasheet", "paper", "measured", "derived",
                                                            "fitted",    "tuned", "assumed"};
};

/// A citation.
struct Source {
    SourceKind kind = SourceKind::assumed;
    std::string cite;
};

/// Whether an estimate may be named first: measurements stand behind it, none was made of its kind, some
/// refute it, or it leaves a part of the network out.
enum class Standing : std::uint8_t { leads, projected, refuted, incomplete };
/// Names of its values.
template <>
struct NamesOf<Standing> {
    static constexpr std::array<std::string_view, 4> all = {"measured", "projected", "refuted", "incomplete"};
};

/// Why something may not be named first.
struct Doubt {
    Standing standing = Standing::leads;
    std::string why; ///< in words without a period; empty where it may
    /// True where it may be named first.
    bool empty() const { return standing == Standing::leads; }
    /// "projected: no comparable device was measured on this stack".
    std::string text() const {
        return empty() ? why : std::string(name_of(standing)).append(": ").append(why);
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
