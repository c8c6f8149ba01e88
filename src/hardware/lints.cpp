#include "hardware/schema_check.hpp"

#include "core/text.hpp"
#include "hardware/family_facts.hpp"
#include "hardware/parameter_site.hpp"

#include <fmt/format.h>

namespace archsim {

/// Vendors round their peaks ("8 TOPS" for 8.19), so a product may be this far off.
constexpr double kPeakTolerance = 0.025;
/// Structured (2:4) sparsity doubles the figure that vendors print.
constexpr double kSparseFactor = 2.0;

class Lints {
  public:
    Lints(const Device& device, std::span<const Finding> known) : device_(device), known_(known) {}

    std::vector<Finding> run() {
        peaks();
        clocks();
        power();
        memory();
        on_chip_bandwidth();
        family();
        return std::move(findings_);
    }

  private:
    /// True when something at, below or around this place could not be read.
    bool doubtful(std::string_view where) const {
        return std::ranges::any_of(known_, [&](const Finding& f) { return same_place(f.where, where); });
    }

    void add(FindingKind kind, std::string where, std::string message, std::string hint) {
        if (doubtful(where))
            return;
        findings_.push_back({.kind = kind,
                             .message = std::move(message),
                             .file = device_.file,
                             .where = std::move(where),
                             .hint = std::move(hint)});
    }

    void peaks() {
        if (device_.engines.empty() || doubtful("/engines"))
            return;
        for (const StatedPeak& peak : device_.peaks) {
            const double product = device_.peak(peak.kind, peak.precision);
            const std::string where =
                fmt::format("/peaks/{}/{}/value", name_of(peak.kind), name_of(peak.precision));
            const double stated = peak.ops_per_second.value;
            if (product == 0) {
                add(FindingKind::inconsistent, where,
                    fmt::format("{:.4g} T operations/s are stated, but no {} engine has an {} rate",
                                stated / 1e12, name_of(peak.kind), name_of(peak.precision)),
                    "add the rate to ops_per_clock of the engine, or remove the peak");
                continue;
            }
            const double ratio = stated / product;
            if (peak.nominal || std::abs(ratio - 1) <= kPeakTolerance)
                continue;
            if (std::abs(ratio / kSparseFactor - 1) <= kPeakTolerance)
                add(FindingKind::inconsistent, where,
                    fmt::format(
                        "{:.4g} T operations/s is a sparse peak in a dense field: twice units x rate x "
                        "clock = {:.4g}",
                        stated / 1e12, product / 1e12),
                    "state the dense figure");
            else
                add(FindingKind::inconsistent, where,
                    fmt::format("{:.4g} T operations/s is not units x rate x clock = {:.4g} ({:+.1f} %)",
                                stated / 1e12, product / 1e12, 100 * (ratio - 1)),
                    R"(correct count, ops_per_clock, clock or peak, or set "nominal": true where one of them is )"
                    "unpublished");
        }
    }

    /// Reports when `low` exceeds `high` by more than rounding.
    void ordered(const Fact& low, const Fact& high, std::string where, std::string_view low_name,
                 std::string_view high_name, double unit, std::string_view symbol) {
        constexpr double kRounding = 1.005;
        if (low.known() && high.known() && low.value > high.value * kRounding)
            add(FindingKind::inconsistent, std::move(where),
                fmt::format("{} {:g} {} exceeds {} {:g} {}", low_name, low.value / unit, symbol, high_name,
                            high.value / unit, symbol),
                "check both values");
    }

    void clocks() {
        constexpr double kMega = 1e6;
        ordered(device_.clock_base, device_.clock_boost, "/clocks/base", "base", "boost", kMega, "MHz");
        const Fact& sustained = device_.clock_sustained;
        if (!device_.family.row().is_host && sustained.known() && sustained.source &&
            sustained.source->kind == SourceKind::assumed)
            add(FindingKind::inconsistent, "/clocks/sustained",
                "a sustained clock that is an estimate would hold at any load; what the power limit "
                "leaves follows from the work at hand",
                "leave it out: the boost clock is the ceiling; or cite who observed it");
    }

