#pragma once
// A study as report blocks and documents.

#include "answers/study/study.hpp"
#include "archsim/extend/renderer.hpp"

#include <string>

namespace archsim {

/// A table for each group, best first, after a summary of the winners. CSV: one flat table with a row per
/// cell.
Report describe(const Study& study, PlainView view = {}, Format format = Format::text);
/// {"schema": "archsim.study/1", "request": {...}, "results": [...]} with the rows of compare_models.
std::string to_json(const Study& study, PlainView view = {});

} // namespace archsim
