#include "core/parse_number.hpp"
#include "hardware/energy_spec.hpp"

#include "hardware/json_reader.hpp"

#include <fmt/format.h>

namespace archsim {

using D = PhysicalDimension;

constexpr Bounds kPerOperation{1e-16, 1e-8};
constexpr Bounds kPerCount{0, 1e-3};

/// The dimension in which an event's price is written.
static PhysicalDimension dimension_of(Event event) {
    if (name_of(event).ends_with("_byte"))
        return D::energy_per_byte;
    return event == Event::host_busy_second ? D::power : D::energy;
}

static void report_unknown(ReadContext& context, const JsonPlace& place, std::string_view name,
                           std::string_view what, std::string hint) {
    context.report(FindingKind::unknown_name, Severity::error, place,
                   fmt::format("\"{}\" is not {}", name, what), std::move(hint));
}

/// Keys are nodes in nanometres.
template <class Read>
static void each_node(ObjectReader& table, Read read) {
    table.members([&](std::string_view key, const JsonPlace& place) {
        const auto process = plain_number<double>(key);
        if (!process)
            report_unknown(table.context(), place, key, "a process node",
                           "write nanometres, for example \"7\"");
        else
            read(key, *process);
    });
}

/// {"energy": quantity, "process": 7, "scales_as": "logic"} or {"by_process": {"7": quantity, ...}}.
/// `per_mac`: quantities are joules per operation, prices joules per multiply-accumulate.
static NodePrice read_price(ObjectReader& owner, std::string_view key, PhysicalDimension dimension,
                            bool per_mac) {
    NodePrice price;
    const double factor = per_mac ? 2 : 1;
    const Bounds bounds = per_mac                     ? kPerOperation
                          : dimension == D::power     ? kPower
                          : dimension == D::frequency ? kClock
                                                      : kPerCount;
    owner.object(key, [&](ObjectReader& entry) {
        price.scaling = entry.choice<Scaling>("scales_as");
        price.energy = entry.quantity("energy", dimension, bounds);
        price.energy.value *= factor;
        if (price.scaling != Scaling::none)
            price.process = entry.number("process", {1, 1000}, Need::required);
        entry.object("by_process", [&](ObjectReader& table) {
            each_node(table, [&](std::string_view node, double process) {
                Fact fact = table.quantity(node, dimension, bounds);
                fact.value *= factor;
                if (fact.known())
                    price.by_process.emplace_back(process, std::move(fact));
            });
        });
        std::ranges::sort(price.by_process, [](const auto& a, const auto& b) { return a.first < b.first; });
        if (!price.known())
            entry.missing("energy", "give \"energy\" or \"by_process\"");
    });
    return price;
}

/// Calls `read(table, value, key)` for every member of an object whose keys are names of values.
template <class Parse, class Read>
static void each_named(ObjectReader& owner, std::string_view key, Parse parse, const char* kind,
                       const char* hint, Read read) {
    owner.object(key, [&](ObjectReader& table) {
        table.members([&](std::string_view name, const JsonPlace& place) {
            if (const auto value = parse(name))
                read(table, *value, name);
            else
                report_unknown(table.context(), place, name, kind, hint);
        });
    });
}
template <class Read>
static void each_price_format(ObjectReader& owner, std::string_view key, Read read) {
    each_named(owner, key, parse_precision, "a numeric format", "use fp32, bf16, int8 and the like", read);
}
template <class Read>
static void each_event(ObjectReader& owner, std::string_view key, Read read) {
    each_named(owner, key, value_named<Event>, "an event", "see the list in docs/energy.md", read);
}

static void read_precisions(ObjectReader& owner, std::string_view key,
                            std::array<NodePrice, kPrecisionCount>& prices) {
    each_price_format(owner, key, [&](ObjectReader& table, Precision format, std::string_view name) {
        prices[static_cast<std::size_t>(format)] = read_price(table, name, D::energy_per_operation, true);
    });
}

static void read_counts(ObjectReader& owner, std::string_view key, std::array<double, kEventCount>& counts) {
    each_event(owner, key, [&](ObjectReader& table, Event event, std::string_view name) {
        counts[static_cast<std::size_t>(event)] = table.number(name, {0, 1e9});
    });
}

static ReferenceKernel read_kernel(ObjectReader& owner, std::string_view key) {
    ReferenceKernel kernel;
    owner.object(key, [&](ObjectReader& entry) {
        kernel.known = true;
        entry.text("description");
        read_counts(entry, "per_mac", kernel.per_mac);
        read_counts(entry, "per_operand_byte", kernel.per_operand_byte);
    });
    return kernel;
}

static std::vector<TypedPrice> read_typed(ObjectReader& owner, std::string_view key,
                                          PhysicalDimension dimension = D::energy_per_byte) {
    std::vector<TypedPrice> prices;
    owner.each(key, [&](ObjectReader& entry) {
        prices.push_back({.types = entry.texts("types"),
                          .energy = entry.quantity(dimension == D::energy_per_byte ? "energy" : "power",
                                                   dimension, kPerCount, Need::required)});
    });
    return prices;
}

static void read_family_energy(ObjectReader& entry, FamilyEnergy& family) {
    each_event(entry, "events", [&](ObjectReader& table, Event event, std::string_view name) {
        family.events[static_cast<std::size_t>(event)] = read_price(table, name, dimension_of(event), false);
    });
    read_precisions(entry, "matrix_engine", family.matrix);
    if (entry.has("vector_engine"))
        family.vector_fp32 = read_price(entry, "vector_engine", D::energy_per_operation, true);
    if (entry.has("figure_clock"))
        family.figure_clock = read_price(entry, "figure_clock", D::frequency, false);
    entry.object("kernels", [&](ObjectReader& kernels) {
        family.matrix_kernel = read_kernel(kernels, "matrix");
        family.vector_kernel = read_kernel(kernels, "vector");
        kernels.object("stream", [&](ObjectReader& stream) {
            stream.text("description");
            read_counts(stream, "per_byte", family.stream_kernel);
        });
    });
    family.dram_path = read_typed(entry, "dram_path");
    entry.object("awake", [&](ObjectReader& awake) {
        awake.text("description");
        family.awake_clock = awake.quantity("clock", D::frequency, kClock, Need::required);
        awake.object("by_generation", [&](ObjectReader& table) {
            table.members([&](std::string_view generation, const JsonPlace&) {
                family.awake[std::string(generation)] = table.quantity(generation, D::power, kPower);
            });
        });
    });
    family.static_share = entry.quantity("static_share", D::one, {0, 1}, Need::required);
    family.clock_exponent = entry.quantity("clock_exponent", D::one, {1, 3}, Need::required);
    family.lowest_voltage = entry.quantity("lowest_voltage", D::one, {0.01, 1}, Need::required);
    family.board_rating = entry.quantity("board_rating", D::one, {0.1, 1});
    family.bounded_by_limit = entry.flag("bounded_by_limit", true);
    family.nominal_clock = entry.quantity("nominal_clock", D::frequency, kClock);
}

static void read_curve(ObjectReader& owner, std::string_view name,
                       std::vector<std::pair<double, double>>& curve) {
    owner.object(name, [&](ObjectReader& table) {
        each_node(table, [&](std::string_view node, double process) {
            curve.emplace_back(process, table.number(node, {0.01, 100}));
        });
    });
    std::ranges::sort(curve);
    if (curve.empty())
        owner.missing(name, "give factors by process node");
}

static void read_scaling(ObjectReader& document, EnergySpec& spec) {
    document.object("scaling", [&](ObjectReader& classes) {
        classes.text("description");
        for (const Scaling scaling : {Scaling::logic, Scaling::sram, Scaling::wire})
            read_curve(classes, name_of(scaling), spec.scaling[static_cast<std::size_t>(scaling)]);
    });
    document.object("design_changes", [&](ObjectReader& changes) {
        changes.text("description");
        spec.compute_share = changes.quantity("compute_share", D::one, {0, 1}, Need::required);
        spec.memory_share = changes.quantity("memory_share", D::one, {0, 1}, Need::required);
    });
}

static void read_prices(ObjectReader& document, EnergySpec& spec) {
    read_scaling(document, spec);
    read_precisions(document, "arithmetic", spec.arithmetic);
    document.object("engine_figures", [&](ObjectReader& figures) {
        spec.best_share_of_peak = figures.quantity("best_share_of_peak", D::one, {0.01, 1}, Need::required);
        spec.least_datapath_share = figures.quantity("least_datapath_share", D::one, {0, 1}, Need::required);
    });
    each_price_format(
        document, "width_ratio", [&](ObjectReader& table, Precision format, std::string_view name) {
            spec.width_ratio[static_cast<std::size_t>(format)] = table.quantity(name, D::one, {0.01, 100});
        });
    spec.dram_device = read_typed(document, "dram_device");
    spec.dram_background = read_typed(document, "dram_background", D::power_per_byte);
    spec.links = read_typed(document, "host_links");
    document.object("wall", [&](ObjectReader& wall) {
        spec.wall.server_supply_efficiency =
            wall.quantity("server_supply_efficiency", D::one, {0.1, 1}, Need::required);
        spec.wall.adapter_efficiency = wall.quantity("adapter_efficiency", D::one, {0.1, 1}, Need::required);
        spec.wall.host_share = wall.quantity("host_share", D::one, {0, 10}, Need::required);
    });
    document.object("families", [&](ObjectReader& families) {
        for (const Family family : archsim::families())
            families.object(name_of(family),
                            [&](ObjectReader& entry) { read_family_energy(entry, spec.families[family]); });
    });
}

static void read_clocks_at_limit(ObjectReader& document, EnergySpec& spec) {
    document.each("clocks_at_limit", [&](ObjectReader& entry) {
        ClockAtLimit at{.device = entry.text("device", Need::required)};
        const std::string format = entry.text("format", Need::required);
        const auto precision = parse_precision(format);
        if (!precision)
            entry.missing("format", "name a numeric format: fp32, bf16, int8 and the like");
        at.precision = precision.value_or(Precision::fp32);
        at.share = entry.quantity("share", D::one, {0.01, 1}, Need::required);
        at.clock = entry.quantity("clock", D::frequency, kClock, Need::required);
        spec.clocks_at_limit.push_back(std::move(at));
    });
}

static void read_multiples(ObjectReader& document, EnergySpec& spec) {
    document.object("fitted", [&](ObjectReader& families) {
        for (const Family family : archsim::families())
            families.object(name_of(family), [&](ObjectReader& entry) {
                for (std::size_t g = 0; g < kPriceGroupCount; ++g)
                    spec.families[family].multiple[g] =
                        entry.quantity(name_of(static_cast<PriceGroup>(g)), D::one, {0.05, 20});
            });
    });
}

const FamilyEnergy& EnergySpec::of(Family family) const {
    static const FamilyEnergy kNone;
    const auto found = families.find(family);
    return found == families.end() ? kNone : found->second;
}

EnergySpec read_energy_spec(const std::filesystem::path& file) {
    EnergySpec spec;
    read_table(file, [&](ObjectReader& reader) {
        read_prices(reader, spec);
        read_clocks_at_limit(reader, spec);
        read_multiples(reader, spec);
    }).require_sound();
    return spec;
}

} // namespace archsim
