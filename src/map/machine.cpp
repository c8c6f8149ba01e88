#include "archsim/map/machine.hpp"
#include "archsim/hardware/family.hpp"
#include "archsim/map/machine_changes.hpp"
#include "hardware/energy_table.hpp"
#include "hardware/parameter_site.hpp"
#include "hardware/reference_machine.hpp"
#include "map/on_chip.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace archsim {

/// A stack for every generation describes no software: nothing is a share of something by its decree.
static bool assumes_nothing(const Runtime& stack) {
    return std::ranges::find(stack.generations, "*") != stack.generations.end();
}

/// The count of each class's engines that are listed first, the strongest: a network waits for the slowest of
/// the units that share it, so that stacks leave a hybrid processor's efficiency cores out.
static double largest_unit_count(const Device& device) {
    std::map<EngineClass, double> first;
    for (const Engine& engine : device.engines)
        first.try_emplace(engine.kind, engine.count);
    double units = 0;
    for (const auto& [kind, count] : first)
        units = std::max(units, count);
    return units;
}

/// The memory that the driver, and the system of a host that shares it, let programs have.
static double usable_memory(const Device& device) {
    const double capacity = device.dram->capacity.value_or(0);
    const bool small = capacity <= family_number(device, "small_memory").value_or(0);
    const bool shared = device.family.row().is_host || device.host_link_type == "shared memory";
    const double share =
        shared ? family_number(device, small ? "small_working_set" : "working_set").value_or(1) : 1;
    const double usable = share * capacity - family_number(device, "driver_memory").value_or(0);
    return std::max(0.0, shared ? std::min(usable, left_by_system(capacity)) : usable);
}

/// Clock at which code runs: the mode's, else that with every core busy or what the chip sustains, else
/// boost, else the engine's own. Throws InputError where none is known.
static const Fact& operating_clock(const Device& device, const PowerMode* mode) {
    if (mode && mode->clock.known())
        return mode->clock;
    for (const Fact* clock :
         {&device.clock_all_core, &device.clock_sustained, &device.clock_boost, &device.clock_base})
        if (clock->known())
            return *clock;
    for (const Engine& engine : device.engines)
        if (engine.clock.known())
            return engine.clock;
    throw InputError(
        fmt::format("{}: no clock is known for {}; give clocks.boost, clocks.all_core or an engine's "
                    "clock",
                    device.file, device.id));
}

class MachineBuilder {
  public:
    explicit MachineBuilder(Machine& machine) : m_(machine) {}

    void resolve() {
        const Device& d = *m_.device;
        const Fact& clock = operating_clock(d, m_.mode);
        const double all_units = largest_unit_count(d);
        if (m_.mode && m_.mode->active_units.known() && all_units > 0)
            m_.active_fraction = std::min(1.0, m_.mode->active_units.value / all_units);
        m_.units = all_units * m_.active_fraction;
        add_engines(clock);
        set(Resource::overhead_cycles, clock.value, {&clock});
        set(Resource::seconds, 1.0, {});
        add_memory(clock);
        if (d.link_bandwidth.known())
            set(Resource::link_bytes, d.link_bandwidth.value, {&d.link_bandwidth});
        if (d.host_link_bandwidth.known())
            set(Resource::host_link_bytes, d.host_link_bandwidth.value, {&d.host_link_bandwidth});
        m_.combine_exponent = m_.runtime->combine_exponent.value_or(std::numeric_limits<double>::infinity());
        // An estimated power budget must not lower a clock.
        const Fact& limit = m_.mode && m_.mode->limit.known() ? m_.mode->limit : d.tdp;
        const bool estimated = !limit.source || limit.source->kind == SourceKind::assumed;
        if (limit.known())
            (estimated ? m_.power_budget_w : m_.power_limit_w) = limit.value;
        if (m_.mode && m_.mode->active_idle.known())
            m_.static_power_w = m_.mode->active_idle.value * (m_.energy ? m_.energy->static_growth : 1);
        else if (m_.energy && m_.energy->static_power.known() &&
                 (!assumes_nothing(*m_.runtime) || d.active_idle.known()))
            m_.static_power_w = m_.energy->static_power.value;
        for (double* const budget : {&m_.power_limit_w, &m_.power_budget_w})
            if (*budget > 0 && m_.energy)
                *budget += granted_power(*m_.energy, m_.static_power_w);
        // Otherwise energy is that of events alone: no share of a rating where a stack assumes nothing.
        if (d.dram)
            m_.memory_capacity_bytes = usable_memory(d);
        else if (!m_.runtime->streams_weights) // everything lives in what is on the chip
            m_.memory_capacity_bytes = managed_memory_bytes(m_);
        else if (m_.host && m_.host->dram) // weights pass through, out of the host's memory
            m_.memory_capacity_bytes = usable_memory(*m_.host);
        if (const double least = m_.param(Parameter::memory_limit, 0);
            least > 0 && (m_.memory_capacity_bytes <= 0 || least < m_.memory_capacity_bytes))
            m_.memory_capacity_bytes = least;
    }

