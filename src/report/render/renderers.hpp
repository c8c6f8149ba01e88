#pragma once
// The renderers behind render(): one function and one file per format.

#include "archsim/extend/renderer.hpp"

#include <string>
#include <string_view>

namespace archsim {

bool explains_any(const TableNote& note, const std::vector<Column>& columns);

std::string render_text(const Report& report, const RenderOptions& options);
std::string render_markdown(const Report& report);
std::string render_csv(const Report& report);
std::string render_html(const Report& report, const RenderOptions& options);
/// What stands between <main> and </main>; the identifiers of tables begin with `name`.
std::string render_html_body(const Report& report, std::string_view name);

/// Text that stays text within a line of GitHub-flavoured Markdown, whatever names in it hold: no emphasis,
/// code, link, picture, HTML, formula, mention or cell border, and no second line.
std::string markdown_inline(std::string_view text);
/// The same where it begins a line: no heading, list, quotation, rule or fence either.
std::string markdown_line(std::string_view text);
std::string markdown_target(std::string_view file);
/// A fence that no line of the text closes.
std::string markdown_fence(std::string_view text);

} // namespace archsim
