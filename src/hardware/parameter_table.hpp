#pragma once
// The rows of all parameters, at compile time.

#include "archsim/hardware/parameters.hpp"

#include <array>

namespace archsim {

inline constexpr std::array<ParameterInfo, kParameterCount> kParameterInfos = {{
#define ARCHSIM_PARAMETER(id, unit, low, high, prices, kind, role, doc)                                      \
    {#id, unit, low, high, Priced::prices, ParameterKind::kind, ParameterRole::role, doc},
#include "archsim/hardware/parameters.def"
#undef ARCHSIM_PARAMETER
}};

constexpr std::size_t parameters_with(ParameterRole role) {
    std::size_t count = 0;
    for (const ParameterInfo& info : kParameterInfos)
        count += info.role == role;
    return count;
}

/// Those parameters.
template <ParameterRole role>
inline constexpr auto kParametersOf = [] {
    std::array<Parameter, parameters_with(role)> list{};
    std::size_t at = 0;
    for (std::size_t i = 0; i < kParameterCount; ++i)
        if (kParameterInfos[i].role == role)
            list[at++] = static_cast<Parameter>(i);
    return list;
}();

} // namespace archsim
