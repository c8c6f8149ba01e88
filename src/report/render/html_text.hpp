#pragma once
#include "archsim/core/export.hpp"

#include <string>
#include <string_view>

namespace archsim {

/// Text as HTML content or as an attribute value in double quotes.
ARCHSIM_API std::string html_escaped(std::string_view text);

} // namespace archsim