  private:
    void set(Resource r, double value, std::array<const Fact*, 3> facts) {
        m_.rates[static_cast<std::size_t>(r)] = {value, facts};
    }

    /// An engine with its own clock keeps the ratio of that clock to the operating clock only in a named
    /// mode; otherwise it runs at the operating clock, which is what the chip sustains.
    void add_engines(const Fact& clock) {
        for (const Engine& engine : m_.device->engines) {
            auto& table =
                engine.kind == EngineClass::matrix ? m_.matrix_ops_per_cycle : m_.vector_ops_per_cycle;
            if (engine.kind == EngineClass::special || !uses(*m_.runtime, engine))
                continue;
            for (Precision p : kPrecisions)
                if (engine.supports(p))
                    table[static_cast<std::size_t>(p)] +=
                        operations_per_cycle(*m_.device, engine, p) * engine.count * m_.active_fraction;
        }
        set(Resource::matrix_cycles, clock.value, {&clock});
        set(Resource::vector_cycles, clock.value, {&clock});
        set(Resource::special_cycles, clock.value, {&clock});
    }

    void add_memory(const Fact& clock) {
        const Device& d = *m_.device;
        for (const MemoryLevel& level : d.memory) {
            if (level.rank == MemoryRank::other)
                continue;
            const Resource resource = resource_of(level.rank);
            const double copies = level.copies(m_.units);
            if (level.bandwidth.known())
                set(resource, level.bandwidth.value, {&level.bandwidth});
            else if (level.bytes_per_clock.known())
                set(resource, level.bytes_per_clock.value * copies * clock.value,
                    {&level.bytes_per_clock, &clock});
        }
        const FamilyRow& family = d.family.row();
        if (family.refine_rates != nullptr)
            family.refine_rates(m_, clock);
        if (!d.dram)
            return;
        const Fact* bandwidth = &d.dram->bandwidth;
        const Fact* fraction = &d.dram->achievable_fraction;
        double value = bandwidth->value_or(0) * fraction->value_or(1.0);
        if (m_.mode && m_.mode->measured_bandwidth.known()) {
            bandwidth = &m_.mode->measured_bandwidth;
            fraction = nullptr;
            value = bandwidth->value;
        } else if (m_.mode && m_.mode->memory_bandwidth.known()) {
            bandwidth = &m_.mode->memory_bandwidth;
            value = bandwidth->value * fraction->value_or(1.0);
        }
        value *= m_.param(Parameter::dram_efficiency, 1.0);
        // A small chip's fabric, or the port of one core, can be slower than the DRAM; then what the DRAM
        // could give decides nothing.
        if (family.memory_port != nullptr)
            if (const Fact& width = family.memory_port(d); width.known()) {
                const double kept = family.rated_clock ? m_.param(Parameter::matrix_efficiency, 1.0) : 1.0;
                value = std::min(value, width.value * clock.value * kept *
                                            m_.param(Parameter::fabric_efficiency, 1.0));
            }
        set(Resource::dram_bytes, value, {bandwidth, fraction});
        set(Resource::weight_bytes, value, {bandwidth, fraction});
    }

    static Resource resource_of(MemoryRank rank) {
        return rank == MemoryRank::l1   ? Resource::l1_bytes
               : rank == MemoryRank::l2 ? Resource::l2_bytes
                                        : Resource::llc_bytes;
    }

    Machine& m_;
};

double operations_per_cycle(const Device& device, const Engine& engine, Precision p) {
    const double rate = engine.rate(p).value;
    if (!engine.shared || !engine.clock.known())
        return rate;
    return rate * engine.clock.value / operating_clock(device, nullptr).value;
}

