#include "answers/comprehensive/comprehensive.hpp"

#include "result/generation_metrics.hpp"

#include <algorithm>
#include <map>

namespace archsim {

ComprehensiveAnalysis analyze_comprehensive(const Session& session, const BatchRequest& request) {
    ComprehensiveAnalysis analysis;
    Workload workload = request.workload;
    workload.model = session.load(request.model);
    analysis.result = session.estimate(workload, request.hardware.front(), request.conditions);
    analysis.decision = decide(std::span(&analysis.result, 1), request.limits);
    analysis.kinds = breakdown_by_kind(analysis.result);
    if (!request.batches.empty())
        analysis.batches = analyze_batches(session, request);
    return analysis;
}

std::vector<KindShare> breakdown_by_kind(const Result& result) {
    if (!result.ok() || !result.work || result.estimate.subgraphs.empty())
        return {};
    std::map<OpKind, KindShare> kinds;
    double energy = 0, seconds = 0;
    for (const SubgraphEstimate& s : result.estimate.subgraphs) {
        const SubgraphWork& work = result.work->subgraphs[s.index];
        KindShare& share = kinds[work.kind];
        share.kind = work.kind;
        share.subgraphs += 1;
        share.operations += work.operations() * work.repeat;
        share.memory_bytes += s.dram_bytes;
        share.latency_s += s.latency_s;
        share.energy_j += s.energy.total();
        share.compute_bound += s.bound == Bound::compute;
        share.memory_bound += s.bound == Bound::memory;
        share.overhead_bound += s.bound == Bound::overhead;
        energy += s.energy.total();
        seconds += s.latency_s;
    }
    const ShownPass pass = shown_pass(result);
    const double network_s = pass.part_of_answer ? pass.latency_s - seconds : result.estimate.network_s;
    constexpr double kRounding = 1e-9; // of sums taken in another order
    if (network_s > kRounding * pass.latency_s) {
        KindShare& fixed = kinds[OpKind::free];
        fixed.latency_s += network_s;
        fixed.energy_j += std::max(0.0, pass.energy_j - energy);
    }
    std::vector<KindShare> shares;
    for (const auto& [kind, share] : kinds)
        shares.push_back(share);
    std::stable_sort(shares.begin(), shares.end(),
                     [](const KindShare& a, const KindShare& b) { return a.latency_s > b.latency_s; });
    return shares;
}

} // namespace archsim
