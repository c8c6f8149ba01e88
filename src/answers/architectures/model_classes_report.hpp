#pragma once
// Architectures over classes of models, as report blocks and document.

#include "answers/architectures/model_classes.hpp"
#include "archsim/extend/renderer.hpp"

#include <string>

namespace archsim {

/// Tables of times faster and of less energy than the baseline with a chart, then strengths, weaknesses and
/// "best for" of each architecture. CSV: a row per class and architecture.
Report describe(const ModelClassComparison& comparison, PlainView view = {}, Format format = Format::text);
/// {"schema": "archsim.model_classes/1", "rows": [...], "architectures": [...]}.
std::string to_json(const ModelClassComparison& comparison, PlainView view = {});

} // namespace archsim
