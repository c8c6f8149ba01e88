#include "estimate/batch_pieces.hpp"

#include "estimate/price.hpp"
#include "estimate/several_devices.hpp"
#include "map/counts_of_structure.hpp"
#include "map/network_mapper.hpp"
#include "map/on_chip.hpp"

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

/// More bytes from and to the outside than caches, inputs and outputs need, and weights where the chip has no
/// room for them. Where fewer bytes move than there are weights, the weights stay on the chip and what moves
/// is something else.
bool spills(const BatchSchedule& schedule, const NetworkWork& work, const Machine& machine) {
    double moved = 0, weights = 0, ends = work.input_bytes + work.output_bytes;
    for (std::size_t i = 0; i < schedule.which.size(); ++i) {
        const double repeat = work.subgraphs[i].repeat;
        const EventCounts& events = schedule.of(i).events;
        moved += repeat * (events[Event::dram_byte] + events[Event::host_link_byte]);
        weights += repeat * work.subgraphs[i].weight_bytes;
        ends += repeat * work.subgraphs[i].kv_bytes;
    }
    const double room = managed_memory_bytes(machine) + weight_memory_bytes(machine);
    return moved > ends * kNegligible &&
           (moved < weights || weights <= room || moved > (weights + ends) * kNegligible);
}

/// Chooses the cut between the pieces of one batch size and the whole of the next larger one.
class Joiner {
    using Cost = ScheduleCost;

  public:
    Joiner(const ClockedMachine& clocked, BatchLevel& larger, BatchInPieces& in_pieces)
        : machine_(clocked.machine), static_w_(clocked.static_w), clock_ratio_(clocked.clock_ratio),
          prices_(clocked.prices), prefetch_(machine_.runtime->weight_prefetch == WeightPrefetch::network),
          batch_(*larger.work), pieces_(in_pieces.pieces), whole_(larger.whole.schedule),
          before_(costs(pieces_, in_pieces.joules)), behind_(costs(whole_, larger.joules)) {
        for (const Resource resource : {Resource::host_link_bytes, Resource::dram_bytes})
            if (machine_.rate(resource) > 0)
                outside_ = resource;
        if (machine_.energy && machine_.power_limit_w > static_w_)
            dynamic_w_ = machine_.power_limit_w - static_w_;
    }

