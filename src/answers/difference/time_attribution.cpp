// Time of a region: stretch [ serialisation combine(C, O, M) + fixed + host ] with
//   C = c / (peak clock),  c = useful operations / achieved share
//   O = clocked / clock + unclocked
//   M = bytes / (bandwidth share) + weights / (bandwidth share), weights only where they are not streamed
//       ahead
// and for the network max(sum of combined, sum of streamed weights) in place of the sum of combined.

#include "answers/difference/estimate_record.hpp"
#include "answers/difference/factor_terms.hpp"
#include "core/lists.hpp"
#include "estimate/price.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace archsim {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Factors of the overlapped part, in bit order.
enum Bit : std::uint32_t {
    peak,
    achieved,
    on_chip,
    bandwidth,
    share,
    bytes,
    overlap,
    host,
    clock,
    interval,
    work
};
constexpr std::array kFactors = {
    Factor::peak,         Factor::achieved, Factor::on_chip, Factor::bandwidth,   Factor::bandwidth_share,
    Factor::memory_bytes, Factor::overlap,  Factor::host,    Factor::power_limit, Factor::concurrency,
    Factor::work};

static double ratio(double x, double y) {
    return y > 0 ? x / y : kUnknown;
}

/// Both sides of one region with everything that a hybrid of them needs.
class RegionSides {
  public:
    RegionSides(const DeviceTime& a, const DeviceTime& b, const RegionTime& ra, const RegionTime& rb)
        : device_{&a, &b}, region_{&ra, &rb} {
        for (std::size_t s = 0; s < 2; ++s) {
            const RegionTime& r = *region_[s];
            equivalent_[s] = r.compute_s * device_[s]->peak * device_[s]->clock_ratio;
            cost_[s] = ratio(equivalent_[s], r.device_operations);
            device_share_[s] = ratio(r.device_operations, r.operations);
            activation_share_[s] = ratio(r.bytes, r.memory_s * device_[s]->bandwidth);
            weight_share_[s] = ratio(r.weight_bytes, r.weight_s * device_[s]->bandwidth);
        }
        complete(cost_, 1);
        complete(device_share_, 1);
        complete(activation_share_, 1);
        complete(weight_share_, 1);
    }

    /// Overlapped time of the hybrid, and what its weights take where they are streamed ahead.
    struct Time {
        double body = 0, stream = 0;
    };
    Time at(std::uint32_t mask) const {
        const auto side = [mask](Bit bit) { return mask >> bit & 1U ? std::size_t{0} : std::size_t{1}; };
        const DeviceTime& over = *device_[side(overlap)];
        const double ratio_of_clock = device_[side(clock)]->clock_ratio;
        const double compute =
            equivalent(side(achieved), side(host), side(work)) / (device_[side(peak)]->peak * ratio_of_clock);
        const RegionTime& paths = *region_[side(on_chip)];
        const double chip = paths.on_chip_clocked_s / ratio_of_clock + paths.on_chip_s;
        const RegionTime& moved = *region_[side(bytes)];
        const double rate = device_[side(bandwidth)]->bandwidth;
        const double activations = moved.bytes / (rate * activation_share_[side(share)]);
        const double weights = moved.weight_bytes / (rate * weight_share_[side(share)]);
        return {region_[side(overlap)]->serialisation *
                    combine(compute, chip, activations + (over.prefetch ? 0 : weights), over.exponent),
                over.prefetch ? weights : 0};
    }

