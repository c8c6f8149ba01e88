#pragma once
// Models for people: the catalogue by task and family, or what a folder of ONNX files holds and whether each
// can be used.

#include "answers/models/discover_models.hpp"
#include "archsim/extend/renderer.hpp"

#include <string>

namespace archsim {

/// What of it is shown.
struct ModelListView {
    bool findings = true; ///< list what was found in each file
};

/// CSV: one table.
Report describe(const ModelList& list, const ModelListView& view = {}, Format format = Format::text);
/// {"schema": "archsim.discover_models/1", "models": [...]}; unknown values are null.
std::string to_json(const ModelList& list, const ModelListView& view = {});

} // namespace archsim
