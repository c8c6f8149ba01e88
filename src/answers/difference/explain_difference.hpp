#pragma once
// Two questions go in; why their answers differ comes out: models, versions of a file, batches, formats,
// software stacks, power modes, devices, or several of these at once.

#include "answers/difference/difference.hpp"
#include "archsim/run/session.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// What one side is estimated for. With a prompt the whole answer: the pass over the prompt and the steps.
struct DifferenceSide {
    std::string model; ///< catalogue name or path
    std::string hardware;
    Workload workload = {};
    Conditions conditions = {};
};

/// What is asked.
struct DifferenceRequest {
    DifferenceSide before, after;
    const Metric* metric = &metric::latency;
    CostOptions cost = {};
};

/// Both estimates, and their difference taken apart.
struct DifferenceAnswer {
    DifferenceRequest request;
    std::vector<Result> results; ///< before, after
    double odds = 1;             ///< probability that the side that is better by the estimates is
    Difference difference;
};

/// A side that has no estimate: it does not fit, or nothing runs it.
class NoEstimateError : public InputError {
  public:
    using InputError::InputError;
};

/// Estimates both sides and explains. Throws InputError for unknown names and where a side has no value of
/// the metric, NoEstimateError where it cannot run, IncompleteError where sizes or operators are missing,
/// UsageError for a metric without causes of its own.
/// @code
/// const Session session;
/// DifferenceRequest request;
/// request.before = {.model = "resnet18", .hardware = "H100"};
/// request.after = {.model = "resnet34", .hardware = "H100"};
/// const DifferenceAnswer answer = explain_difference(session, request);
/// assert(answer.difference.by_change[static_cast<std::size_t>(Change::added)] > 0);
/// @endcode
DifferenceAnswer explain_difference(const Session& session, DifferenceRequest request);

} // namespace archsim
