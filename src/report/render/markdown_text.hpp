#pragma once
#include <string>
#include <string_view>

namespace archsim {

/// Text that stays text within a line of GitHub-flavoured Markdown, whatever names in it hold: no emphasis,
/// code, link, picture, HTML, formula, mention or cell border, and no second line.
std::string markdown_inline(std::string_view text);
/// The same where it begins a line: no heading, list, quotation, rule or fence either.
std::string markdown_line(std::string_view text);
/// The name of a file as the target of a link.
std::string markdown_target(std::string_view file);
/// A fence that no line of the text closes.
std::string markdown_fence(std::string_view text);

} // namespace archsim
