#pragma once
// Everything about one model on one device. A request goes in; the estimate, its breakdown and its batches
// come out.

#include "answers/batch/batch.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"
#include "report/render/answer_document.hpp"

#include <string>
#include <vector>

namespace archsim {

/// Work of one kind of subgraph.
struct KindShare {
    OpKind kind = OpKind::free; ///< free: fixed costs of the network outside any subgraph
    double subgraphs = 0, operations = 0, memory_bytes = 0;
    double latency_s = 0, energy_j = 0;
    int compute_bound = 0, memory_bound = 0, overhead_bound = 0;
};

/// Largest time first; latencies add up to that of the estimate, of an answer to a prompt to that of the pass
/// whose subgraphs it lists (shown_pass). Empty without an estimate or its subgraphs.
std::vector<KindShare> breakdown_by_kind(const Result& result);

struct ComprehensiveAnalysis {
    Result result;
    Decision decision; ///< on the one result
    std::vector<KindShare> kinds;
    BatchAnalysis batches; ///< without series where not asked for
};

/// The workload of the request on its first device: one estimate, its checks and breakdown, and the sweep
/// over `request.batches` (none: no sweep). Throws as analyze_batches does.
ComprehensiveAnalysis analyze_comprehensive(const Session& session, const BatchRequest& request);

// Everything about one model on one device in one report: verdicts against budgets, time, roofline, energy,
// memory, batch, money, and the inputs with their sources.

struct ComprehensiveView {
    int top = 1;            ///< slowest groups of equal subgraphs described one by one; 0: all
    bool described = false; ///< these groups are described although the rest is brief
    bool verbose = false;   ///< every subgraph, event, tensor and source in a row of its own
};

/// CSV: the table of subgraphs.
Report describe(const ComprehensiveAnalysis& analysis, const ComprehensiveView& view = {},
                Format format = Format::text);
/// {"schema": "archsim.analyze_comprehensive/1", ...}; unknown values are null.
AnswerDocument document_of(const ComprehensiveAnalysis& analysis, const ComprehensiveView& view = {});

} // namespace archsim
