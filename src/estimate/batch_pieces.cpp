#include "estimate/batch_pieces.hpp"

#include "estimate/price.hpp"
#include "estimate/several_chips.hpp"
#include "map/accelerator.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace archsim {

namespace {

/// Rounding of sums over a few hundred subgraphs.
constexpr double kRounding = 1e-12;
/// Bytes beyond the compulsory ones that still count as none.
constexpr double kNegligible = 1.001;

void scale(Mapping& mapping, double factor) {
    for (std::size_t i = 0; i < mapping.demand_count; ++i)
        mapping.demands[i].amount *= factor;
    mapping.events.scale(factor);
    mapping.ideal_cycles *= factor;
}

/// Fixed counts of `factor` pieces that one call runs: the start of an inference and the host's work are paid
/// once, as in a pipeline; transfers and reconfigurations by every piece.
void scale_fixed(Mapping& fixed, double factor) {
    scale(fixed, factor);
    for (std::size_t i = 0; i < fixed.demand_count; ++i)
        if (const Parameter reason = fixed.demands[i].reason;
            reason == Parameter::inference_overhead || reason == Parameter::host_time)
            fixed.demands[i].amount /= factor;
}

/// More bytes from and to the outside than weights, caches, inputs and outputs need. Where fewer bytes move
/// than there are weights, the weights stay on the chip and what moves is something else.
bool spills(const std::vector<Mapping>& mappings, const NetworkWork& work) {
    double moved = 0, weights = 0, ends = work.input_bytes + work.output_bytes;
    for (std::size_t i = 0; i < mappings.size(); ++i) {
        const double repeat = work.subgraphs[i].repeat;
        moved += repeat * (mappings[i].events[Event::dram_byte] + mappings[i].events[Event::host_link_byte]);
        weights += repeat * work.subgraphs[i].weight_bytes;
        ends += repeat * work.subgraphs[i].kv_bytes;
    }
    return moved > ends * kNegligible && (moved < weights || moved > (weights + ends) * kNegligible);
}

/// Additive parts of time and energy, so that schedules can be summed subgraph by subgraph.
struct Cost {
    double body = 0, weights = 0, overhead = 0, dynamic_j = 0;
    Cost& operator+=(const Cost& o) {
        body += o.body;
        weights += o.weights;
        overhead += o.overhead;
        dynamic_j += o.dynamic_j;
        return *this;
    }
    friend Cost operator*(double f, const Cost& c) {
        return {f * c.body, f * c.weights, f * c.overhead, f * c.dynamic_j};
    }
    friend Cost operator-(Cost a, const Cost& b) { return a += -1 * b; }
};

/// Chooses the cut between the pieces of one batch size and the whole of the next larger one.
class Joiner {
  public:
    Joiner(const Machine& machine, double clock_ratio, const NetworkWork& batch, BatchSchedule& pieces,
           std::vector<Mapping>& whole)
        : machine_(machine), clock_ratio_(clock_ratio),
          prefetch_(machine.runtime->weight_prefetch == WeightPrefetch::network), batch_(batch),
          pieces_(pieces), whole_(whole) {
        for (const Resource resource : {Resource::host_link_bytes, Resource::dram_bytes})
            if (machine.rate(resource) > 0)
                outside_ = resource;
        if (machine.energy && machine.power_limit_w > machine.static_power_w)
            dynamic_w_ = machine.power_limit_w - machine.static_power_w;
        for (std::size_t i = 0; i < whole.size(); ++i) {
            before_.push_back(cost(pieces.mappings[i], i));
            behind_.push_back(cost(whole[i], i));
        }
    }

