#include "hardware/energy_resolver.hpp"

#include "core/same_everywhere.hpp"
#include "core/text.hpp"

#include <cctype>
#include <fmt/format.h>

namespace archsim {

double interpolate(const std::vector<std::pair<double, double>>& curve, double process) {
    if (process <= curve.front().first)
        return curve.front().second;
    for (std::size_t i = 1; i < curve.size(); ++i)
        if (process <= curve[i].first) {
            const auto& [x0, y0] = curve[i - 1];
            const auto& [x1, y1] = curve[i];
            return y0 + (y1 - y0) * (process - x0) / (x1 - x0);
        }
    return curve.back().second;
}

const Fact* find_type(const std::vector<TypedPrice>& prices, std::string_view type) {
    const std::string wanted = lower_case(type);
    const Fact* best = nullptr;
    std::size_t length = 0;
    for (const TypedPrice& price : prices) {
        if (price.types.empty() && best == nullptr)
            best = &price.energy;
        for (const std::string& prefix : price.types)
            if (prefix.size() > length && wanted.starts_with(lower_case(prefix))) {
                best = &price.energy;
                length = prefix.size();
            }
    }
    return best;
}

bool names_type(const std::vector<TypedPrice>& prices, std::string_view type) {
    const std::string wanted = lower_case(type);
    const auto names = [&](const std::string& prefix) {
        const bool longer = wanted.size() > prefix.size();
        return wanted.starts_with(lower_case(prefix)) &&
               !(longer && std::isdigit(static_cast<unsigned char>(wanted[prefix.size()])) != 0);
    };
    return std::ranges::any_of(
        prices, [&](const TypedPrice& price) { return std::ranges::any_of(price.types, names); });
}

EnergyTable EnergyResolver::resolve() {
    resolve_voltage();
    for (std::size_t e = 0; e < kEventCount; ++e)
        table_.event[e] = own(archsim::name_of(static_cast<Event>(e)), price_at(family_.events[e]));
    resolve_instruction();
    resolve_memory();
    resolve_host();
    resolve_wall();
    for (Precision p : kPrecisions)
        resolve_mac(p);
    apply_multiples();
    for (Precision p : kPrecisions)
        table_.operation[at(p)] = operation_energy(p);
    resolve_rating();
    return std::move(table_);
}

double EnergyResolver::multiple(PriceGroup group) const {
    return family_.multiple[static_cast<std::size_t>(group)].value_or(1);
}

/// Applies what measured power says of the family's prices together. A multiply-accumulate never takes less
/// than its bare arithmetic.
void EnergyResolver::apply_multiples() {
    table_.multiple = family_.multiple;
    for (std::size_t e = 0; e < kEventCount; ++e)
        if (const auto group = price_group(static_cast<Event>(e)))
            table_.event[e].value *= multiple(*group);
    table_.dram_device.value *= multiple(PriceGroup::dram);
    for (Precision p : kPrecisions) {
        Fact& mac = table_.mac[at(p)];
        const double around = on_vector_engine(p) ? 0 : priced(family_.matrix_kernel, p);
        const double alone = value_at(spec_.arithmetic[at(p)]);
        mac.value = std::max(mac.value * multiple(PriceGroup::chip), std::min(mac.value, alone - around));
    }
}

void EnergyResolver::resolve_voltage() {
    const Fact* exponent = own_fact("clock_exponent");
    table_.clock_exponent = exponent != nullptr ? *exponent : family_.clock_exponent;
    table_.lowest_voltage = family_.lowest_voltage;
    table_.nominal_clock = family_.nominal_clock;
    if (!table_.nominal_clock.known()) { // a changed clock has the voltage that a power mode with it has
        table_.nominal_clock = highest_clock();
        table_.nominal_clock.value /= device_.clock_change;
    }
    resolve_static();
    limit_factor_ = 1 / table_.voltage_factor(clock_at_limit().value_or(table_.nominal_clock.value_or(0)));
}

const Fact& EnergyResolver::clock_at_limit() const {
    for (const Fact* clock : {&device_.clock_sustained, &device_.clock_all_core})
        if (clock->known())
            return *clock;
    return device_.clock_boost;
}

/// The highest of the chip and its modes; an engine's own clock only where nothing else is stated.
Fact EnergyResolver::highest_clock() const {
    Fact highest = device_.clock_boost.known() ? device_.clock_boost : clock_at_limit();
    if (!highest.known() && !device_.engines.empty())
        highest = device_.engines.front().clock;
    for (const PowerMode& mode : device_.power_modes)
        if (mode.clock.known() && !(highest.value >= mode.clock.value))
            highest = mode.clock;
    return highest;
}

/// Whether its modes state clocks and limits of their own: a module, whose figures hold its host.
bool EnergyResolver::states_clocks() const {
    return std::ranges::any_of(device_.power_modes, [](const PowerMode& mode) {
        return mode.clock.known() || mode.active_units.known();
    });
}

const Fact* EnergyResolver::own_fact(std::string_view name) const {
    for (const FittedParameter& constant : device_.energy)
        if (constant.name == name)
            return &constant.fact;
    return nullptr;
}

Fact EnergyResolver::own(std::string_view name, Fact otherwise) const {
    const Fact* fact = own_fact(name);
    return fact != nullptr ? *fact : otherwise;
}

/// The node of the device, else that of the price.
double EnergyResolver::node_of(const NodePrice& price) const {
    return device_.process_nm.value_or(price.process);
}

/// The factor on an energy from the node that it is stated for to the device's.
double EnergyResolver::scale_of(const NodePrice& price) const {
    if (price.scaling == Scaling::none || node_of(price) == price.process)
        return 1;
    const auto& curve = spec_.scaling[static_cast<std::size_t>(price.scaling)];
    return interpolate(curve, node_of(price)) / interpolate(curve, price.process);
}

/// A node that the curves do not reach; prices are then those of the nearest that they have.
bool EnergyResolver::beyond_table(double node) const {
    const auto& curve = spec_.scaling[static_cast<std::size_t>(Scaling::logic)];
    return !curve.empty() && (node < curve.front().first || node > curve.back().first);
}

double EnergyResolver::value_at(const NodePrice& price) const {
    if (price.by_process.empty())
        return price.energy.value * scale_of(price);
    std::vector<std::pair<double, double>> curve;
    for (const auto& [process, fact] : price.by_process)
        curve.emplace_back(process, fact.value);
    return interpolate(curve, node_of(price));
}

Fact EnergyResolver::price_at(const NodePrice& price) const {
    const double node = node_of(price);
    Fact fact = price.energy;
    if (!price.by_process.empty())
        fact = std::ranges::min_element(price.by_process, [node](const auto& a, const auto& b) {
                   return std::abs(a.first - node) < std::abs(b.first - node);
               })->second;
    else if (fact.known() && price.scaling != Scaling::none && node != price.process)
        fact.note = fmt::format("{:g} nm to {:g} nm as {}, x{:.2f}", price.process, node,
                                price.scaling == Scaling::sram ? "SRAM" : archsim::name_of(price.scaling),
                                scale_of(price)) +
                    (beyond_table(node) ? ", where the table ends" : "");
    fact.value = value_at(price);
    return fact;
}

double EnergyResolver::priced(const ReferenceKernel& kernel, Precision p, Event without) const {
    double joules = 0;
    for (std::size_t e = 0; e < kEventCount; ++e)
        if (static_cast<Event>(e) != without)
            joules += kernel.count(static_cast<Event>(e), bytes_of(p)) * table_.event[e].value_or(0);
    return joules;
}

/// External memory: device and interface at their own supply, and the path to the compute units less what
/// a stream's cache and register events already cost.
void EnergyResolver::resolve_memory() {
    if (!device_.dram)
        return;
    const bool named = names_type(spec_.dram_device, device_.dram->type);
    const Fact* chip = find_type(spec_.dram_device, named ? device_.dram->type : std::string_view());
    const Fact* path = find_type(family_.dram_path, device_.dram->type);
    if (chip == nullptr || path == nullptr)
        return;
    table_.dram_device = *chip;
    Fact total = *path;
    if (const Fact* stated = own_fact("dram_byte")) {
        total = *stated;
        total.value = stated->value - chip->value;
    } else if (const Fact* side = own_fact("dram_path_byte")) {
        total = *side;
    }
    double stream = 0;
    for (std::size_t e = 0; e < kEventCount; ++e)
        stream += family_.stream_kernel[e] * table_.event[e].value_or(0);
    total.note = fmt::format("{} {:.3g} pJ/B and path {:.3g} pJ/B",
                             named ? device_.dram->type : "memory of no known type", chip->value * 1e12,
                             total.value * 1e12);
    if (stream > 0)
        total.note += fmt::format(", of which {:.2g} pJ/B are priced as other events", stream * 1e12);
    total.value = chip->value + std::max(0.0, total.value - stream);
    table_.event[at(Event::dram_byte)] = total;
}

void EnergyResolver::resolve_host() {
    if (const Fact* link = find_type(spec_.links, device_.host_link_type);
        link != nullptr && own_fact("host_link_byte") == nullptr)
        table_.event[at(Event::host_link_byte)] = *link;
}

/// A card sits in a server beside a host that the device's own power leaves out; a module or a board
/// holds its host and is fed by an adapter. A host on the chip that starts kernels is in static power where
/// somebody measured that; an estimate is of the device alone.
void EnergyResolver::resolve_wall() {
    const std::string link = lower_case(device_.host_link_type);
    const bool card = link.starts_with("pcie") || link.starts_with("nvlink");
    const bool server = card || device_.family.row().is_host;
    table_.supply_efficiency = server ? spec_.wall.server_supply_efficiency : spec_.wall.adapter_efficiency;
    const Fact& awake = device_.active_idle;
    const bool left_out = link == "shared memory" && device_.dispatch_kernel.known() && !states_clocks() &&
                          awake.known() && awake.source && awake.source->kind == SourceKind::assumed;
    if (card || left_out)
        table_.host_share = spec_.wall.host_share;
}

double EnergyTable::voltage_factor(double clock) const {
    if (!nominal_clock.known() || !clock_exponent.known() || clock_exponent.value == 1 || !(clock > 0))
        return 1;
    return std::max(lowest_voltage.value_or(0),
                    same_everywhere(std::pow(clock / nominal_clock.value, clock_exponent.value - 1)));
}

std::optional<PriceGroup> price_group(Event event) {
    switch (event) {
    case Event::dram_byte:
        return PriceGroup::dram;
    case Event::host_link_byte:
    case Event::host_busy_second:
        return std::nullopt;
    default:
        return PriceGroup::chip;
    }
}

EnergyDatabase::EnergyDatabase(const std::filesystem::path& file)
    : spec_(std::make_shared<const EnergySpec>(read_energy_spec(file))), file_(file) {}

std::vector<Finding> EnergyDatabase::price_findings(const Device& device) const {
    return EnergyResolver(*spec_, device).price_findings();
}

const std::vector<ClockAtLimit>& EnergyDatabase::clocks_at_limit() const {
    return spec_->clocks_at_limit;
}

EnergyTable EnergyDatabase::resolve(const Device& device) const {
    return EnergyResolver(*spec_, device).resolve();
}

} // namespace archsim
