#include "checkpoint/weight_formats.hpp"

#include "core/product_format.hpp"

#include <algorithm>

namespace archsim::checkpoint {

std::optional<Precision> narrow_format(std::string_view name, double bits) {
    constexpr double kPlainFloat = 16;
    if (bits >= kPlainFloat)
        return std::nullopt;
    const bool real = name.find("fp") != std::string_view::npos;
    if (is_four_bit(bits))
        return real ? Precision::fp4 : Precision::int4;
    return real ? Precision::fp8 : Precision::int8;
}

void WeightFormats::set_pattern(const std::string& pattern, WeightScheme scheme) {
    ModulePattern made(pattern);
    if (known_.insert(made.key()).second)
        patterns_.emplace_back(std::move(made), std::move(scheme));
}

WeightScheme WeightFormats::named(std::string_view module) const {
    if (scheme_.bits <= 0 && patterns_.empty())
        return {};
    const ModuleName name(module);
    constexpr double kSteps = 1.0 / 256; // a pattern is quickly held against a name
    const auto names = [&](const ModulePattern& pattern) {
        spending_.step(kSteps * pattern.cost());
        return pattern.names(name);
    };
    if (std::ranges::any_of(exceptions_, names))
        return {};
    for (const auto& [pattern, scheme] : patterns_)
        if (names(pattern))
            return scheme;
    if (std::ranges::any_of(usual_, names))
        return {};
    return scheme_;
}

WeightScheme WeightFormats::of(std::string_view module) const {
    WeightScheme scheme = named(module);
    std::size_t longest = 0;
    for (const auto& [prefix, bits] : stated_)
        if (module.starts_with(prefix) && prefix.size() >= longest) {
            longest = prefix.size();
            scheme.bits = bits;
        }
    return scheme.bits > 0 ? scheme : WeightScheme{};
}

} // namespace archsim::checkpoint
