#pragma once
// Everything about one model on one device: the comparison of it alone, with the kinds of its work, its
// batches and the sources of its inputs. A request goes in; verdicts against limits, time, roofline, energy,
// memory, batches, money and sources come out in one report.

#include "answers/batch/batch.hpp"

#include <vector>

namespace archsim {

/// Work of one kind of subgraph.
struct KindShare {
    OpKind kind = OpKind::free; ///< free: fixed costs of the network outside any subgraph
    double subgraphs = 0, operations = 0, memory_bytes = 0;
    double latency_s = 0, latency_share = 0, energy_j = 0;
    int compute_bound = 0, memory_bound = 0, overhead_bound = 0;
};

/// Largest time first; latencies add up to that of the estimate, of an answer to a prompt to that of the pass
/// whose subgraphs it lists (shown_pass). Empty without an estimate or its subgraphs.
std::vector<KindShare> breakdown_by_kind(const Result& result);

struct ComprehensiveAnalysis {
    ModelComparison comparison; ///< of one model on one device
    BatchAnalysis batches;      ///< without series where not asked for

    const Result& result() const { return comparison.results.front(); }
};

/// The first model of the request on its first device, and the sweep over `request.batches` (none: no sweep).
/// Throws as analyze_batches does.
ComprehensiveAnalysis analyze_comprehensive(const Session& session, const BatchRequest& request);

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
