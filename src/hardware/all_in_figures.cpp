// Published all-in figures of engines, taken apart into what their kernels' events cost.

#include "core/same_everywhere.hpp"
#include "hardware/energy_resolver.hpp"

#include <fmt/format.h>

namespace archsim {

/// All-in joules per multiply-accumulate that the device states for a format (files give joules per
/// operation).
const Fact* EnergyResolver::own_mac(Precision p) const {
    constexpr std::string_view kMac = "mac_";
    for (const FittedParameter& constant : device_.energy)
        if (constant.name.starts_with(kMac) && constant.name.substr(kMac.size()) == archsim::name_of(p))
            return &constant.fact;
    return nullptr;
}

/// Peak operations per second in `p` at the clock that the device sustains; 0 without an engine for it.
double EnergyResolver::sustained_rate(Precision p) const {
    const EngineClass kind =
        device_.supports(EngineClass::matrix, p) ? EngineClass::matrix : EngineClass::vector;
    double rate = 0;
    for (const Engine& engine : device_.engines)
        if (engine.kind == kind && engine.supports(p))
            rate += engine.rate(p).value * engine.count *
                    (device_.clock_sustained.known() ? device_.clock_sustained : device_.clock_all_core)
                        .value_or(engine.clock.value_or(0));
    return rate;
}

/// Joules per multiply-accumulate that the power limit leaves at the best rate; infinite where nobody knows.
/// A changed design has that of the device that it comes from: its limit says nothing of twice the units.
double EnergyResolver::left_by_limit(Precision p) const {
    const double changed =
        device_.clock_change * device_.unit_change * device_.array_change * device_.array_change;
    const double rate = sustained_rate(p) / changed * spec_.best_share_of_peak.value_or(1);
    const double watts = device_.tdp.value_or(0) - table_.static_power.value_or(0) / table_.static_growth;
    return rate > 0 && watts > 0 ? 2 * watts / rate * limit_factor_ : std::numeric_limits<double>::infinity();
}

/// A family's all-in price, or less: what the power limit leaves at the best rate is an upper bound, and
/// how the figures of measured devices were derived too.
Fact EnergyResolver::within_limit(Fact all_in, Precision p) const {
    if (const double bound = left_by_limit(p); family_.bounded_by_limit && bound < all_in.value) {
        all_in.value = bound;
        all_in.note =
            fmt::format("at most (limit - static) / sustained rate: {:.3g} J per operation of {:g} W",
                        bound / 2, device_.tdp.value);
    }
    return all_in;
}

/// Servers hold their cards below what the chips could draw, and figures of nodes come from such cards. A
/// board for a desk gets the limit that its own chip reaches at boost: what it leaves beside the die is what
/// dense products take. Worked: an RTX 4090 leaves 375 W of 450 W for 0.85 of 165 TFLOPS, 2.7 pJ each; 435 W
/// were logged at 122 TFLOPS.
void EnergyResolver::resolve_rating() {
    const Fact& limit = device_.tdp;
    const bool stated = limit.known() && limit.source && limit.source->kind != SourceKind::assumed;
    if (!family_.board_rating.known() || !stated || device_.for_servers || states_clocks())
        return;
    for (const Precision p : kPrecisions)
        if (const double dense = left_by_limit(p); !on_vector_engine(p) && std::isfinite(dense))
            table_.rated_mac[at(p)] =
                std::max(0.0, family_.board_rating.value * dense - 2 * table_.operation[at(p)]);
}

/// The family's price of a matrix engine holds for units inside the cores: beside a unit that cores
/// share, a multiply-accumulate costs its arithmetic, as on vectors, and instructions are counted.
bool EnergyResolver::on_vector_engine(Precision p) const {
    return family_.vector_kernel.known && std::ranges::none_of(device_.engines, [p](const Engine& engine) {
               return engine.kind == EngineClass::matrix && engine.supports(p) && !engine.shared;
           });
}

/// The published all-in energy of the vector engine, less datapath and operands, is what its instructions
/// cost.
void EnergyResolver::resolve_instruction() {
    if (!family_.vector_kernel.known || own_fact("instruction") != nullptr)
        return;
    Fact all_in = family_figure(family_.vector_fp32, Precision::fp32);
    const Fact* stated = on_vector_engine(Precision::fp32) ? own_mac(Precision::fp32) : nullptr;
    if (stated != nullptr) {
        all_in = *stated;
        all_in.value *= 2;
    }
    const double rest = all_in.value - value_at(spec_.arithmetic[at(Precision::fp32)]) -
                        priced(family_.vector_kernel, Precision::fp32, Event::instruction);
    const double instructions = family_.vector_kernel.count(Event::instruction, bytes_of(Precision::fp32));
    Fact& price = table_.event[at(Event::instruction)];
    price = all_in;
    price.value = std::max(0.0, rest) / instructions;
    price.note = fmt::format("what {:.3g} pJ per fp32 operation leaves beside datapath and operands",
                             all_in.value / 2 * 1e12);
}

void EnergyResolver::resolve_mac(Precision p) {
    if (on_vector_engine(p)) {
        table_.mac[at(p)] = price_at(spec_.arithmetic[at(p)]);
        return;
    }
    Fact fact = all_in(p);
    // Nothing around a multiplier makes it cost less than it does alone.
    if (const NodePrice& alone = spec_.arithmetic[at(p)]; value_at(alone) > fact.value)
        fact = price_at(alone);
    const double events = priced(family_.matrix_kernel, p);
    if (events > 0)
        fact.note = fmt::format("{:.3g} pJ per operation all-in, less {:.2g} pJ priced as other events",
                                fact.value / 2 * 1e12, events / 2 * 1e12);
    fact.value = std::max(spec_.least_datapath_share.value_or(0) * fact.value, fact.value - events);
    table_.mac[at(p)] = fact;
}

/// A figure of a node holds at the clock of the device that it comes from; another device of the node runs
/// at its own, and the voltage follows. Worked: 5.81 pJ per fp32 operation of an H200 at 1.98 GHz are
/// 5.81 x 2.49 / 1.98 = 7.31 on an L40, whose boost is 2.49 GHz on the same node.
Fact EnergyResolver::family_figure(const NodePrice& price, Precision p) const {
    Fact fact = price_at(price);
    const double clock = value_at(family_.figure_clock);
    if (fact.known() && !std::isnan(clock) && table_.nominal_clock.known()) {
        const double voltage = same_everywhere(
            std::pow(table_.nominal_clock.value / clock, table_.clock_exponent.value_or(1) - 1));
        fact.value *= std::max(table_.lowest_voltage.value_or(0), voltage);
    }
    return within_limit(std::move(fact), p);
}

/// All-in joules per multiply-accumulate in `p`: the device's figure, else the family's, each for this
/// format or, by the ratio of widths, for the format nearest in width.
Fact EnergyResolver::all_in(Precision p) const {
    const auto nearest = [p](const auto& has) {
        std::optional<Precision> best;
        int distance = std::numeric_limits<int>::max();
        for (const Precision q : kPrecisions)
            if (const int d = q == p ? -1 : std::abs(bits_of(q) - bits_of(p)); d < distance && has(q)) {
                best = q;
                distance = d;
            }
        return best;
    };
    const auto stated = nearest([this](Precision q) {
        const Fact* const own = own_mac(q);
        return own != nullptr && own->known() && !on_vector_engine(q);
    });
    const auto figure =
        stated ? stated : nearest([this](Precision q) { return family_.matrix[at(q)].known(); });
    if (!figure)
        return {};
    const Precision from = *figure;
    Fact best = stated ? *own_mac(from) : family_figure(family_.matrix[at(from)], from);
    if (stated)
        best.value *= 2 * limit_factor_;
    if (from != p) {
        best.value *= spec_.width_ratio[at(p)].value / spec_.width_ratio[at(from)].value;
        best.note = fmt::format("from {} by the ratio of widths", archsim::name_of(from));
    }
    return best;
}

double EnergyResolver::operation_energy(Precision p) const {
    const bool matrix = device_.supports(EngineClass::matrix, p);
    if (!matrix && !device_.supports(EngineClass::vector, p))
        return std::numeric_limits<double>::quiet_NaN();
    const ReferenceKernel& kernel = on_vector_engine(p) ? family_.vector_kernel : family_.matrix_kernel;
    return (table_.mac[at(p)].value + priced(kernel, p)) / 2;
}

std::vector<Finding> EnergyResolver::price_findings() const {
    std::vector<Finding> findings;
    for (Precision p : kPrecisions) {
        const Fact* stated = own_mac(p);
        const Fact of_family = price_at(family_.matrix[at(p)]);
        const double all_in = stated != nullptr ? 2 * stated->value : of_family.value_or(INFINITY);
        const double alone = value_at(spec_.arithmetic[at(p)]);
        if (on_vector_engine(p) || !device_.supports(EngineClass::matrix, p) || !(all_in < alone))
            continue;
        findings.push_back(
            {.kind = FindingKind::inconsistent,
             .message = fmt::format("{:.3g} pJ for a multiply-accumulate in {} with all around it{}, "
                                    "but its bare arithmetic takes {:.3g} pJ",
                                    all_in * 1e12, archsim::name_of(p),
                                    stated != nullptr ? "" : " is what the family states for this node",
                                    alone * 1e12),
             .file = device_.file,
             .where = stated != nullptr ? fmt::format("/energy/mac_{}", archsim::name_of(p)) : "/process",
             .hint = "state no less than the arithmetic, or cite a measurement of both"});
    }
    const auto warn = [&](std::string where, std::string message, std::string hint) {
        findings.push_back({.kind = FindingKind::unknown_name,
                            .severity = Severity::warning,
                            .message = std::move(message),
                            .file = device_.file,
                            .where = std::move(where),
                            .hint = std::move(hint)});
    };
    if (device_.dram && !device_.dram->type.empty() && own_fact("dram_byte") == nullptr &&
        !names_type(spec_.dram_device, device_.dram->type))
        warn("/dram/type",
             fmt::format(
                 "no energy per byte is known of memory of the type \"{}\"; an estimate for unnamed DRAM "
                 "stands in for it",
                 device_.dram->type),
             "name a type such as LPDDR5 or HBM3, or state energy/dram_byte");
    const auto& curve = spec_.scaling[static_cast<std::size_t>(Scaling::logic)];
    if (device_.process_nm.known() && beyond_table(device_.process_nm.value))
        warn(
            "/process",
            fmt::format("prices are known from {:g} to {:g} nm; those of the nearest of these nodes stand in "
                        "for {:g} nm",
                        curve.front().first, curve.back().first, device_.process_nm.value),
            "check the node, or state prices under energy");
    return findings;
}

} // namespace archsim
