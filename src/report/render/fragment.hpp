#pragma once
// Blocks as a piece of an HTML page that has the style and the script of reports.

#include "archsim/extend/renderer.hpp"

#include <span>
#include <string>
#include <string_view>

namespace archsim {

/// The same elements that an HTML report has for these blocks, without the page around them. `name` begins
/// the identifiers of its tables, so that several fragments of one page differ. Text stays text whatever it
/// holds.
std::string html_fragment(std::span<const Block> blocks, std::string_view name);

} // namespace archsim
