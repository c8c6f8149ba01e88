#pragma once
// Answers as reports, to render in any format or by a renderer of one's own.

#include "archsim/core/export.hpp"
#include "archsim/extend/renderer.hpp"

#include <string>

namespace archsim {

struct ModelComparison;

/// What compare_models prints of a comparison: the ranking with intervals, what binds each device, and hints.
/// CSV: one flat table; HTML: with charts.
/// @code
/// const Session session;
/// CompareModelsRequest request;
/// request.models = {"resnet18"};
/// request.hardware = {"A100", "H100"};
/// const ModelComparison comparison = compare_models(session, request);
/// assert(render(report_of(comparison), Format::markdown).find("H100") != std::string::npos);
/// assert(document_of(comparison).find("archsim.compare_models/1") != std::string::npos);
/// @endcode
ARCHSIM_API Report report_of(const ModelComparison& comparison, Format format = Format::text);
/// The same as JSON: {"schema": "archsim.compare_models/1", ...}; unknown values are null.
ARCHSIM_API std::string document_of(const ModelComparison& comparison);

} // namespace archsim