    /// Bits in which the sides differ here.
    std::uint32_t different() const {
        std::uint32_t bits = 0;
        const auto mark = [&bits](Bit bit, bool differs) { bits |= differs ? 1U << bit : 0U; };
        const RegionTime &a = *region_[0], &b = *region_[1];
        mark(peak, device_[0]->peak != device_[1]->peak);
        mark(achieved, cost_[0] != cost_[1] || equivalent_[0] != equivalent_[1]);
        mark(on_chip, a.on_chip_clocked_s != b.on_chip_clocked_s || a.on_chip_s != b.on_chip_s);
        mark(bandwidth, device_[0]->bandwidth != device_[1]->bandwidth);
        mark(share, activation_share_[0] != activation_share_[1] || weight_share_[0] != weight_share_[1]);
        mark(bytes, a.bytes != b.bytes || a.weight_bytes != b.weight_bytes);
        mark(overlap, device_[0]->exponent != device_[1]->exponent ||
                          device_[0]->prefetch != device_[1]->prefetch || a.serialisation != b.serialisation);
        mark(host, device_share_[0] != device_share_[1]);
        mark(work, a.operations != b.operations);
        mark(clock, device_[0]->clock_ratio != device_[1]->clock_ratio ||
                        device_[0]->stretch != device_[1]->stretch);
        return bits;
    }

  private:
    static void complete(std::array<double, 2>& values, double otherwise) {
        Pair pair{values[0], values[1]};
        pair.complete(otherwise);
        values = {pair.a, pair.b};
    }
    /// Operations at peak rate that the compute lane takes: of `own` efficiency, executing of the work of
    /// `whose` network what `executing`'s device does not leave to its host.
    double equivalent(std::size_t own, std::size_t executing, std::size_t whose) const {
        if (region_[whose]->operations == region_[own]->operations &&
            device_share_[executing] == device_share_[own])
            return equivalent_[own];
        return region_[whose]->operations * device_share_[executing] * cost_[own];
    }

    std::array<const DeviceTime*, 2> device_;
    std::array<const RegionTime*, 2> region_;
    std::array<double, 2> equivalent_{}, cost_{}, device_share_{}, activation_share_{}, weight_share_{};
};

/// Bits set in `different` as a list, and back from an index over that list to a full mask.
struct Selection {
    std::vector<Factor> factors;
    std::vector<std::uint32_t> bits;
    explicit Selection(std::uint32_t different) {
        for (std::uint32_t bit = 0; bit < kFactors.size(); ++bit)
            if (different >> bit & 1U) {
                factors.push_back(kFactors[bit]);
                bits.push_back(bit);
            }
    }
    std::uint32_t mask(std::uint32_t chosen) const {
        std::uint32_t full = 0;
        for (std::size_t i = 0; i < bits.size(); ++i)
            full |= (chosen >> i & 1U) << bits[i];
        return full;
    }
};

/// Times of both sides, byte by byte: regions that are equal in them have equal parts.
using RegionKey = std::array<std::uint64_t, 2 * sizeof(RegionTime) / sizeof(std::uint64_t)>;

static RegionKey key_of(const RegionTime& a, const RegionTime& b) {
    static_assert(sizeof(RegionTime) == 15 * sizeof(double), "without padding, so that bytes tell");
    RegionKey key;
    std::memcpy(key.data(), &a, sizeof a);
    std::memcpy(key.data() + key.size() / 2, &b, sizeof b);
    return key;
}

class LeafAttribution {
  public:
    LeafAttribution(const DeviceTime& a, const DeviceTime& b, bool per_interval, PartSums& sums)
        : a_(a), b_(b), per_interval_(per_interval), sums_(sums) {}

