#pragma once
// The parameters that one party pays, at compile time.

#include "archsim/hardware/parameters.hpp"

namespace archsim {

constexpr std::size_t parameters_with(ParameterRole role) {
    std::size_t count = 0;
    for (const ParameterInfo& info : kParameterInfos)
        count += info.role == role;
    return count;
}

/// Those parameters.
template <ParameterRole role>
static constexpr auto kParametersOf = [] {
    std::array<Parameter, parameters_with(role)> list{};
    std::size_t at = 0;
    for (std::size_t i = 0; i < kParameterCount; ++i)
        if (kParameterInfos[i].role == role)
            list[at++] = static_cast<Parameter>(i);
    return list;
}();

} // namespace archsim
