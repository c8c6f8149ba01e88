#pragma once
// A model and devices go in. Which operators leave an accelerator, why, at which cost, and which rewrite
// would help come out.

#include "archsim/extend/renderer.hpp"
#include "archsim/run/session.hpp"
#include "report/render/answer_document.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace archsim {

struct PortabilityRequest {
    std::string model;
    std::vector<std::string> hardware;
    Workload workload = {};
    Conditions conditions = {};
    bool rewrites = true;   ///< also try the known ones
    std::size_t advice = 0; ///< changes of the model that save most time, on any device: so many
};

/// Operators of one type that leave the accelerator. Times are per inference of the whole batch.
struct LeavingOperators {
    std::string type;
    std::string reason;             ///< one sentence
    std::vector<std::string> names; ///< of the operators
    double host_s = 0;              ///< arithmetic on the host
    double switch_s = 0;            ///< hand-over to the host and back
    double transfer_s = 0;          ///< tensors to the host and back
    double total_s() const { return host_s + switch_s + transfer_s; }
};

/// A known rewrite, done on the graph and estimated.
struct RewriteOutcome {
    std::string name, title, note;
    std::size_t places = 0;
    bool runs = false;       ///< the rewritten model has an estimate
    double latency_s = 0;    ///< after it, of a batch
    double items = 1;        ///< of that batch
    std::size_t leaving = 0; ///< operators that still leave the accelerator
    double per_item() const { return latency_s / items; }
};

struct Portability {
    Result result;
    std::size_t operators = 0; ///< with run-time work
    std::size_t leaving = 0;
    double operations_share = 1; ///< of the arithmetic that stays
    std::size_t islands = 0;     ///< stretches of the schedule on the accelerator between those on the host
    std::vector<LeavingOperators> types; ///< most expensive first
    double fallback_s = 0;               ///< their sum
    std::vector<std::string>
        notes; ///< what else keeps the model from running as it is: formats, sizes, operators nobody knows
    std::vector<RewriteOutcome> rewrites;   ///< those that make it faster, fastest first
    std::optional<RewriteOutcome> together; ///< all of these at once, where there are several
    std::vector<RewriteOutcome> advice;     ///< what was asked for, largest saving per item first
};

struct PortabilityAnswer {
    PortabilityRequest request;
    std::shared_ptr<const ModelFacts> model;
    std::vector<Portability> devices;
};

/// A device that cannot run the model is a row whose result says why. Throws InputError for unknown names and
/// a model of several parts (check each).
PortabilityAnswer check_model(const Session& session, PortabilityRequest request);

/// CSV: one row per device and type of operator that leaves.
Report describe(const PortabilityAnswer& answer, const PlainView& view, Format format = Format::text);
/// {"schema": "archsim.check_model/1", ...}
AnswerDocument document_of(const PortabilityAnswer& answer, const PlainView& view);

// Changes of a model that would make it faster on a device. A graph and a request go in; the changes that
// save most, each done and estimated, come out.

/// One change of a graph, bound and estimated on a device.
class Trial {
  public:
    /// Everything must outlive the trial.
    Trial(const Session& session, const PortabilityRequest& request, const std::string& hardware)
        : session_(session), request_(request), hardware_(hardware) {}

    /// The graph at the sizes of the request; `batch` and `sizes` instead of its own where given. Outcomes
    /// whose graph does not fit together, run, or `accept` where that is given, say so.
    RewriteOutcome operator()(const std::shared_ptr<const Graph>& graph,
                              std::optional<std::int64_t> batch = {}, const Bindings* sizes = nullptr,
                              const std::function<bool(const ShapedGraph&)>& accept = {}) const;

  private:
    const Session& session_;
    const PortabilityRequest& request_;
    const std::string& hardware_;
};

/// The changes of the model that save most time per item, best first, at most `most`: known rewrites,
/// channels at multiples of tiles, dense windows in place of depthwise and 1x1, sizes of attention heads, one
/// block in int8, batches, padded sequences; each done on the graph and estimated. `before` is the estimate
/// as it is, with its subgraphs.
std::vector<RewriteOutcome> advise(const Trial& trial, const Graph& graph, const PortabilityRequest& request,
                                   const Result& before, std::size_t most);

} // namespace archsim