    void power() {
        ordered(device_.idle, device_.tdp, "/power/idle", "idle", "tdp", 1, "W");
        ordered(device_.active_idle, device_.tdp, "/power/active_idle", "active_idle", "tdp", 1, "W");
        ordered(device_.idle, device_.active_idle, "/power/idle", "idle", "active_idle", 1, "W");
        double units = 0;
        for (const EngineClass kind : {EngineClass::matrix, EngineClass::vector}) {
            double of_class = 0;
            for (const Engine& engine : device_.engines)
                of_class += engine.kind == kind ? engine.count : 0;
            units = std::max(units, of_class);
        }
        double most = 0; // units that a mode runs; of modes that leave it open all
        for (const PowerMode& mode : device_.power_modes)
            most = std::max(most, mode.active_units.known() ? mode.active_units.value : units);
        if (most > 0 && most < units && !doubtful("/engines"))
            add(FindingKind::inconsistent, "/power_modes",
                fmt::format(
                    "no power mode runs all {:g} units, the largest runs {:g}: more units change nothing",
                    units, most),
                "raise active_units of the modes with the count of the engines");
        mode_bandwidth();
        for (std::size_t i = 0; i < device_.power_modes.size(); ++i) {
            const PowerMode& mode = device_.power_modes[i];
            const std::string at = fmt::format("/power_modes/{}", i);
            ordered(mode.measured_bandwidth, mode.memory_bandwidth, at + "/measured_bandwidth",
                    "measured_bandwidth", "memory_bandwidth", 1e9, "GB/s");
            ordered(device_.idle, mode.limit, at + "/limit", "idle", "limit", 1, "W");
            if (device_.dram)
                ordered(mode.memory_bandwidth, device_.dram->bandwidth, at + "/memory_bandwidth",
                        "memory_bandwidth", "dram bandwidth", 1e9, "GB/s");
            if (mode.active_units.known() && mode.active_units.value > units && !doubtful("/engines"))
                add(FindingKind::inconsistent, at + "/active_units",
                    fmt::format("{:g} active units, but the engines have {:g}", mode.active_units.value,
                                units),
                    "check the counts of the engines");
        }
    }

    /// Memory faster than every power mode runs it.
    void mode_bandwidth() {
        if (!device_.dram || !device_.dram->bandwidth.known() || device_.power_modes.empty())
            return;
        double most = 0;
        for (const PowerMode& mode : device_.power_modes)
            most = std::max(most, mode.memory_bandwidth.known() ? mode.memory_bandwidth.value
                                                                : device_.dram->bandwidth.value);
        constexpr double kGiga = 1e9;
        if (most < device_.dram->bandwidth.value * (1 - kPeakTolerance))
            add(FindingKind::inconsistent, "/power_modes",
                fmt::format(
                    "no power mode runs memory at {:g} GB/s, the fastest at {:g}: more bandwidth changes "
                    "nothing",
                    device_.dram->bandwidth.value / kGiga, most / kGiga),
                "raise memory_bandwidth of the modes with that of the memory");
    }

    void memory() {
        if (!device_.dram || !device_.dram->capacity.known())
            return;
        for (std::size_t i = 0; i < device_.memory.size(); ++i)
            ordered(device_.memory[i].capacity, device_.dram->capacity, fmt::format("/memory/{}/capacity", i),
                    device_.memory[i].name, "DRAM", 1e6, "MB");
    }

    void required(std::string where) {
        add(FindingKind::missing_field, std::move(where),
            fmt::format("a {} needs this field", title_of(device_.family)), "add it with its source");
    }

    /// Accelerators state how fast what is on the chip feeds them, and that is no less than what comes in.
    void on_chip_bandwidth() {
        if (anonymous() || doubtful("/family") || device_.family.row().caches)
            return;
        if (device_.memory.empty())
            required("/memory/0/bandwidth");
        for (std::size_t i = 0; i < device_.memory.size(); ++i) {
            const MemoryLevel& level = device_.memory[i];
            const std::string at = fmt::format("/memory/{}/bandwidth", i);
            if (!level.bandwidth.known() && !level.bytes_per_clock.known())
                required(at);
            if (device_.dram)
                ordered(device_.dram->bandwidth, level.bandwidth, at, "DRAM", level.name, 1e9, "GB/s");
        }
    }