    /// Number of subgraphs that run in pieces, the traffic over the cut counted. Without `inner` cuts, all or
    /// none.
    std::size_t cut(bool inner) const {
        Cost all_pieces = fixed_cost(pieces_.network), total = fixed_cost(whole_.network);
        for (std::size_t i = 0; i < before_.size(); ++i) {
            all_pieces += before_[i];
            total += behind_[i];
        }
        const double budget = joules(all_pieces) * (1 + kRounding);
        std::size_t best = before_.size();
        double fastest = seconds(all_pieces);
        for (std::size_t at = 0; at < before_.size(); ++at) {
            if (at > 0) {
                total += before_[at - 1];
                total = total - behind_[at - 1];
                if (!inner || !can_cross(at))
                    continue;
            }
            // Of equals, the whole batch.
            const double limit = fastest * (at == 0 ? 1 + kRounding : 1 - kRounding);
            const auto better = [&](const Cost& c) {
                const double time = seconds(c);
                return c.dynamic_j + static_w_ * time <= budget && time <= limit;
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
        return best;
    }

    /// The last subgraph in pieces and the first of the whole batch, with the traffic over the cut between
    /// them. The bytes cross once per batch, however often a subgraph repeats.
    Mapping last_before(std::size_t at) const { return with_crossing(pieces_.of(at - 1), at, at - 1); }
    Mapping first_behind(std::size_t at) const { return with_crossing(whole_.of(at), at, at); }

  private:
    Cost cost(const Mapping& mapping, double joules) const {
        const LaneTimes times = price_time(mapping, machine_, clock_ratio_, prefetch_);
        const double overhead = times.lanes[static_cast<std::size_t>(Lane::overhead)];
        return {times.total - overhead, times.weight_stream, overhead, joules};
    }
    Cost cost_of(const Mapping& mapping, std::size_t index) const {
        return batch_.subgraphs[index].repeat * cost(mapping, prices_.total(mapping.events));
    }
    /// Of every subgraph.
    const std::vector<Cost>& costs(const BatchSchedule& schedule, ScheduleJoules& known) const {
        const std::vector<double>& joules = known.at(prices_, schedule);
        known.cost_of_mapping.resize(schedule.mappings.size());
        for (std::size_t k = 0; k < schedule.mappings.size(); ++k)
            known.cost_of_mapping[k] = cost(schedule.mappings[k], joules[k]);
        known.cost_of_subgraph.resize(schedule.which.size());
        for (std::size_t i = 0; i < schedule.which.size(); ++i)
            known.cost_of_subgraph[i] = batch_.subgraphs[i].repeat * known.cost_of_mapping[schedule.which[i]];
        return known.cost_of_subgraph;
    }
    Cost fixed_cost(const NetworkMapping& network) const {
        return {0, 0, price_time(network.fixed, machine_, clock_ratio_, false).total,
                prices_.total(network.fixed.events)};
    }
    /// Where the power limit binds, energy sets the time.
    double seconds(const Cost& c) const {
        return std::max(std::max(c.body, c.weights) + c.overhead, c.dynamic_j / dynamic_w_);
    }
    double joules(const Cost& c) const { return c.dynamic_j + static_w_ * seconds(c); }

    bool can_cross(std::size_t at) const {
        return outside_ != Resource::count_ && at < batch_.memory.crossing.size() &&
               pieces_.of(at - 1).demand_count < Mapping::kMaxDemands &&
               whole_.of(at).demand_count < Mapping::kMaxDemands;
    }
    Mapping with_crossing(Mapping mapping, std::size_t at, std::size_t index) const {
        const double bytes = batch_.memory.crossing[at] / batch_.subgraphs[index].repeat;
        mapping.add(outside_, Lane::memory, bytes);
        mapping.events[outside_ == Resource::dram_bytes ? Event::dram_byte : Event::host_link_byte] += bytes;
        return mapping;
    }
    Cost crossing_cost(std::size_t at) const {
        Cost extra = cost_of(last_before(at), at - 1) - before_[at - 1];
        extra += cost_of(first_behind(at), at) - behind_[at];
        return extra;
    }

    const Machine& machine_;
    const double static_w_;
    const double clock_ratio_;
    const EventPrices& prices_;
    const bool prefetch_;
    const NetworkWork& batch_;
    const BatchSchedule& pieces_;
    const BatchSchedule& whole_;
    const std::vector<Cost>&before_, &behind_; ///< of every subgraph, in pieces and whole
    Resource outside_ = Resource::count_;
    double dynamic_w_ =
        std::numeric_limits<double>::infinity(); ///< what the limit leaves beside static power
};

/// Pieces up to the cut, where there is at least one subgraph, and the whole batch behind it.
void join(const BatchSchedule& pieces, const BatchSchedule& whole, const Joiner& joiner, std::size_t cut,
          BatchSchedule& out) {
    if (cut == pieces.which.size()) {
        out = pieces;
        return;
    }
    constexpr auto kUnused = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> places(pieces.mappings.size() + whole.mappings.size(), kUnused);
    const auto add = [&out](const Mapping& mapping) {
        out.mappings.push_back(mapping);
        return static_cast<std::uint32_t>(out.mappings.size() - 1);
    };
    out.mappings.clear();
    out.which.resize(pieces.which.size());
    for (std::size_t i = 0; i < out.which.size(); ++i) {
        if (i + 1 == cut || i == cut) {
            out.which[i] = add(i == cut ? joiner.first_behind(cut) : joiner.last_before(cut));
            continue;
        }
        const BatchSchedule& from = i < cut ? pieces : whole;
        std::uint32_t& place = places[(i < cut ? 0 : pieces.mappings.size()) + from.which[i]];
        if (place == kUnused) // those that no subgraph has any more are left out
            place = add(from.of(i));
        out.which[i] = place;
    }
    out.pieces.assign(pieces.pieces.begin(), pieces.pieces.begin() + static_cast<std::ptrdiff_t>(cut));
    out.pieces.resize(out.which.size(), 1);
    out.network = whole.network;
    out.by_class = pieces.by_class;
}

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

/// Puts an idle subgraph in place of each that only `larger` has.
void spread(BatchSchedule& schedule, const Partition& smaller, const Partition& larger) {
    const auto idle = static_cast<std::uint32_t>(schedule.mappings.size());
    schedule.mappings.emplace_back();
    std::vector<std::uint32_t> which;
    std::vector<double> pieces;
    std::size_t i = 0;
    for (const Subgraph& s : larger.subgraphs) {
        const bool both = i < smaller.subgraphs.size() && smaller.subgraphs[i].anchor == s.anchor;
        which.push_back(both ? schedule.which[i] : idle);
        pieces.push_back(both ? schedule.pieces[i] : schedule.pieces.front());
        i += both;
    }
    schedule.which = std::move(which);
    schedule.pieces = std::move(pieces);
}

/// For each subgraph the first one that counts alike; null where each must be mapped for itself.
const std::vector<std::uint32_t>* find_alike(const NetworkWork& work, const Machine& machine,
                                             const Mapper& mapper) {
    // A class of the library's mappers need not be one for another.
    if (machine.mapper || work.representatives.size() != work.subgraphs.size())
        return nullptr;
    // Where a batch may run in pieces, sums of pieces are those of whole classes.
    return managed_memory_bytes(machine) > 0 ? &work.representatives : &classes_for(mapper, work);
}

/// As a new one, but for the demands beyond its number of them.
void clear(Mapping& mapping) {
    mapping.demand_count = 0;
    mapping.events = {};
    mapping.allocation = {};
    mapping.ideal_cycles = 0;
    mapping.workspace_bytes = 0;
}

/// Counts of the undivided batch, in place of what `whole` was.
void map_whole(const NetworkWork& work, const Machine& machine, BatchSchedule& whole) {
    const Mapper& mapper = machine.mapper ? *machine.mapper : mapper_for(machine.device->family);
    const auto count = static_cast<std::uint32_t>(work.subgraphs.size());
    const std::vector<std::uint32_t>* const alike = find_alike(work, machine, mapper);
    whole.by_class = alike != nullptr && alike != &work.representatives;
    whole.which.resize(count);
    whole.pieces.assign(count, 1.0);
    std::vector<std::uint32_t> firsts;
    firsts.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        const bool is_first = alike == nullptr || (*alike)[i] == i;
        whole.which[i] = is_first ? static_cast<std::uint32_t>(firsts.size()) : whole.which[(*alike)[i]];
        if (is_first)
            firsts.push_back(i);
    }
    const std::size_t distinct = firsts.size();
    const std::size_t cleared = std::min(distinct, whole.mappings.size());
    for (std::size_t k = 0; k < cleared; ++k)
        clear(whole.mappings[k]);
    whole.mappings.resize(distinct, Mapping{}); // copies of one are made faster than as many new ones
    if (const auto* at_once = dynamic_cast<const NetworkMapper*>(&mapper))
        at_once->map_each(firsts, work, machine, whole.mappings);
    else
        for (std::size_t k = 0; k < distinct; ++k)
            mapper.map(work.subgraphs[firsts[k]], work, machine, whole.mappings[k]);
    for (std::size_t k = 0; k < distinct; ++k)
        add_collectives(work.subgraphs[firsts[k]], machine, whole.mappings[k]);
    whole.network = mapper.map_network(work, machine);
}

/// What is kept of cuts at changing prices, per batch.
constexpr std::size_t kCutsKept = 8;

/// The schedule of the smaller batch, as often as the larger batch has it.
BatchInPieces& in_pieces(BatchLevel& larger, const Scheduled& smaller) {
    for (const auto& known : larger.in_pieces)
        if (known->of == &smaller)
            return *known;
    const double factor = larger.work->batch / larger.smaller->work->batch;
    BatchInPieces& made = *larger.in_pieces.emplace_back(larger.pieces.take());
    made.of = &smaller;
    made.pieces = smaller.schedule;
    for (Mapping& mapping : made.pieces.mappings)
        scale(mapping, factor);
    scale_fixed(made.pieces.network.fixed, factor);
    made.alike = made.pieces.which.size() == larger.whole.schedule.which.size();
    if (!made.alike)
        spread(made.pieces, *larger.smaller->work->partition, *larger.work->partition);
    for (double& pieces : made.pieces.pieces)
        pieces *= factor;
    return made;
}

} // namespace

