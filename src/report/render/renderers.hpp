#pragma once
// The renderers behind render(): one function and one file per format.

#include "archsim/extend/renderer.hpp"

namespace archsim {

/// Whether a note holds for a table of which these columns are shown.
bool explains_any(const TableNote& note, const std::vector<Column>& columns);

std::string render_text(const Report& report, const RenderOptions& options);
std::string render_markdown(const Report& report);
std::string render_csv(const Report& report);
std::string render_html(const Report& report, const RenderOptions& options);
/// What stands between <main> and </main>; the identifiers of tables begin with `name`.
std::string render_html_body(const Report& report, std::string_view name);

} // namespace archsim
