#pragma once
// A study in a file: what is asked of every cell, by the keys of a question's fields.

#include "answers/study/study.hpp"
#include "archsim/core/export.hpp"

#include <filesystem>

namespace archsim {

/// Reads a study file: JSON or, by its extension (.yaml, .yml), YAML; docs/examples/study_schema.json
/// describes both. Paths of models and devices that exist beside the file are taken from there. Throws
/// InputError with one finding per mistake, each with its JSON pointer, in YAML with its line and column, and
/// the nearest known name: fields, types, formats, and names that the Session does not know.
ARCHSIM_API StudyRequest read_study(const Session& session, const std::filesystem::path& file);

} // namespace archsim