const std::vector<double>& ScheduleJoules::at(const EventPrices& asked, const BatchSchedule& schedule) {
    if (!prices || *prices != asked) {
        prices = asked;
        of_mapping.clear();
        for (const Mapping& mapping : schedule.mappings)
            of_mapping.push_back(asked.total(mapping.events));
    }
    return of_mapping;
}

void BatchInPieces::restart() {
    for (auto& [cut, made] : by_cut)
        cuts.leave(std::move(made));
    by_cut.clear();
    joules.prices.reset();
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
    smaller = nullptr;
    joules.prices.reset();
    missing.reset();
}

BatchCounts& BatchCounts::alone() {
    if (!alone_)
        alone_ = std::make_unique<BatchCounts>();
    return *alone_;
}

void BatchCounts::machine_changed() {
    std::size_t cuts = 0;
    for (const auto& level : levels_) {
        level->at_full_clock = nullptr;
        for (const auto& pieces : level->in_pieces)
            cuts += pieces->by_cut.size();
    }
    // The pieces of one batch are made of the cuts of another: all of them go.
    if (cuts > kCutsKept)
        for (const auto& level : levels_)
            level->forget_cuts();
    if (alone_)
        alone_->machine_changed();
}

void BatchCounts::forget_works() {
    for (auto& level : levels_) {
        level->restart();
        left_.leave(std::move(level));
    }
    levels_.clear();
    if (alone_)
        alone_->forget_works();
}

