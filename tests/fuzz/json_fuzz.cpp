// Reads arbitrary bytes as a JSON document of the database: the quick reader gives nlohmann's document or
// none, and whatever is an object is the same document to those who read it.

#include "core/json_document.hpp"
#include "core/json_text.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

namespace {

void require(bool holds) {
    if (!holds)
        std::abort();
}

/// Members are in order, each key once, and found by it.
void check_members(const archsim::JsonValue& value) {
    std::string_view before;
    for (const auto& [key, member] : value.members()) {
        require(&member == &value.members().front().value || before < key);
        require(value.find(key) == &member);
        check_members(member);
        before = key;
    }
    for (const archsim::JsonValue& item : value.items())
        check_members(item);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto plain = archsim::parse_plain_json(text)) {
        const auto standard = nlohmann::json::parse(text, nullptr, false);
        require(!standard.is_discarded() && plain->root.copy() == standard);
        check_members(plain->root);
    }
    std::vector<archsim::Finding> findings;
    const auto document = archsim::parse_document_text(text, "fuzz", findings);
    require(document.has_value() == findings.empty());
    if (document) {
        const auto standard = archsim::parse_json_text(text, "fuzz", findings);
        require(standard && document->root.copy() == *standard);
        check_members(document->root);
    }
    return 0;
}
