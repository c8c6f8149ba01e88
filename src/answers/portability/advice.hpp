#pragma once
// Changes of a model that would make it faster on a device. A graph and a request go in; the changes that
// save most, each done and estimated, come out.

#include "answers/portability/check_model.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace archsim {

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

/// True where the stack's compiler does not take the operator and the host runs it.
bool leaves_accelerator(const OperatorUse& use, const Runtime& stack);

} // namespace archsim
