#pragma once
// Typed findings and errors. A finding is something the user should know or fix; several are collected and
// reported together. An Error is thrown when no result is possible; its class says what is off.
//
// Exceptions rather than a Result type: failures here are rare, carry a list of findings, and cross several
// layers unchanged; the hot path (estimating) reports failures as values (Estimate::status) instead.

#include "archsim/core/export.hpp"
#include "archsim/core/names.hpp"

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

enum class Severity { note, warning, error };

enum class FindingKind {
    unreadable_file,
    malformed_file,
    unknown_operator,
    unresolved_dimension,
    data_dependent_shape, ///< an upper bound or a user's value stands in for a run-time shape
    malformed_node,
    shape_conflict,
    too_large,
    unknown_key,
    wrong_unit,
    out_of_range,
    missing_field,
    inconsistent,
    duplicate,
    missing_source,
    unknown_name,
    unsupported,
};

/// Something the user should know or fix, with its place.
struct Finding {
    FindingKind kind = FindingKind::malformed_file;
    Severity severity = Severity::error;
    std::string message; ///< one sentence: what is wrong
    std::string file;    ///< file it was found in, when there is one
    std::string where;   ///< node name or JSON pointer
    std::string hint;    ///< what the user can do about it
    std::string op_type; ///< for operators
    std::string domain;
    int opset = 0;
    /// True where nothing can be made of what it is about.
    bool is_error() const { return severity == Severity::error; }
};

/// "file: where: message; hint" in one line.
ARCHSIM_API std::string to_string(const Finding& finding);

/// Base of everything this library throws on purpose.
class ARCHSIM_API Error : public std::runtime_error {
  public:
    /// An error that says `message`; `findings` are its causes, when there are several.
    explicit Error(const std::string& message, std::vector<Finding> findings = {});
    /// The causes, when there are several.
    const std::vector<Finding>& findings() const noexcept { return findings_; }

  private:
    std::vector<Finding> findings_;
};

/// A file, model, device or value given by the user cannot be used.
class ARCHSIM_API InputError : public Error {
  public:
    using Error::Error;
    /// An error with one cause.
    explicit InputError(const Finding& finding);
};

/// The command line or an API call is off.
class ARCHSIM_API UsageError : public Error {
  public:
    using Error::Error;
};

/// A result exists but a part is missing.
class ARCHSIM_API IncompleteError : public Error {
  public:
    using Error::Error;
};

} // namespace archsim
