#pragma once
#include "archsim/report/study.hpp"
#include "archsim/run/session.hpp"

#include <filesystem>

namespace archsim {

/// Reads a study file (docs/examples/study_schema.json describes it). Paths of models and devices that exist
/// beside the file are taken from there. Throws InputError with one finding per mistake, each with its JSON
/// pointer and the nearest known name: fields, types, formats, and names that the Session does not know.
ARCHSIM_API StudyRequest read_study(const Session& session, const std::filesystem::path& file);

/// Every combination. What fails becomes the reason of its own cell and takes no other with it.
/// @code
/// const Session session;
/// StudyRequest request;
/// request.models = {"resnet18"};
/// request.devices = {"A100", "KPU-T64"};
/// request.precisions = {"fp16", "int8"};
/// const Study study = run_study(session, request);
/// assert(study.cells() == 4 && study.cells(Status::ok) == 4);
/// @endcode
ARCHSIM_API Study run_study(const Session& session, StudyRequest request, bool allow_unknown = false);

/// 3 when a cell is incomplete, else 0.
ARCHSIM_API int exit_code(const Study& study);

} // namespace archsim
