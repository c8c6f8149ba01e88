#pragma once
// The fields of a sizing beside its load and the question: limits on waiting, users, money, a row for each.
// size_service's flags, Python's keywords, the page and JSON requests are these rows.

#include "answers/sizing/size_service.hpp"
#include "fields/serving_fields.hpp"

#include <array>
#include <string_view>

namespace archsim {

using SizingField = Field<SizingRequest>;

/// Every field, in the order of the tool's help.
const FieldTable<SizingRequest>& sizing_fields();

/// Fields of a server that are found, or that a sizing has under its costs.
inline constexpr std::array<std::string_view, 5> kNotSized = {"warm_up", "prompt_devices", "prompt_parallel",
                                                              "pue", "grid_intensity"};

/// The texts that somebody gave for fields of a sizing.
/// @code
/// SizingTexts texts(Spelling::key);
/// ServingTexts load(Spelling::key);
/// texts.give("users", "200");
/// assert(texts.request(load).serving.load.prompt_tokens == 2000);
/// @endcode
class SizingTexts : public FieldTexts<SizingRequest> {
  public:
    /// `spelling`: how messages name fields.
    explicit SizingTexts(Spelling spelling);
    /// The request they make under a load. Throws UsageError for fields that cannot be together, and for
    /// those of the load that a sizing does not take.
    SizingRequest request(const ServingTexts& load) const;
};

} // namespace archsim
