#pragma once
// The renderers behind render(): one function and one file per format.

#include "archsim/report/report.hpp"

namespace archsim {

std::string render_text(const Report& report, const RenderOptions& options);
std::string render_markdown(const Report& report);
std::string render_csv(const Report& report);
std::string render_html(const Report& report);

} // namespace archsim
