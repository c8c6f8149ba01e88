#include "archsim/core/provenance.hpp"

#include <array>
#include <utility>

namespace archsim {

namespace {

constexpr std::array<std::pair<SourceKind, std::string_view>, 7> kNames = {{
    {SourceKind::datasheet, "datasheet"},
    {SourceKind::paper, "paper"},
    {SourceKind::measured, "measured"},
    {SourceKind::derived, "derived"},
    {SourceKind::fitted, "fitted"},
    {SourceKind::tuned, "tuned"},
    {SourceKind::assumed, "assumed"},
}};

} // namespace

std::string_view name_of(SourceKind kind) {
    for (const auto& [candidate, name] : kNames)
        if (candidate == kind)
            return name;
    return "unknown";
}

std::optional<SourceKind> parse_source_kind(std::string_view text) {
    for (const auto& [kind, name] : kNames)
        if (name == text)
            return kind;
    return std::nullopt;
}

} // namespace archsim