    void run(const std::vector<std::size_t>& ids) {
        // The layers of a network repeat: a region that is equal to one before is taken apart like it.
        std::map<RegionKey, std::size_t> known;
        std::vector<RegionSides> sides;
        std::vector<double> times; ///< how often each occurs
        std::vector<std::array<double, kFactorCount>> parts;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const RegionTime &ra = a_.regions[i], &rb = b_.regions[i];
            const auto [at, is_new] = known.try_emplace(key_of(ra, rb), sides.size());
            if (is_new) {
                sides.emplace_back(a_, b_, ra, rb);
                times.push_back(0);
                parts.push_back(parts_of(ra, rb, sides.back()));
            }
            times[at->second] += 1;
            add(ids[i], parts[at->second]);
        }
        add(kNetwork, parts_of(a_.network, b_.network, RegionSides(a_, b_, a_.network, b_.network)));
        if (a_.prefetch || b_.prefetch)
            add_stream(sides, times);
    }

  private:
    std::uint32_t outer() const {
        return per_interval_ && a_.concurrency != b_.concurrency ? 1U << interval : 0U;
    }
    double scale(std::uint32_t mask) const {
        const double stretch = mask >> clock & 1U ? a_.stretch : b_.stretch;
        const double concurrency = mask >> interval & 1U ? a_.concurrency : b_.concurrency;
        return stretch * (per_interval_ ? concurrency : 1);
    }

    void add(std::size_t id, const std::array<double, kFactorCount>& parts) {
        for (std::size_t f = 0; f < kFactorCount; ++f)
            if (parts[f] != 0)
                sums_.add(id, static_cast<Factor>(f), parts[f]);
    }

    std::array<double, kFactorCount> parts_of(const RegionTime& a, const RegionTime& b,
                                              const RegionSides& sides) const {
        PartSums one(0);
        const Selection chosen(sides.different() | outer());
        add_function(
            kNetwork, chosen.factors,
            [&](std::uint32_t mask) {
                const std::uint32_t full = chosen.mask(mask);
                return scale(full) * sides.at(full).body;
            },
            one);
        const Pair clocked{1 / a_.clock_ratio * a_.stretch, 1 / b_.clock_ratio * b_.stretch};
        const Pair stretch{a_.stretch, b_.stretch};
        const Pair concurrency{per_interval_ ? a_.concurrency : 1, per_interval_ ? b_.concurrency : 1};
        const auto product = [&](const std::vector<std::pair<Factor, Pair>>& factors, const Pair& limit) {
            auto all = factors;
            all.emplace_back(Factor::power_limit, limit);
            all.emplace_back(Factor::concurrency, concurrency);
            add_product(kNetwork, 1, all, one);
        };
        // Fixed time = starts x time per start.
        const Pair starts{a.starts, b.starts};
        const auto started = [&](double x, double y, const Pair& limit) {
            Pair each{ratio(x, a.starts), ratio(y, b.starts)};
            each.complete(0);
            product({{Factor::kernels, starts}, {Factor::fixed_cost, each}}, limit);
        };
        started(a.fixed_clocked_s, b.fixed_clocked_s, clocked);
        started(a.fixed_s, b.fixed_s, stretch);
        product({{Factor::host, {a.host_s, b.host_s}}}, stretch);
        return one.region(kNetwork);
    }

    /// Weights streamed ahead that take longer than everything they hide behind. Each of `sides` occurs
    /// `times`.
    void add_stream(const std::vector<RegionSides>& sides, const std::vector<double>& times) {
        std::uint32_t different = outer();
        for (const RegionSides& s : sides)
            different |= s.different();
        const Selection chosen(different);
        add_function(
            kNetwork, chosen.factors,
            [&](std::uint32_t mask) {
                const std::uint32_t full = chosen.mask(mask);
                double body = 0, stream = 0;
                for (std::size_t i = 0; i < sides.size(); ++i) {
                    const auto t = sides[i].at(full);
                    body += times[i] * t.body;
                    stream += times[i] * t.stream;
                }
                return scale(full) * std::max(0.0, stream - body);
            },
            sums_);
    }

    const DeviceTime &a_, &b_;
    const bool per_interval_;
    PartSums& sums_;
};

void attribute_time(const Sides& sides, TimeOf time, PartSums& sums) {
    const bool per_item = time == TimeOf::item;
    for (std::size_t part = 0; part < sides.graphs.size(); ++part) {
        std::vector<std::size_t> ids =
            kept(indices(sides.regions.size()), [&](std::size_t r) { return sides.regions[r].part == part; });
        const auto model = [&](const GraphRecord& graph, std::size_t index) {
            return time_model(graph, sides.regions, index, part, graph.repeat / (per_item ? graph.batch : 1));
        };
        const DeviceTime a = model(*sides.graphs[part].a, 0), b = model(*sides.graphs[part].b, 1);
        LeafAttribution(a, b, per_item, sums).run(ids);
    }
}

} // namespace archsim