    /// Number of subgraphs that run in pieces; traffic over the cut is added on both sides of it. Without
    /// `inner` cuts, all or none.
    std::size_t cut(const NetworkMapping& network, bool inner) {
        Cost all_pieces = fixed_cost(pieces_.network), total = fixed_cost(network);
        for (std::size_t i = 0; i < whole_.size(); ++i) {
            all_pieces += before_[i];
            total += behind_[i];
        }
        const double budget = joules(all_pieces) * (1 + kRounding);
        std::size_t best = whole_.size();
        double fastest = seconds(all_pieces);
        for (std::size_t at = 0; at < whole_.size(); ++at) {
            if (at > 0) {
                total += before_[at - 1];
                total = total - behind_[at - 1];
                if (!inner || !can_cross(at))
                    continue;
            }
            // Of equals, the whole batch.
            const double limit = fastest * (at == 0 ? 1 + kRounding : 1 - kRounding);
            const auto better = [&](const Cost& c) { return joules(c) <= budget && seconds(c) <= limit; };
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
        if (best > 0 && best < whole_.size()) {
            add_crossing(pieces_.mappings[best - 1], best, best - 1);
            add_crossing(whole_[best], best, best);
        }
        return best;
    }

  private:
    Cost cost(const Mapping& mapping, std::size_t index) const {
        const LaneTimes times = price_time(mapping, machine_, clock_ratio_, prefetch_);
        const double overhead = times.lanes[static_cast<std::size_t>(Lane::overhead)];
        return batch_.subgraphs[index].repeat *
               Cost{times.total - overhead, times.weight_stream, overhead,
                    price_energy(mapping.events, machine_, clock_ratio_).total()};
    }
    Cost fixed_cost(const NetworkMapping& network) const {
        return {0, 0, price_time(network.fixed, machine_, clock_ratio_, false).total,
                price_energy(network.fixed.events, machine_, clock_ratio_).total()};
    }
    /// Where the power limit binds, energy sets the time.
    double seconds(const Cost& c) const {
        return std::max(std::max(c.body, c.weights) + c.overhead, c.dynamic_j / dynamic_w_);
    }
    double joules(const Cost& c) const { return c.dynamic_j + machine_.static_power_w * seconds(c); }

    bool can_cross(std::size_t at) const {
        return outside_ != Resource::count_ && at < batch_.memory.crossing.size() &&
               pieces_.mappings[at - 1].demand_count < Mapping::kMaxDemands &&
               whole_[at].demand_count < Mapping::kMaxDemands;
    }
    /// The bytes cross once per batch, however often the subgraph repeats.
    void add_crossing(Mapping& mapping, std::size_t at, std::size_t index) const {
        const double bytes = batch_.memory.crossing[at] / batch_.subgraphs[index].repeat;
        mapping.add(outside_, Lane::memory, bytes);
        mapping.events[outside_ == Resource::dram_bytes ? Event::dram_byte : Event::host_link_byte] += bytes;
    }
    Cost crossing_cost(std::size_t at) const {
        Mapping last = pieces_.mappings[at - 1], first = whole_[at];
        add_crossing(last, at, at - 1);
        add_crossing(first, at, at);
        Cost extra = cost(last, at - 1) - before_[at - 1];
        extra += cost(first, at) - behind_[at];
        return extra;
    }

    const Machine& machine_;
    const double clock_ratio_;
    const bool prefetch_;
    const NetworkWork& batch_;
    BatchSchedule& pieces_;
    std::vector<Mapping>& whole_;
    std::vector<Cost> before_, behind_; ///< of every subgraph, in pieces and whole
    Resource outside_ = Resource::count_;
    double dynamic_w_ =
        std::numeric_limits<double>::infinity(); ///< what the limit leaves beside static power
};

/// Whether each subgraph of `smaller` has one in `larger` with the same anchor: with a batch of one a
/// transposition may be a mere view, and has no subgraph there.
bool contains(const Partition& larger, const Partition& smaller) {
    std::size_t i = 0;
    for (const Subgraph& s : smaller.subgraphs) {
        while (i < larger.subgraphs.size() && larger.subgraphs[i].anchor != s.anchor)
            ++i;
        if (i++ == larger.subgraphs.size())
            return false;
    }
    return true;
}

/// The schedule with an idle subgraph in place of each that only `larger` has.
void spread(BatchSchedule& schedule, const Partition& smaller, const Partition& larger) {
    BatchSchedule wide;
    wide.network = schedule.network;
    std::size_t i = 0;
    for (const Subgraph& s : larger.subgraphs) {
        const bool both = i < smaller.subgraphs.size() && smaller.subgraphs[i].anchor == s.anchor;
        wide.mappings.push_back(both ? schedule.mappings[i] : Mapping{});
        wide.pieces.push_back(both ? schedule.pieces[i] : schedule.pieces.front());
        i += both;
    }
    schedule = std::move(wide);
}

} // namespace

BatchScheduler::Level BatchScheduler::map(const NetworkWork& work) const {
    const Mapper& mapper = machine_.mapper ? *machine_.mapper : mapper_for(machine_.device->family);
    Level level{nullptr, &work, std::vector<Mapping>(work.subgraphs.size()), {}};
    for (std::size_t i = 0; i < work.subgraphs.size(); ++i) {
        mapper.map(work.subgraphs[i], work, machine_, level.mappings[i]);
        add_collectives(work.subgraphs[i], machine_, level.mappings[i]);
    }
    level.network = mapper.map_network(work, machine_);
    return level;
}

BatchScheduler::BatchScheduler(const NetworkWork& work, const Machine& machine,
                               const EstimateOptions& options)
    : machine_(machine) {
    levels_.push_back(map(work));
    if (!options.smaller_batch || accelerator::managed_memory_bytes(machine) <= 0 || network().pipelined)
        return;
    while (levels_.back().work->batch > 1 && spills(levels_.back().mappings, *levels_.back().work)) {
        auto smaller = options.smaller_batch(levels_.size() - 1);
        if (!smaller || !contains(*levels_.back().work->partition, *smaller->partition))
            return;
        levels_.push_back(map(*smaller));
        levels_.back().owner = std::move(smaller);
    }
}

BatchSchedule BatchScheduler::at(double clock_ratio) const {
    BatchSchedule schedule;
    schedule.mappings = levels_.back().mappings;
    schedule.network = levels_.back().network;
    schedule.pieces.assign(schedule.mappings.size(), 1.0);
    for (std::size_t level = levels_.size() - 1; level-- > 0;) {
        const Level& larger = levels_[level];
        const double factor = larger.work->batch / levels_[level + 1].work->batch;
        for (Mapping& mapping : schedule.mappings)
            scale(mapping, factor);
        scale_fixed(schedule.network.fixed, factor);
        const bool alike = schedule.mappings.size() == larger.mappings.size();
        if (!alike)
            spread(schedule, *levels_[level + 1].work->partition, *larger.work->partition);
        std::vector<Mapping> whole = larger.mappings;
        const std::size_t cut =
            Joiner(machine_, clock_ratio, *larger.work, schedule, whole).cut(larger.network, alike);
        for (std::size_t i = 0; i < whole.size(); ++i)
            if (i < cut) {
                schedule.pieces[i] *= factor;
            } else {
                schedule.mappings[i] = whole[i];
                schedule.pieces[i] = 1;
            }
        if (cut < whole.size())
            schedule.network = larger.network;
    }
    return schedule;
}

} // namespace archsim
