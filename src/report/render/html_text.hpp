#pragma once

#include <string>
#include <string_view>

namespace archsim {

/// Text as HTML content or as an attribute value in double quotes.
std::string html_escaped(std::string_view text);

} // namespace archsim