    /// Identity is missing, perhaps the family too.
    bool anonymous() const {
        return std::ranges::any_of(
            known_, [](const Finding& f) { return f.kind == FindingKind::missing_field && f.where == "/"; });
    }

    void family() {
        if (anonymous() || doubtful("/family"))
            return;
        for (const std::string_view name : missing_facts(device_))
            required(fmt::format("/{}/{}", device_.family.row().block, name));
    }

    const Device& device_;
    std::span<const Finding> known_;
    std::vector<Finding> findings_;
};

std::vector<Finding> lint_device(const Device& device, std::span<const Finding> known) {
    return Lints(device, known).run();
}

/// Parameters of which the best measured value bounds what may be assumed.
struct Bounded {
    Parameter parameter;
    bool more_is_better;
    double margin;         ///< factor within which fits of it move with the rows they are made of
    std::string_view says; ///< of an assumed value
};
constexpr std::array kBounded = {
    Bounded{Parameter::matrix_efficiency, true, 1,
            "of the peak is assumed, more than any measured accelerator reaches"},
    Bounded{Parameter::inference_overhead, false, 2,
            "s per inference are assumed, less than half of what any measured accelerator pays"}};

/// A statement of a stack for all its devices or for a generation.
struct Claim {
    const Runtime* runtime;
    std::string where;
    const Fact* value;
};

static bool for_accelerators(const Runtime& runtime) {
    return !runtime.families.empty() &&
           std::ranges::none_of(runtime.families, [](const Family& family) { return family.row().caches; });
}

static std::vector<Claim> claims_of(std::span<const std::shared_ptr<const Runtime>> runtimes,
                                    Parameter parameter) {
    std::vector<Claim> claims;
    for (const auto& runtime : runtimes) {
        if (!for_accelerators(*runtime))
            continue;
        for (const ParameterEntry& entry : runtime->parameters) {
            if (entry.parameter != parameter)
                continue;
            const std::string at = place_in_stack(entry.parameter);
            claims.push_back({runtime.get(), at, &entry.value});
            for (const auto& [generation, fact] : entry.by_generation)
                claims.push_back({runtime.get(), fmt::format("{}/by_generation/{}", at, generation), &fact});
        }
    }
    std::erase_if(claims, [](const Claim& c) { return !c.value->known() || c.value->source == nullptr; });
    return claims;
}

static bool from_measurements(SourceKind kind) {
    return kind == SourceKind::fitted || kind == SourceKind::measured;
}

static void check_bounded(const Bounded& bounded, std::span<const std::shared_ptr<const Runtime>> runtimes,
                          std::vector<Finding>& findings) {
    const std::vector<Claim> claims = claims_of(runtimes, bounded.parameter);
    const auto better = [&](double a, double b) { return bounded.more_is_better ? a > b : a < b; };
    std::optional<double> best;
    for (const Claim& claim : claims)
        if (from_measurements(claim.value->source->kind) && claim.value->value > 0 &&
            (!best || better(claim.value->value, *best)))
            best = claim.value->value;
    for (const Claim& claim : claims) {
        if (!best || claim.value->source->kind != SourceKind::assumed)
            continue;
        const double at_best = bounded.more_is_better ? *best * bounded.margin : *best / bounded.margin;
        if (!better(claim.value->value, at_best))
            continue;
        // An assumption at the bound would cross it at the next fit; at the best it has the whole margin.
        findings.push_back({.kind = FindingKind::inconsistent,
                            .message = fmt::format("{:g} {} ({:g})", claim.value->value, bounded.says, *best),
                            .file = claim.runtime->file,
                            .where = claim.where,
                            .hint = fmt::format("assume {:.2g}, or cite a measurement", *best)});
    }
}

std::vector<Finding> claims_beyond_measured(std::span<const std::shared_ptr<const Runtime>> runtimes) {
    std::vector<Finding> findings;
    for (const Bounded& bounded : kBounded)
        check_bounded(bounded, runtimes, findings);
    return findings;
}

} // namespace archsim
