#pragma once
#include "archsim/report/compare_models.hpp"
#include "archsim/run/generation.hpp"
#include "archsim/run/session.hpp"

#include <optional>

namespace archsim {

/// Runs every model on every device and runtime of the request. One failing device never stops the others: it
/// becomes a row with its reason. Throws InputError for unknown models, devices, runtimes and deployments.
/// With `generation` the models are language models that answer a prompt (UsageError where one is none).
/// @code
/// const Session session;
/// CompareModelsRequest request;
/// request.models = {"resnet50"};
/// request.hardware = {"A100", "Jetson-Orin-Nano@15W"};
/// const ModelComparison comparison = compare_models(session, request, {}, {});
/// std::puts(render(describe(comparison, {}), Format::text).c_str());
/// assert(exit_code(comparison) == 0);
/// @endcode
ARCHSIM_API ModelComparison compare_models(const Session& session, CompareModelsRequest request,
                                           const Bindings& bindings, const RunOptions& options,
                                           const std::optional<GenerationRequest>& generation = std::nullopt);

/// 3 when a result is incomplete, else 0.
ARCHSIM_API int exit_code(const ModelComparison& comparison);

} // namespace archsim
