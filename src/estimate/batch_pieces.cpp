#include "estimate/batch_pieces.hpp"

#include "estimate/batch_cut.hpp"
#include "map/counts_of_structure.hpp"
#include "map/network_mapper.hpp"
#include "map/on_chip.hpp"

#include <algorithm>

namespace archsim {

namespace {

/// Fixed counts of `factor` pieces that one call runs: the start of an inference and the host's work are paid
/// once, as in a pipeline; transfers and reconfigurations by every piece.
void scale_fixed(Mapping& fixed, double factor) {
    scale(fixed, factor);
    for (std::size_t i = 0; i < fixed.demand_count; ++i)
        if (const Parameter reason = fixed.demands[i].reason; reason == Parameter::inference_overhead ||
                                                              reason == Parameter::guest_overhead ||
                                                              reason == Parameter::host_time)
            fixed.demands[i].amount /= factor;
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

/// The mappings of a piece for the subgraphs of the larger batch.
std::vector<std::uint32_t> spread(const std::vector<std::uint32_t>& which, const Partition& smaller,
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
const std::vector<std::uint32_t>* find_alike(const NetworkWork& work, const Machine& machine,
                                             const Mapper& mapper) {
    // A class of the library's mappers need not be one for another.
    if (dynamic_cast<const CountsOfStructure*>(&mapper) == nullptr ||
        work.representatives.size() != work.subgraphs.size())
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
BatchInPieces& in_pieces(BatchLevel& larger, const NetworkWork& work, Scheduled& smaller) {
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

} // namespace

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
