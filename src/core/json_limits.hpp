#pragma once
// What a JSON text may ask of who parses it. Parsers have no limit but the memory, and what copies, prints
// and frees their values calls itself for every level.

#include <cstdint>
#include <string>
#include <string_view>

namespace archsim {

inline constexpr int kMostJsonLevels = 64; ///< of objects and arrays within each other

/// How a parser keeps the members of an object.
enum class JsonKeys : std::uint8_t {
    sorted,
    as_written ///< every new key is held against all before it (nlohmann::ordered_json)
};

/// What a text has too much of, "more than 64 levels of objects and arrays"; empty: nothing. Comments are
/// passed over. What is no JSON at all is left to the parser.
std::string json_excess(std::string_view text, JsonKeys keys = JsonKeys::sorted);

/// The text itself, for the parser. Throws InputError that names `file` where there is too much of something.
std::string_view bounded_json(std::string_view text, const std::string& file,
                              JsonKeys keys = JsonKeys::sorted);

} // namespace archsim
