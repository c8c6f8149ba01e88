#include "archsim/core/provenance.hpp"
#include "core/text.hpp"

namespace archsim {

constexpr std::string_view kSourceKinds[] = {"datasheet", "paper", "measured", "derived",
                                             "fitted",    "tuned", "assumed"};

std::string_view name_of(SourceKind kind) {
    return name_in(kSourceKinds, kind);
}

std::optional<SourceKind> parse_source_kind(std::string_view text) {
    for (const std::string_view& name : kSourceKinds)
        if (name == text)
            return static_cast<SourceKind>(&name - kSourceKinds);
    return std::nullopt;
}

} // namespace archsim