void BatchCounts::restart() {
    forget_works();
    widths_ = {};
    if (alone_)
        alone_->restart();
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
    std::vector<BatchLevel*> made{&add(nullptr, work, machine)}; // largest batch first
    const bool may_cut = options.smaller_batch && managed_memory_bytes(machine) > 0 &&
                         !made.front()->whole.schedule.network.pipelined;
    while (may_cut && made.back()->work->batch > 1 &&
           spills(made.back()->whole.schedule, *made.back()->work, machine)) {
        auto smaller = options.smaller_batch(made.size() - 1);
        if (!smaller || !contains(*made.back()->work->partition, *smaller->partition))
            break;
        if (BatchLevel* known = find(*smaller)) {
            made.back()->smaller = known;
            break;
        }
        BatchLevel& next = add(smaller, *smaller, machine);
        made.back()->smaller = &next;
        made.push_back(&next);
    }
    return *made.front();
}

namespace {

const Scheduled& schedule_at(BatchLevel& level, const ClockedMachine& machine) {
    if (!level.smaller)
        return level.whole;
    if (machine.clock_ratio == 1 && level.at_full_clock)
        return *level.at_full_clock;
    BatchInPieces& known = in_pieces(level, schedule_at(*level.smaller, machine));
    const BatchSchedule& whole = level.whole.schedule;
    const Joiner joiner(machine, level, known);
    const std::size_t cut = joiner.cut(known.alike);
    const Scheduled* chosen = cut == 0 ? &level.whole : nullptr;
    for (const auto& [at, made] : known.by_cut)
        if (at == cut)
            chosen = made.get();
    if (!chosen) {
        std::unique_ptr<Scheduled>& joined = known.by_cut.emplace_back(cut, known.cuts.take()).second;
        join(known.pieces, whole, joiner, cut, joined->schedule);
        joined->events = total_events(joined->schedule, *level.work);
        chosen = joined.get();
    }
    if (machine.clock_ratio == 1)
        level.at_full_clock = chosen;
    return *chosen;
}

} // namespace

const Scheduled& schedule_at(BatchLevel& level, const Machine& machine, double clock_ratio) {
    if (!level.smaller)
        return level.whole;
    if (clock_ratio == 1 && level.at_full_clock)
        return *level.at_full_clock;
    return schedule_at(level, ClockedMachine(machine, clock_ratio));
}

} // namespace archsim
