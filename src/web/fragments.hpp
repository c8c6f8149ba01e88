#pragma once
// Pieces of a report for the page: what render() draws into a file, section by section.

#include "report/render/fragment.hpp"
#include "web/answers.hpp"

namespace archsim::web {

/// [{"title": "Energy", "html": "..."}, ...]: a section per heading of level 1 or 2, in order. `name` begins
/// the identifiers of its tables.
Json sections(const Report& report, const std::string& name);

} // namespace archsim::web
