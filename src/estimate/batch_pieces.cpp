#include "estimate/batch_pieces.hpp"

#include "map/counts_of_structure.hpp"
#include "map/on_chip.hpp"
#include "map/tiled.hpp"

#include <algorithm>
#include <limits>

namespace archsim {

/// Rounding of sums over a few hundred subgraphs.
constexpr double kRounding = 1e-12;

/// Multiplies every count.
static void scale(Mapping& mapping, double factor) {
    for (std::size_t i = 0; i < mapping.demand_count; ++i)
        mapping.demands[i].amount *= factor;
    mapping.events.scale(factor);
    mapping.ideal_cycles *= factor;
}

/// Fixed counts of `factor` pieces that one call runs: the start of an inference and the host's work are paid
/// once, as in a pipeline; transfers and reconfigurations by every piece.
static void scale_fixed(Mapping& fixed, double factor) {
    scale(fixed, factor);
    for (std::size_t i = 0; i < fixed.demand_count; ++i)
        if (const Parameter reason = fixed.demands[i].reason; reason == Parameter::inference_overhead ||
                                                              reason == Parameter::guest_overhead ||
                                                              reason == Parameter::host_time)
            fixed.demands[i].amount /= factor;
}

/// Whether each subgraph of `smaller` has one in `larger` with the same anchor: with a batch of one a
/// transposition may be a mere view, and has no subgraph there.
static bool contains(const Partition& larger, const Partition& smaller) {
    std::size_t i = 0;
    for (const Subgraph& s : smaller.subgraphs) {
        while (i < larger.subgraphs.size() && larger.subgraphs[i].anchor != s.anchor)
            ++i;
        if (i++ == larger.subgraphs.size())
            return false;
    }
    return true;
}

/// The mappings of a piece for the subgraphs of the larger batch.
static std::vector<std::uint32_t> spread(const std::vector<std::uint32_t>& which, const Partition& smaller,
                                         const Partition& larger) {
    std::vector<std::uint32_t> spread_out;
    spread_out.reserve(larger.subgraphs.size());
    std::size_t i = 0;
    for (const Subgraph& s : larger.subgraphs) {
        const bool both = i < smaller.subgraphs.size() && smaller.subgraphs[i].anchor == s.anchor;
        spread_out.push_back(both ? which[i++] : BatchInPieces::kIdle);
    }
    return spread_out;
}

/// For each subgraph the first one that counts alike; null where each must be mapped for itself.
static const std::vector<std::uint32_t>* find_alike(const NetworkWork& work, const Machine& machine,
                                                    const Mapper& mapper) {
    // A class of the library's mappers need not be one for another.
    if (dynamic_cast<const CountsOfStructure*>(&mapper) == nullptr ||
        work.representatives.size() != work.subgraphs.size())
        return nullptr;
    // Where a batch may run in pieces, sums of pieces are those of whole classes.
    return managed_memory_bytes(machine) > 0 ? &work.representatives : &classes_for(mapper, work);
}

/// As a new one, but for the demands beyond its number of them.
static void clear(Mapping& mapping) {
    mapping.demand_count = 0;
    mapping.events = {};
    mapping.allocation = {};
    mapping.ideal_cycles = 0;
    mapping.workspace_bytes = 0;
}

/// Counts of the undivided batch, in place of what `whole` was.
static void map_whole(const NetworkWork& work, const Machine& machine, BatchSchedule& whole) {
    const Mapper& mapper = machine.mapper ? *machine.mapper : mapper_for(machine.device->family);
    const auto count = static_cast<std::uint32_t>(work.subgraphs.size());
    const std::vector<std::uint32_t>* const alike = find_alike(work, machine, mapper);
    whole.by_class = alike != nullptr && alike != &work.representatives;
    whole.which.resize(count);
    whole.pieces.assign(count, 1.0);
    std::vector<std::uint32_t> firsts(count);
    std::uint32_t distinct = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t first = alike == nullptr ? i : (*alike)[i];
        firsts[distinct] = i; // stays where it is one
        whole.which[i] = first == i ? distinct++ : whole.which[first];
    }
    firsts.resize(distinct);
    whole.repeat.resize(distinct);
    for (std::size_t k = 0; k < distinct; ++k)
        whole.repeat[k] = work.subgraphs[firsts[k]].repeat;
    const std::size_t cleared = std::min<std::size_t>(distinct, whole.mappings.size());
    for (std::size_t k = 0; k < cleared; ++k)
        clear(whole.mappings[k]);
    whole.mappings.resize(distinct, Mapping{}); // copies of one are made faster than as many new ones
    if (const auto* at_once = dynamic_cast<const NetworkMapper*>(&mapper))
        at_once->map_each(firsts, work, machine, whole.mappings);
    else
        for (std::size_t k = 0; k < distinct; ++k)
            mapper.map(work.subgraphs[firsts[k]], work, machine, whole.mappings[k]);
    if (work.derived) // only one chip of several has anything to send
        for (std::size_t k = 0; k < distinct; ++k)
            add_collectives(work.subgraphs[firsts[k]], machine, whole.mappings[k]);
    whole.network = mapper.map_network(work, machine);
}

