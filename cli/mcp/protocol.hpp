#pragma once
// The messages of the Model Context Protocol (JSON-RPC 2.0, one a line): a line in, a line out. It knows no
// tools but what it is given.

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace archsim::cli {

/// The longest line that is read: a request names models and numbers.
inline constexpr std::size_t kMostBytes = 4U << 20;

/// What stands behind the protocol.
struct Served {
    std::string_view name, version, instructions;
    /// The array of tools, each with its name, description and inputSchema.
    std::function<const nlohmann::ordered_json&()> list;
    /// The result of a call: content, structuredContent, isError. Nothing for a tool that is none.
    std::function<std::optional<nlohmann::ordered_json>(const std::string& tool,
                                                        const nlohmann::ordered_json& arguments)>
        call;
    /// The sentence about a tool that is none.
    std::function<std::string(const std::string& tool)> unknown;
};

/// One connection.
class Protocol {
  public:
    explicit Protocol(Served served) : served_(std::move(served)) {}

    /// The line that answers a line; nothing for notifications. `whole` false: the line was too long to be
    /// kept. Never throws for what a line holds.
    std::optional<std::string> answer(const std::string& line, bool whole);

  private:
    std::optional<nlohmann::ordered_json> answer_message(const nlohmann::ordered_json& message);
    nlohmann::ordered_json result_of(const std::string& method, const nlohmann::ordered_json& params);

    Served served_;
    std::string_view version_; ///< agreed on; empty: before initialize
};

} // namespace archsim::cli
