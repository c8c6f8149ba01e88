#include "answers/portability/trial.hpp"

#include "session/graph_run.hpp"

namespace archsim {

bool leaves_accelerator(const OperatorUse& use, const Runtime& stack) {
    return !use.supported && stack.fallback == Fallback::host;
}

RewriteOutcome Trial::operator()(const std::shared_ptr<const Graph>& graph, std::optional<std::int64_t> batch,
                                 const Bindings* sizes,
                                 const std::function<bool(const ShapedGraph&)>& accept) const {
    const Workload& workload = request_.workload;
    ImportedGraph model = workload.model;
    model.graph = graph;
    RewriteOutcome outcome;
    try {
        const auto bound =
            session_.bind(model, batch.value_or(workload.batch), sizes != nullptr ? *sizes : workload.sizes);
        if (!bound->graph().complete() || (accept && !accept(bound->graph())))
            return outcome;
        const Result r = run_graph(session_, bound, hardware_, request_.conditions);
        if (!r.ok())
            return outcome;
        outcome.runs = true;
        outcome.latency_s = r.estimate.latency_s;
        outcome.items = r.estimate.batch;
        for (const SubgraphWork& work : r.work->subgraphs)
            for (const OperatorUse& use : work.operators)
                outcome.leaving += leaves_accelerator(use, *r.runtime) ? 1 : 0;
    } catch (const InputError&) { // sizes that the model cannot take
    }
    return outcome;
}

} // namespace archsim