constexpr std::size_t kCutsKept = 8;

/// The schedule of the smaller batch, as often as the larger batch has it.
static BatchInPieces& in_pieces(BatchLevel& larger, const NetworkWork& work, Scheduled& smaller) {
    for (const auto& known : larger.in_pieces)
        if (known->piece == &smaller)
            return *known;
    BatchInPieces& made = *larger.in_pieces.emplace_back(larger.pieces.take());
    made.piece = &smaller;
    made.count = larger.work->batch / work.batch;
    made.network = smaller.schedule.network;
    scale_fixed(made.network.fixed, made.count);
    made.alike = smaller.schedule.which.size() == larger.whole.schedule.which.size();
    made.which = made.alike ? smaller.schedule.which
                            : spread(smaller.schedule.which, *work.partition, *larger.work->partition);
    return made;
}

/// Where a batch that runs in pieces goes over to running whole, and the schedule of both parts: chooses the
/// cut between the pieces of one batch size and the whole of the next larger one.
class Joiner {
    using Cost = ScheduleCost;

  public:
    /// All of them outlive it; what `larger` and `in_pieces` cost is kept with them.
    Joiner(const ClockedMachine& clocked, BatchLevel& larger, BatchInPieces& in_pieces)
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

    /// Number of subgraphs that run in pieces, and the seconds that that takes, the traffic over the cut
    /// counted. Without `inner` cuts, all or none.
    std::pair<std::size_t, double> cut(bool inner) const {
        Cost all_pieces = fixed_cost(pieces_.network), total = fixed_cost(whole_.network);
        for (std::size_t i = 0; i < before_.size(); ++i) {
            all_pieces += before_[i];
            total += behind_[i];
        }
        std::size_t best = before_.size();
        double fastest = seconds(all_pieces);
        // A saving in time may cost energy, in the same proportion at most.
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

    /// Pieces up to the cut, where there is at least one subgraph, and the whole batch behind it.
    void join(std::size_t cut, BatchSchedule& out) const {
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
            std::uint32_t& place =
                places[before ? piece_.which[i] : piece_.mappings.size() + whole_.which[i]];
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

  private:
    static Cost cost(const LaneTimes& times, double joules) {
        const double overhead = times.lanes[static_cast<std::size_t>(Lane::overhead)];
        return {times.total - overhead, times.weight_stream, overhead, joules};
    }
    Cost cost_of(const Mapping& mapping, std::size_t index) const {
        return whole_.repeat_of(index) *
               cost(price_time(mapping, machine_, clock_ratio_, prefetch_), prices_.total(mapping.events));
    }
    Cost fixed_cost(const NetworkMapping& network) const {
        return {0, 0, price_time(network.fixed, machine_, clock_ratio_, false).total,
                prices_.total(network.fixed.events)};
    }
    const std::vector<ScheduleCost>& costs_whole(BatchLevel& larger) {
        const std::vector<LaneTimes>& times = larger.whole.costs.times(whole_, machine_, clock_ratio_);
        const std::vector<double>& joules = larger.whole.costs.joules(whole_, prices_, clock_ratio_);
        larger.costs.resize(whole_.which.size());
        for (std::size_t i = 0; i < whole_.which.size(); ++i) {
            const std::uint32_t k = whole_.which[i];
            larger.costs[i] = whole_.repeat[k] * cost(times[k], joules[k]);
        }
        return larger.costs;
    }
    const std::vector<ScheduleCost>& costs_in_pieces(BatchInPieces& in_pieces) {
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
    double seconds(const Cost& c) const {
        return std::max(std::max(c.body, c.weights) + c.overhead, c.dynamic_j / dynamic_w_);
    }
    double joules(const Cost& c) const { return c.dynamic_j + static_w_ * seconds(c); }
    bool can_cross(std::size_t at) const {
        return outside_ != Resource::count_ && at < crossing_.size() &&
               piece_.of(at - 1).demand_count < Mapping::kMaxDemands &&
               whole_.of(at).demand_count < Mapping::kMaxDemands;
    }
    /// All executions of a subgraph that runs in pieces.
    Mapping every_piece(std::size_t index) const {
        Mapping mapping = piece_.of(index);
        scale(mapping, pieces_.count);
        return mapping;
    }
    Mapping with_crossing(Mapping mapping, std::size_t at, std::size_t index) const {
        const double bytes = crossing_[at] / whole_.repeat_of(index);
        mapping.add(outside_, Lane::memory, bytes);
        mapping.events[outside_ == Resource::dram_bytes ? Event::dram_byte : Event::host_link_byte] += bytes;
        return mapping;
    }
    Cost crossing_cost(std::size_t at) const {
        Cost extra = cost_of(last_before(at), at - 1) - before_[at - 1];
        extra += cost_of(first_behind(at), at) - behind_[at];
        return extra;
    }
    /// The last subgraph in pieces and the first of the whole batch, with the traffic over the cut between
    /// them. The bytes cross once per batch, however often a subgraph repeats.
    Mapping last_before(std::size_t at) const { return with_crossing(every_piece(at - 1), at, at - 1); }
    Mapping first_behind(std::size_t at) const { return with_crossing(whole_.of(at), at, at); }
    /// Idle where only the larger batch has a subgraph.
    void all_in_pieces(BatchSchedule& out) const {
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

    const Machine& machine_;
    const double static_w_;
    const double clock_ratio_;
    const EventPrices& prices_;
    const bool prefetch_;
    const std::vector<double>& crossing_; ///< bytes over each cut
    const BatchInPieces& pieces_;
    const BatchSchedule& piece_;
    const BatchSchedule& whole_;
    const std::vector<Cost>&before_, &behind_; ///< of every subgraph, in pieces and whole
    Resource outside_ = Resource::count_;
    double dynamic_w_ =
        std::numeric_limits<double>::infinity(); ///< what the limit leaves beside static power
};

void BatchInPieces::restart() {
    for (auto& [cut, made] : by_cut)
        cuts.leave(std::move(made));
    by_cut.clear();
}

void BatchLevel::forget_cuts() {
    for (auto& made : in_pieces) {
        made->restart();
        pieces.leave(std::move(made));
    }
    in_pieces.clear();
    at_full_clock = nullptr;
}

void BatchLevel::restart() {
    forget_cuts();
    owner = nullptr;
    work = nullptr;
    smaller.clear();
    whole.costs.restart();
    missing.reset();
}

BatchCounts& BatchCounts::alone() {
    if (!alone_)
        alone_ = std::make_unique<BatchCounts>();
    return *alone_;
}

BatchCounts& BatchCounts::arranged(const Mapper& arrangement) {
    for (const auto& [known, counts] : arranged_)
        if (known == &arrangement)
            return *counts;
    return *arranged_.emplace_back(&arrangement, std::make_unique<BatchCounts>()).second;
}

void BatchCounts::machine_changed() {
    std::size_t cuts = 0;
    for (const auto& level : levels_) {
        level->at_full_clock = nullptr;
        level->whole.costs.forget_times();
        for (const auto& pieces : level->in_pieces) {
            cuts += pieces->by_cut.size();
            for (const auto& [at, cut] : pieces->by_cut)
                cut->costs.forget_times();
        }
    }
    // The pieces of one batch are made of the cuts of another: all of them go.
    if (cuts > kCutsKept)
        for (const auto& level : levels_)
            level->forget_cuts();
    for_each_other([](BatchCounts& other) { other.machine_changed(); });
}

void BatchCounts::forget_works() {
    for (auto& level : levels_) {
        level->restart();
        left_.leave(std::move(level));
    }
    levels_.clear();
    for_each_other([](BatchCounts& other) { other.forget_works(); });
}

void BatchCounts::restart() {
    forget_works();
    widths_ = {};
    for_each_other([](BatchCounts& other) { other.restart(); });
}

BatchLevel* BatchCounts::find(const NetworkWork& work) const {
    for (const auto& level : levels_)
        if (level->work == &work)
            return level.get();
    return nullptr;
}

BatchLevel& BatchCounts::add(std::shared_ptr<const NetworkWork> owner, const NetworkWork& work,
                             const Machine& machine) {
    BatchLevel& level = *levels_.emplace_back(left_.take());
    level.owner = std::move(owner);
    level.work = &work;
    map_whole(work, machine, level.whole.schedule);
    level.whole.events = total_events(level.whole.schedule, work);
    return level;
}

BatchLevel& BatchCounts::of(const NetworkWork& work, const Machine& machine, const EstimateOptions& options) {
    if (BatchLevel* known = find(work))
        return *known;
    BatchLevel& level = add(nullptr, work, machine);
    if (options.smaller_batch && managed_memory_bytes(machine) > 0 && !level.whole.schedule.network.pipelined)
        divide(level, 1, machine, options);
    return level;
}

void BatchCounts::divide(BatchLevel& level, std::size_t parts, const Machine& machine,
                         const EstimateOptions& options) {
    auto left = static_cast<std::size_t>(level.work->batch);
    for (std::size_t prime = 2; left > 1; ++prime) {
        if (prime * prime > left)
            prime = left;
        if (left % prime != 0)
            continue;
        while (left % prime == 0)
            left /= prime;
        const auto smaller = options.smaller_batch(parts * prime);
        if (!smaller || !contains(*level.work->partition, *smaller->partition))
            continue;
        BatchLevel* next = find(*smaller);
        if (!next) {
            next = &add(smaller, *smaller, machine);
            divide(*next, parts * prime, machine, options);
        }
        level.smaller.push_back(next);
    }
}

Scheduled& schedule_at(BatchLevel& level, const Machine& machine, double clock_ratio) {
    if (level.smaller.empty())
        return level.whole;
    if (clock_ratio == 1 && level.at_full_clock)
        return *level.at_full_clock;
    const ClockedMachine clocked(machine, clock_ratio);
    Scheduled* chosen = nullptr;
    double fastest = std::numeric_limits<double>::infinity();
    for (BatchLevel* smaller : level.smaller) {
        BatchInPieces& known = in_pieces(level, *smaller->work, schedule_at(*smaller, machine, clock_ratio));
        const Joiner joiner(clocked, level, known);
        const auto [cut, seconds] = joiner.cut(known.alike);
        if (chosen && seconds >= fastest)
            continue;
        fastest = seconds;
        chosen = cut == 0 ? &level.whole : nullptr;
        for (const auto& [at, made] : known.by_cut)
            if (at == cut)
                chosen = made.get();
        if (!chosen) {
            std::unique_ptr<Scheduled>& joined = known.by_cut.emplace_back(cut, known.cuts.take()).second;
            joiner.join(cut, joined->schedule);
            joined->events = total_events(joined->schedule, *level.work);
            joined->costs.restart();
            chosen = joined.get();
        }
    }
    if (clock_ratio == 1)
        level.at_full_clock = chosen;
    return *chosen;
}

} // namespace archsim
