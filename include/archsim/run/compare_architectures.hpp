#pragma once
#include "archsim/report/compare_architectures.hpp"
#include "archsim/run/session.hpp"

namespace archsim {

/// Runs one model on every architecture of the request. One failing device never stops the others: it becomes
/// a row with its reason. Throws InputError for unknown models, devices and runtimes, UsageError for names
/// that are not among the architectures.
/// @code
/// const Session session;
/// CompareArchitecturesRequest request;
/// request.model = "resnet18";
/// request.architectures = {"GPU", "TPU"};
/// const ArchitectureComparison comparison = compare_architectures(session, request, {}, {});
/// assert(exit_code(comparison) == 0);
/// @endcode
ARCHSIM_API ArchitectureComparison compare_architectures(const Session& session,
                                                         CompareArchitecturesRequest request,
                                                         const Bindings& bindings, const RunOptions& options);

/// 3 when a result is incomplete, else 0.
ARCHSIM_API int exit_code(const ArchitectureComparison& comparison);

} // namespace archsim
