#pragma once
// Estimates of changed graphs on one device.

#include "answers/portability/check_model.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace archsim {

/// True where the stack's compiler does not take the operator and the host runs it.
bool leaves_accelerator(const OperatorUse& use, const Runtime& stack);

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

} // namespace archsim
