#pragma once
// How many operands an operator cannot do without: in, its domain and name; out, the leading inputs and
// outputs that every version of it must name.

#include <cstdint>
#include <string_view>

namespace archsim {

struct Arity {
    std::uint8_t inputs = 0, outputs = 1;
};

/// Of an operator of the standard table.
Arity arity_of(std::string_view domain, std::string_view name);

} // namespace archsim
