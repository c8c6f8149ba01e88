#pragma once
// The library's own families, in order, and the words in which they write rows of facts. They are defined
// beside their mappers (src/family), so that this module need not know what a mapper is.

#include "archsim/hardware/family.hpp"

namespace archsim {

std::span<const FamilyRow* const> library_families();

/// The limits of a fact, as in FactRow.
struct FactLimits {
    std::string_view unit = "1";
    double low = 1, high = std::numeric_limits<double>::infinity();
    std::optional<Structure> scales_with{};
    bool required = false;
    std::string_view unless{};
    std::span<const std::string_view> words{};
};
template <class Type, class Facts>
constexpr FactRow fact(std::string_view name, Type Facts::*member, std::string_view doc, FactLimits l = {}) {
    return {name, fact_at(member), doc, l.unit, l.low, l.high, l.scales_with, l.required, l.unless, l.words};
}

} // namespace archsim
