#pragma once
// Measurements of servers under load: the time to the first token and per output token that clients see.

#include "archsim/run/serve.hpp"
#include "archsim/run/session.hpp"
#include "fit/errors/validation.hpp"
#include "fit/rows/row_key.hpp"
#include "fit/rows/served_protocol.hpp"

#include <map>
#include <memory>
#include <mutex>

namespace archsim {

/// Whether a row is of that kind: phase `served_first_token` or `served_per_token`. Its batch is the number
/// of requests in flight, a new one when one ends, its devices are those that share every layer.
bool is_served(const MeasuredRow& row);

/// The load and the engine of a benchmark with so many requests in flight; its layout is the caller's to set.
ServingRequest request_of(const ServedProtocol& protocol, std::int64_t clients);

/// Predicts such rows for one estimator. Both waits of one measurement are read from one simulation. Safe to
/// call from several threads.
class ServedRuns {
  public:
    ServedRuns();
    ~ServedRuns();

    /// Mean over the requests that the client counts, in milliseconds, with its interval and regime.
    Prediction predict(const Session& session, const Model& model, const MeasuredRow& row,
                       const Conditions& conditions);

  private:
    struct Run;
    std::mutex mutex_;
    std::map<RowKey, std::shared_ptr<Run>> runs_;
};

} // namespace archsim