Machine make_machine(std::shared_ptr<const Device> device, std::string_view power_mode,
                     std::shared_ptr<const Runtime> runtime, const MachineOptions& options) {
    Machine m{.device = std::move(device),
              .runtime = std::move(runtime),
              .mapper = options.mapper,
              .energy = options.energy,
              .uncertainty = options.uncertainty};
    if (m.device->in_computer || (!m.device->dram && m.runtime->streams_weights))
        m.host = options.host;
    m.parameters = resolve_parameters(*m.device, *m.runtime);
    m.scenario = options.scenario;
    m.scope = options.scope;
    m.devices = options.devices;
    m.efficient_clock = power_mode == kEfficientMode && !m.device->power_mode(power_mode);
    if (!power_mode.empty() && !m.efficient_clock) {
        m.mode = m.device->power_mode(power_mode);
        if (!m.mode)
            throw InputError(fmt::format("{}: no power mode \"{}\"", m.device->id, power_mode));
    }
    MachineBuilder(m).resolve();
    return m;
}

double on_chip_bytes(const Machine& machine) {
    double largest = 0;
    for (const MemoryLevel& level : machine.device->memory) {
        const double copies = level.copies(std::max(1.0, machine.units));
        largest = std::max(largest, level.capacity.value_or(0) * copies);
    }
    return largest;
}

double managed_memory_bytes(const Machine& machine) {
    const FamilyRow& family = machine.device->family.row();
    if (family.managed_memory != nullptr)
        return family.managed_memory(machine);
    return family.caches ? 0 : on_chip_bytes(machine);
}

double weight_memory_bytes(const Machine& machine) {
    const FamilyRow& family = machine.device->family.row();
    return family.weight_memory != nullptr ? family.weight_memory(machine) : 0;
}

static void scale(Fact& fact, double factor) {
    fact.value *= factor; // NaN, which is unknown, stays NaN
}

static void scale_energy(const MachineChanges& changes, EnergyTable& table) {
    for (Fact& price : table.mac)
        scale(price, changes[Lever::operation_energy]);
    for (std::size_t e = 0; e < kEventCount; ++e)
        if (const auto lever = lever_of(static_cast<Event>(e)))
            scale(table.event[e], changes[*lever]);
    scale(table.dram_device, changes[Lever::memory_energy]);
    for (Fact* part : {&table.static_power, &table.awake_power, &table.clocked_power, &table.memory_power})
        scale(*part, changes[Lever::static_power]);
}

void apply(const MachineChanges& changes, Machine& machine) {
    if (changes == MachineChanges{})
        return;
    const auto rates = [&](Lever lever, std::initializer_list<Resource> list) {
        for (Resource r : list)
            machine.rates[static_cast<std::size_t>(r)].value *= changes[lever];
    };
    rates(Lever::peak, {Resource::matrix_cycles, Resource::vector_cycles, Resource::special_cycles});
    rates(Lever::bandwidth, {Resource::dram_bytes, Resource::weight_bytes});
    rates(Lever::on_chip, {Resource::l1_bytes, Resource::l2_bytes, Resource::llc_bytes});
    for (Parameter p : kParametersOf<ParameterRole::start>)
        scale(machine.parameters.facts[static_cast<std::size_t>(p)], changes[Lever::fixed_cost]);
    for (Parameter p : kParametersOf<ParameterRole::fallback>)
        scale(machine.parameters.facts[static_cast<std::size_t>(p)], changes[Lever::host_time]);
    for (const auto& [parameter, factor] : changes.parameters)
        scale(machine.parameters.facts[static_cast<std::size_t>(parameter)], factor);
    machine.power_limit_w =
        changes.power_limit_w.value_or(machine.power_limit_w) * changes[Lever::power_limit];
    machine.power_budget_w *= changes[Lever::power_limit];
    machine.memory_capacity_bytes *= changes[Lever::capacity];
    machine.static_power_w *= changes[Lever::static_power];
    const auto* priced = changes.factors.begin() + static_cast<std::ptrdiff_t>(Lever::operation_energy);
    const bool energy_changes = std::any_of(priced, changes.factors.end(), [](double f) { return f != 1; });
    if (machine.energy && energy_changes) {
        auto table = std::make_shared<EnergyTable>(*machine.energy);
        scale_energy(changes, *table);
        machine.energy = std::move(table);
    }
}

} // namespace archsim
