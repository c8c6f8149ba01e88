#include "report/render/answer_document.hpp"

#include "archsim/core/version.hpp"
#include "core/text.hpp"

namespace archsim {

std::string json_text(const nlohmann::ordered_json& document) {
    constexpr int kIndent = 2;
    return printable_json(
        document.dump(kIndent, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

std::string document_text(const nlohmann::ordered_json& document) {
    return json_text(document) + "\n";
}

using Json = nlohmann::ordered_json;

Json any_of(const std::vector<Json>& kinds) {
    Json schema = {{"$schema", kinds.front()["$schema"]},
                   {"$id", kinds.front()["$id"]},
                   {"title", kinds.front()["title"]},
                   {"type", "object"}};
    for (Json kind : kinds) {
        for (const char* of_all : {"$schema", "$id", "title"})
            kind.erase(of_all);
        schema["anyOf"].push_back(std::move(kind));
    }
    return schema;
}

Members<std::vector<std::string>> lines_members() {
    return {{"lines", "the answer in sentences, as reports show it", std::identity{}}};
}

std::string document_text(const std::string& name, Json members) {
    Json document = {{"schema", "archsim." + name + "/1"}, {"version", version()}};
    document.update(members);
    return document_text(document);
}

Json document_schema(const std::string& name, const std::string& title, Json members) {
    const std::string id = "archsim." + name + "/1";
    Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                   {"$id", id},
                   {"title", name + ": " + title},
                   {"type", "object"},
                   {"required", {"schema", "version"}}};
    for (const Json& key : members["required"])
        schema["required"].push_back(key);
    schema["properties"] = {
        {"schema", {{"const", id}}},
        {"version", {{"type", "string"}, {"description", "of the library that wrote the document"}}}};
    schema["properties"].update(members["properties"]);
    schema["additionalProperties"] = false;
    return schema;
}

} // namespace archsim
