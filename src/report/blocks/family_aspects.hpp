#pragma once
// What a family says of itself, in parts: its rows state "programmability: fixed function".

#include "archsim/hardware/family.hpp"

#include <string_view>

namespace archsim {

/// The aspect that every family states: how a new operator comes onto it.
inline constexpr std::string_view kProgrammability = "programmability";

/// One property of a family.
struct FamilyAspect {
    std::string_view aspect; ///< kProgrammability, "driver", "timing", "flexibility", "use" ...
    std::string_view text;   ///< "fixed function"
};

/// The two parts of a property's text.
inline FamilyAspect aspect_of(const FamilyProperty& property) {
    const std::size_t colon = property.text.find(": ");
    if (colon == std::string_view::npos)
        return {{}, property.text};
    return {property.text.substr(0, colon), property.text.substr(colon + 2)};
}

} // namespace archsim
