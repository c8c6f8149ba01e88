#include "ops/given_values.hpp"

#include "archsim/core/finding.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace archsim {

static std::pair<std::string, std::string_view> sides(std::string_view text, std::string_view flag) {
    const auto split = split_assignment(text);
    if (!split)
        throw UsageError(fmt::format("{}: \"{}\" is not of the form NAME=VALUE", flag, text));
    return {std::string(split->first), split->second};
}

static std::int64_t whole_number(std::string_view text, std::string_view flag, std::string_view name) {
    const bool digits = !text.empty() && text.find_first_not_of("-0123456789") == std::string_view::npos;
    const auto value = parse_whole(text);
    if (!value && digits)
        throw UsageError(fmt::format("{} {}: {} does not fit 64 bits", flag, name, text));
    if (!value)
        throw UsageError(fmt::format("{} {}: \"{}\" is not a whole number", flag, name, text));
    return *value;
}

void give_dim(Bindings& bindings, std::string_view text, std::string_view flag) {
    const auto [name, value] = sides(text, flag);
    const std::int64_t size = whole_number(value, flag, name);
    if (size < 0)
        throw UsageError(fmt::format("{} {}: {} is negative", flag, name, value));
    bindings.dims[name] = size;
}

void give_input(Bindings& bindings, std::string_view text, std::string_view flag) {
    const auto [name, list] = sides(text, flag);
    std::vector<std::int64_t> values;
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        values.push_back(whole_number(list.substr(begin, end - begin), flag, name));
        begin = end + 1;
    }
    bindings.input_values[name] = std::move(values);
}

void give_shape(Bindings& bindings, std::string_view text, std::string_view flag) {
    Bindings shapes; // written like values
    give_input(shapes, text, flag);
    for (auto& [name, shape] : shapes.input_values) {
        if (std::ranges::any_of(shape, [](std::int64_t size) { return size < 0; }))
            throw UsageError(fmt::format("{} {}: a size is negative", flag, name));
        bindings.input_shapes[name] = std::move(shape);
    }
}

std::vector<std::string> sizes_wanted(std::span<const Finding> findings) {
    constexpr std::string_view kExample = "for example ";
    std::vector<std::string> flags;
    for (const Finding& finding : findings) {
        const std::size_t at = finding.hint.find(kExample);
        if (finding.kind != FindingKind::unresolved_dimension || finding.severity != Severity::error ||
            at == std::string::npos)
            continue;
        std::string flag = finding.hint.substr(at + kExample.size());
        if (flag.starts_with("--") && std::ranges::find(flags, flag) == flags.end())
            flags.push_back(std::move(flag));
    }
    return flags;
}

} // namespace archsim
