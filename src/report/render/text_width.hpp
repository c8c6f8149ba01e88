#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// Columns a UTF-8 text takes on a terminal: code points, combining marks not counted.
std::size_t display_width(std::string_view text);

/// UTF-8 text in ASCII: signs that the reports use as their usual stand-ins ("u" for micro), the rest as "?".
std::string to_ascii(std::string_view text);

/// `text` padded with spaces to `width` columns.
std::string pad(std::string_view text, std::size_t width, bool right);

/// Lines of at most `width` columns, broken at spaces; a longer word stands alone.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

} // namespace archsim
