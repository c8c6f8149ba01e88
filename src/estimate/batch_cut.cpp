#include "estimate/batch_cut.hpp"

#include <algorithm>

namespace archsim {

/// Rounding of sums over a few hundred subgraphs.
constexpr double kRounding = 1e-12;

void scale(Mapping& mapping, double factor) {
    for (std::size_t i = 0; i < mapping.demand_count; ++i)
        mapping.demands[i].amount *= factor;
    mapping.events.scale(factor);
    mapping.ideal_cycles *= factor;
}

Joiner::Joiner(const ClockedMachine& clocked, BatchLevel& larger, BatchInPieces& in_pieces)
    : machine_(clocked.machine), static_w_(clocked.static_w), clock_ratio_(clocked.clock_ratio),
      prices_(clocked.prices), prefetch_(machine_.runtime->weight_prefetch == WeightPrefetch::network),
      crossing_(larger.work->memory.crossing), pieces_(in_pieces), piece_(in_pieces.piece->schedule),
      whole_(larger.whole.schedule), before_(costs_in_pieces(in_pieces)), behind_(costs_whole(larger)) {
    for (const Resource resource : {Resource::host_link_bytes, Resource::dram_bytes})
        if (machine_.rate(resource) > 0)
            outside_ = resource;
    if (machine_.energy && machine_.power_limit_w > static_w_)
        dynamic_w_ = machine_.power_limit_w - static_w_;
}

std::pair<std::size_t, double> Joiner::cut(bool inner) const {
    Cost all_pieces = fixed_cost(pieces_.network), total = fixed_cost(whole_.network);
    for (std::size_t i = 0; i < before_.size(); ++i) {
        all_pieces += before_[i];
        total += behind_[i];
    }
    std::size_t best = before_.size();
    double fastest = seconds(all_pieces);
    // What is saved in time may cost energy, in the same proportion at most.
    const double budget = joules(all_pieces) * fastest * (1 + kRounding);
    for (std::size_t at = 0; at < before_.size(); ++at) {
        if (at > 0) {
            total += before_[at - 1];
            total = total - behind_[at - 1];
            if (!inner || !can_cross(at))
                continue;
        }
        const double limit = fastest * (at == 0 ? 1 + kRounding : 1 - kRounding);
        const auto better = [&](const Cost& c) {
            const double time = seconds(c);
            return time <= limit && joules(c) * time <= budget;
        };
        if (!better(total)) // traffic over the cut only adds
            continue;
        Cost here = total;
        if (at > 0)
            here += crossing_cost(at);
        if (better(here)) {
            best = at;
            fastest = seconds(here);
        }
    }
    return {best, fastest};
}

/// The last subgraph in pieces and the first of the whole batch, with the traffic over the cut between them.
/// The bytes cross once per batch, however often a subgraph repeats.
Mapping Joiner::last_before(std::size_t at) const {
    return with_crossing(every_piece(at - 1), at, at - 1);
}
Mapping Joiner::first_behind(std::size_t at) const {
    return with_crossing(whole_.of(at), at, at);
}

Joiner::Cost Joiner::cost(const LaneTimes& times, double joules) {
    const double overhead = times.lanes[static_cast<std::size_t>(Lane::overhead)];
    return {times.total - overhead, times.weight_stream, overhead, joules};
}

Joiner::Cost Joiner::cost_of(const Mapping& mapping, std::size_t index) const {
    return whole_.repeat_of(index) *
           cost(price_time(mapping, machine_, clock_ratio_, prefetch_), prices_.total(mapping.events));
}

Joiner::Cost Joiner::fixed_cost(const NetworkMapping& network) const {
    return {0, 0, price_time(network.fixed, machine_, clock_ratio_, false).total,
            prices_.total(network.fixed.events)};
}

const std::vector<ScheduleCost>& Joiner::costs_whole(BatchLevel& larger) {
    const std::vector<LaneTimes>& times = larger.whole.costs.times(whole_, machine_, clock_ratio_);
    const std::vector<double>& joules = larger.whole.costs.joules(whole_, prices_, clock_ratio_);
    larger.costs.resize(whole_.which.size());
    for (std::size_t i = 0; i < whole_.which.size(); ++i) {
        const std::uint32_t k = whole_.which[i];
        larger.costs[i] = whole_.repeat[k] * cost(times[k], joules[k]);
    }
    return larger.costs;
}

const std::vector<ScheduleCost>& Joiner::costs_in_pieces(BatchInPieces& in_pieces) {
    const std::vector<LaneTimes>& times = in_pieces.piece->costs.times(piece_, machine_, clock_ratio_);
    const std::vector<double>& joules = in_pieces.piece->costs.joules(piece_, prices_, clock_ratio_);
    in_pieces.costs.resize(in_pieces.which.size());
    for (std::size_t i = 0; i < in_pieces.which.size(); ++i) {
        const std::uint32_t k = in_pieces.which[i];
        in_pieces.costs[i] = k == BatchInPieces::kIdle
                                 ? Cost{}
                                 : whole_.repeat_of(i) * (in_pieces.count * cost(times[k], joules[k]));
    }
    return in_pieces.costs;
}

/// Where the power limit binds, energy sets the time.
double Joiner::seconds(const Cost& c) const {
    return std::max(std::max(c.body, c.weights) + c.overhead, c.dynamic_j / dynamic_w_);
}

bool Joiner::can_cross(std::size_t at) const {
    return outside_ != Resource::count_ && at < crossing_.size() &&
           piece_.of(at - 1).demand_count < Mapping::kMaxDemands &&
           whole_.of(at).demand_count < Mapping::kMaxDemands;
}

/// All executions of a subgraph that runs in pieces.
Mapping Joiner::every_piece(std::size_t index) const {
    Mapping mapping = piece_.of(index);
    scale(mapping, pieces_.count);
    return mapping;
}

Mapping Joiner::with_crossing(Mapping mapping, std::size_t at, std::size_t index) const {
    const double bytes = crossing_[at] / whole_.repeat_of(index);
    mapping.add(outside_, Lane::memory, bytes);
    mapping.events[outside_ == Resource::dram_bytes ? Event::dram_byte : Event::host_link_byte] += bytes;
    return mapping;
}

Joiner::Cost Joiner::crossing_cost(std::size_t at) const {
    Cost extra = cost_of(last_before(at), at - 1) - before_[at - 1];
    extra += cost_of(first_behind(at), at) - behind_[at];
    return extra;
}

/// Idle where only the larger batch has a subgraph.
void Joiner::all_in_pieces(BatchSchedule& out) const {
    out = piece_;
    for (Mapping& mapping : out.mappings)
        scale(mapping, pieces_.count);
    for (double& executions : out.pieces)
        executions *= pieces_.count;
    out.network = pieces_.network;
    if (!pieces_.alike) {
        const auto idle = static_cast<std::uint32_t>(out.mappings.size());
        out.mappings.emplace_back();
        out.which = pieces_.which;
        out.pieces.assign(out.which.size(), pieces_.count * piece_.pieces.front());
        std::size_t in_piece = 0;
        for (std::size_t i = 0; i < out.which.size(); ++i)
            if (out.which[i] == BatchInPieces::kIdle)
                out.which[i] = idle;
            else
                out.pieces[i] = pieces_.count * piece_.pieces[in_piece++];
    }
    out.repeat.resize(out.mappings.size());
    for (std::size_t i = 0; i < out.which.size(); ++i)
        out.repeat[out.which[i]] = whole_.repeat_of(i);
}

void Joiner::join(std::size_t cut, BatchSchedule& out) const {
    if (cut == whole_.which.size())
        return all_in_pieces(out);
    constexpr auto kUnused = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> places(piece_.mappings.size() + whole_.mappings.size(), kUnused);
    const auto add = [&](const Mapping& mapping, std::size_t subgraph) {
        out.mappings.push_back(mapping);
        out.repeat.push_back(whole_.repeat_of(subgraph));
        return static_cast<std::uint32_t>(out.mappings.size() - 1);
    };
    out.mappings.clear();
    out.repeat.clear();
    out.which.resize(whole_.which.size());
    for (std::size_t i = 0; i < out.which.size(); ++i) {
        if (i + 1 == cut || i == cut) {
            out.which[i] = add(i == cut ? first_behind(cut) : last_before(cut), i);
            continue;
        }
        const bool before = i < cut;
        std::uint32_t& place = places[before ? piece_.which[i] : piece_.mappings.size() + whole_.which[i]];
        if (place == kUnused) // those that no subgraph has any more are left out
            place = add(before ? every_piece(i) : whole_.of(i), i);
        out.which[i] = place;
    }
    out.pieces.assign(whole_.which.size(), 1);
    for (std::size_t i = 0; i < cut; ++i)
        out.pieces[i] = pieces_.count * piece_.pieces[i];
    out.network = whole_.network;
    out.by_class = piece_.by_class;
}

} // namespace archsim
