#include "mcp/mcp.hpp"

#include "core/json_document.hpp"
#include "core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace archsim::cli {

using Json = nlohmann::ordered_json;

/// Revisions of the protocol, the latest first.
constexpr std::array<std::string_view, 4> kVersions = {"2025-11-25", "2025-06-18", "2025-03-26",
                                                       "2024-11-05"};
constexpr std::string_view kWithStructures = "2025-06-18"; ///< the first with structuredContent
constexpr std::string_view kWithBatches = "2025-03-26";    ///< the only one with several messages in a line
constexpr std::size_t kMostBatched = 64;

enum Code : int {
    parse_error = -32700,
    invalid_request = -32600,
    no_such_method = -32601,
    invalid_params = -32602,
    internal_error = -32603
};

struct Failure : std::runtime_error {
    Failure(Code what, const std::string& sentence) : std::runtime_error(sentence), code(what) {}
    Code code;
};

static Json error_message(const Json& id, Code code, const std::string& sentence) {
    return {
        {"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", static_cast<int>(code)}, {"message", sentence}}}};
}

/// One line, whatever the texts hold.
static std::string line_of(const Json& message) {
    return message.dump(-1, ' ', false, Json::error_handler_t::replace);
}

static bool is_id(const Json& value) {
    return value.is_string() || value.is_number_integer();
}

std::optional<std::string> Protocol::answer(const std::string& line, bool whole) {
    if (!whole)
        return line_of(error_message(nullptr, invalid_request,
                                     fmt::format("a message has at most {} bytes", kMostBytes)));
    if (line.find_first_not_of(" \t\r") == std::string::npos)
        return std::nullopt;
    if (const std::string excess = json_excess(line, JsonKeys::as_written); !excess.empty())
        return line_of(error_message(nullptr, invalid_request, "the message has " + excess));
    Json message;
    try {
        message = Json::parse(line);
    } catch (const Json::exception& problem) {
        return line_of(error_message(nullptr, parse_error, printable(problem.what())));
    }
    if (message.is_array() && version_ == kWithBatches) {
        if (message.empty() || message.size() > kMostBatched)
            return line_of(error_message(nullptr, invalid_request,
                                         fmt::format("expected 1 to {} messages", kMostBatched)));
        Json answers = Json::array();
        for (const Json& one : message)
            if (std::optional<Json> answered = answer_message(one))
                answers.push_back(std::move(*answered));
        return answers.empty() ? std::nullopt : std::optional(line_of(answers));
    }
    const std::optional<Json> answered = answer_message(message);
    return answered ? std::optional(line_of(*answered)) : std::nullopt;
}

std::optional<Json> Protocol::answer_message(const Json& message) {
    Json id;
    if (message.is_object() && message.contains("id") && is_id(message["id"]))
        id = message["id"];
    if (!message.is_object() || message.value("jsonrpc", Json()) != "2.0")
        return error_message(id, invalid_request,
                             "expected a message of JSON-RPC 2.0: {\"jsonrpc\": \"2.0\", ...}");
    if (!message.contains("method"))
        return message.contains("result") || message.contains("error")
                   ? std::nullopt // an answer to a question that was never asked
                   : std::optional(error_message(id, invalid_request, "the message has no method"));
    if (!message["method"].is_string())
        return error_message(id, invalid_request, "method: expected a text");
    if (!message.contains("id"))
        return std::nullopt; // a notification
    if (id.is_null())
        return error_message(id, invalid_request, "id: expected a text or a whole number");
    const Json params = message.contains("params") ? message["params"] : Json::object();
    try {
        if (!params.is_object())
            throw Failure(invalid_params, "params: expected an object");
        return Json{{"jsonrpc", "2.0"}, {"id", id}, {"result", result_of(message["method"], params)}};
    } catch (const Failure& problem) {
        return error_message(id, problem.code, problem.what());
    } catch (const std::exception& problem) {
        return error_message(id, internal_error, printable(problem.what()));
    }
}

Json Protocol::result_of(const std::string& method, const Json& params) {
    if (method == "initialize") {
        const Json asked = params.value("protocolVersion", Json());
        const auto* const known =
            std::ranges::find_if(kVersions, [&](std::string_view version) { return asked == version; });
        version_ = known == kVersions.end() ? kVersions.front() : *known;
        return {{"protocolVersion", version_},
                {"capabilities", {{"tools", {{"listChanged", false}}}}},
                {"serverInfo", {{"name", served_.name}, {"version", served_.version}}},
                {"instructions", served_.instructions}};
    }
    if (method == "ping")
        return Json::object();
    if (method == "tools/list") {
        if (params.contains("cursor"))
            throw Failure(invalid_params, "cursor: the list has one page, and no cursor was given out");
        return {{"tools", served_.list()}};
    }
    if (method != "tools/call")
        throw Failure(no_such_method,
                      fmt::format("there is no method \"{}\"; tools/list and tools/call are known",
                                  printable(method.substr(0, 100))));
    if (!params.contains("name") || !params["name"].is_string())
        throw Failure(invalid_params, "name: expected the name of a tool");
    const std::string tool = params["name"];
    const Json arguments =
        params.contains("arguments") && !params["arguments"].is_null() ? params["arguments"] : Json::object();
    std::optional<Json> result = served_.call(tool, arguments);
    if (!result)
        throw Failure(invalid_params, served_.unknown(tool));
    if (!version_.empty() && version_ < kWithStructures && result->contains("structuredContent")) {
        (*result)["content"].push_back({{"type", "text"}, {"text", line_of((*result)["structuredContent"])}});
        result->erase("structuredContent");
    }
    return std::move(*result);
}

} // namespace archsim::cli
