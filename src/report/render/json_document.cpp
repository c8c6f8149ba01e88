#include "report/render/json_document.hpp"

#include "core/text.hpp"

#include <nlohmann/json.hpp>

namespace archsim {

std::string json_text(const nlohmann::ordered_json& document) {
    constexpr int kIndent = 2;
    return printable_json(
        document.dump(kIndent, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

std::string document_text(const nlohmann::ordered_json& document) {
    return json_text(document) + "\n";
}

} // namespace archsim
