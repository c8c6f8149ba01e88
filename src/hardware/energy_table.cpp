#include "archsim/hardware/energy_table.hpp"

#include "hardware/energy_spec.hpp"
#include "hardware/text.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace archsim {

double EnergyTable::voltage_factor(double clock) const {
    if (!nominal_clock.known() || !clock_exponent.known() || clock_exponent.value == 1 || !(clock > 0))
        return 1;
    return std::max(lowest_voltage.value_or(0),
                    std::pow(clock / nominal_clock.value, clock_exponent.value - 1));
}

std::string_view name_of(PriceGroup group) {
    constexpr std::array<std::string_view, kPriceGroupCount> kNames = {"awake", "dram", "chip"};
    return kNames[static_cast<std::size_t>(group)];
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

namespace {

/// Part of an all-in figure that stays with the datapath when the events of its kernel, priced on their own,
/// would already exceed it.
constexpr double kLeastDatapathShare = 0.25;

/// Share of peak that the best matrix products reach (A100 0.87, H100 0.80, B200 0.78 of rated bf16, Gaudi 2
/// 0.97: stas00/ml-engineering MAMF table).
constexpr double kBestShareOfPeak = 0.85;

std::size_t at(Precision p) {
    return static_cast<std::size_t>(p);
}
std::size_t at(Event e) {
    return static_cast<std::size_t>(e);
}

double largest_unit_count(const Device& device) {
    double units = 0;
    for (const Engine& engine : device.engines)
        units = std::max(units, engine.count);
    return units;
}

/// Linear in nm between the nodes of a curve, flat outside.
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

std::string_view name_of(Scaling scaling) {
    switch (scaling) {
    case Scaling::none:
        return "nothing";
    case Scaling::logic:
        return "logic";
    case Scaling::sram:
        return "SRAM";
    case Scaling::wire:
        return "wire";
    }
    return "";
}

/// The entry whose type is the longest prefix of `type`; else the entry without types.
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

class Resolver {
  public:
    Resolver(const EnergySpec& spec, const Device& device)
        : spec_(spec), device_(device), family_(spec.of(device.family)) {}

    EnergyTable resolve() {
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
        return std::move(table_);
    }

    std::vector<Finding> below_arithmetic() const {
        std::vector<Finding> findings;
        for (Precision p : kPrecisions) {
            const Fact* stated = own_mac(p);
            const Fact of_family = price_at(family_.matrix[at(p)]);
            const double all_in = stated != nullptr ? 2 * stated->value : of_family.value_or(INFINITY);
            const double alone = price_at(spec_.arithmetic[at(p)]).value;
            if (on_vector_engine(p) || !device_.supports(EngineClass::matrix, p) || !(all_in < alone))
                continue;
            Finding finding;
            finding.kind = FindingKind::inconsistent;
            finding.file = device_.file;
            finding.where =
                stated != nullptr ? fmt::format("/energy/mac_{}", archsim::name_of(p)) : "/process";
            finding.message = fmt::format("{:.3g} pJ for a multiply-accumulate in {} with all around it{}, "
                                          "but its bare arithmetic takes {:.3g} pJ",
                                          all_in * 1e12, archsim::name_of(p),
                                          stated != nullptr ? "" : " is what the family states for this node",
                                          alone * 1e12);
            finding.hint = "state no less than the arithmetic, or cite a measurement of both";
            findings.push_back(std::move(finding));
        }
        return findings;
    }

  private:
    double multiple(PriceGroup group) const {
        return family_.multiple[static_cast<std::size_t>(group)].value_or(1);
    }

    /// What measured power says of the family's prices together. A multiply-accumulate never takes less than
    /// its bare arithmetic.
    void apply_multiples() {
        table_.multiple = family_.multiple;
        for (std::size_t e = 0; e < kEventCount; ++e)
            if (const auto group = price_group(static_cast<Event>(e)))
                table_.event[e].value *= multiple(*group);
        table_.dram_device.value *= multiple(PriceGroup::dram);
        for (Precision p : kPrecisions) {
            Fact& mac = table_.mac[at(p)];
            const double around = on_vector_engine(p) ? 0 : priced(family_.matrix_kernel, p);
            const double alone = price_at(spec_.arithmetic[at(p)]).value;
            mac.value = std::max(mac.value * multiple(PriceGroup::chip), std::min(mac.value, alone - around));
        }
    }

    void resolve_voltage() {
        const Fact* exponent = own_fact("clock_exponent");
        table_.clock_exponent = exponent != nullptr ? *exponent : family_.clock_exponent;
        table_.lowest_voltage = family_.lowest_voltage;
        table_.nominal_clock = family_.nominal_clock.known() ? family_.nominal_clock : highest_clock();
        resolve_static();
        const auto to_nominal = [&](const Fact& clock) {
            return 1 / table_.voltage_factor(clock.value_or(table_.nominal_clock.value_or(0)));
        };
        limit_factor_ = to_nominal(clock_at_limit());
        family_factor_ = to_nominal(device_.clock_all_core);
    }

    /// What somebody measured or derived from measurements; else the sum of its parts, where units of its
    /// generation were measured; else an estimate for this device; else a share of its
    /// rating.
    void resolve_static() {
        if (device_.dram && device_.dram->capacity.known())
            if (const Fact* background = find_type(spec_.dram_background, device_.dram->type)) {
                table_.memory_power = *background;
                table_.memory_power.value *= device_.dram->capacity.value;
            }
        table_.static_power = device_.active_idle;
        const bool estimated = !device_.active_idle.known() || !device_.active_idle.source ||
                               device_.active_idle.source->kind == SourceKind::assumed;
        if (estimated && add_awake_die())
            return;
        if (!table_.static_power.known() && device_.tdp.known()) {
            table_.static_power = family_.static_share;
            table_.static_power.value *= device_.tdp.value;
            table_.static_power.note = "share of the thermal design power";
        }
        divide_static();
    }

    /// A sum that is known as a whole: what the memory does not draw, the die does. Memory that would draw
    /// more than the sum does not stand by as this type usually does.
    void divide_static() {
        if (table_.memory_power.known() && !(table_.memory_power.value < table_.static_power.value_or(0)))
            table_.memory_power = {};
        if (!table_.static_power.known())
            return;
        table_.awake_power = table_.static_power;
        table_.awake_power.value -= table_.memory_power.value_or(0);
        state_parts("die, clocks and regulators");
    }

    /// Which part of the sum is measured, in its note.
    void state_parts(std::string_view die) {
        const auto part = [](std::string_view name, const Fact& fact) {
            return fmt::format("{} {:.3g} W: {}", name, fact.value,
                               archsim::name_of(fact.source ? fact.source->kind : SourceKind::assumed));
        };
        std::string& note = table_.static_power.note;
        note += note.empty() ? "" : "; ";
        note += part(die, table_.awake_power);
        if (table_.memory_power.known())
            note += ", " + part("DRAM standing by", table_.memory_power);
    }

    /// Units that are awake draw what they do with the clock and the voltage that follows it, so with
    /// clock^a; their DRAM stands by. Worked: 132 multiprocessors of 0.81 W at 1.98 GHz x 1.5, which measured
    /// power asks for, with 80 GB at 0.06 W/GB: 160 + 5 = 165 W.
    bool add_awake_die() {
        const auto own = family_.awake.find(lower_case(device_.generation));
        const double units = largest_unit_count(device_);
        if (own == family_.awake.end() || !(units > 0) || !table_.nominal_clock.known())
            return false;
        table_.awake_power = own->second;
        if (const Fact& measured = family_.multiple[static_cast<std::size_t>(PriceGroup::awake)];
            measured.known()) {
            table_.awake_power.value *= measured.value;
            table_.awake_power.source = measured.source;
        }
        table_.awake_power.value *= units * std::pow(table_.nominal_clock.value / family_.awake_clock.value,
                                                     table_.clock_exponent.value_or(1));
        const std::string awake = fmt::format("die with {:g} units awake", units);
        table_.awake_power.note = awake;
        table_.clocked_power = table_.awake_power;
        table_.static_power = table_.awake_power;
        table_.static_power.value += table_.memory_power.value_or(0);
        table_.static_power.note.clear();
        state_parts(awake);
        return true;
    }

    const Fact& clock_at_limit() const {
        for (const Fact* clock : {&device_.clock_sustained, &device_.clock_all_core})
            if (clock->known())
                return *clock;
        return device_.clock_boost;
    }

    /// Of the chip and its modes; an engine's own clock only where nothing else is stated.
    Fact highest_clock() const {
        Fact highest = device_.clock_boost.known() ? device_.clock_boost : clock_at_limit();
        if (!highest.known() && !device_.engines.empty())
            highest = device_.engines.front().clock;
        for (const PowerMode& mode : device_.power_modes)
            if (mode.clock.known() && !(highest.value >= mode.clock.value))
                highest = mode.clock;
        return highest;
    }

    const Fact* own_fact(std::string_view name) const {
        for (const FittedParameter& constant : device_.energy)
            if (constant.name == name)
                return &constant.fact;
        return nullptr;
    }

    Fact own(std::string_view name, Fact otherwise) const {
        const Fact* fact = own_fact(name);
        return fact != nullptr ? *fact : otherwise;
    }

    /// All-in joules per multiply-accumulate that the device states for a format (files give joules per
    /// operation).
    const Fact* own_mac(Precision p) const { return own_fact(fmt::format("mac_{}", archsim::name_of(p))); }

    Fact price_at(const NodePrice& price) const {
        const double node = device_.process_nm.value_or(price.process);
        if (!price.by_process.empty()) {
            std::vector<std::pair<double, double>> curve;
            for (const auto& [process, fact] : price.by_process)
                curve.emplace_back(process, fact.value);
            const auto nearest = std::min_element(
                price.by_process.begin(), price.by_process.end(), [&](const auto& a, const auto& b) {
                    return std::abs(a.first - node) < std::abs(b.first - node);
                });
            Fact fact = nearest->second;
            fact.value = interpolate(curve, device_.process_nm.value_or(nearest->first));
            return fact;
        }
        Fact fact = price.energy;
        if (!fact.known() || price.scaling == Scaling::none || node == price.process)
            return fact;
        const auto& curve = spec_.scaling[static_cast<std::size_t>(price.scaling)];
        const double factor = interpolate(curve, node) / interpolate(curve, price.process);
        fact.value *= factor;
        fact.note = fmt::format("{:g} nm to {:g} nm as {}, x{:.2f}", price.process, node,
                                name_of(price.scaling), factor);
        return fact;
    }

    /// Peak operations per second in `p` at the clock that the device sustains; 0 without an engine for it.
    double sustained_rate(Precision p) const {
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

    /// A family's all-in price, or less: what the power limit leaves at the best rate is an upper bound, and
    /// how the figures of measured devices were derived too.
    Fact within_limit(Fact all_in, Precision p) const {
        const double rate = sustained_rate(p);
        if (!family_.bounded_by_limit || !all_in.known() || !device_.tdp.known() || !(rate > 0))
            return all_in;
        const double watts = device_.tdp.value - table_.static_power.value_or(0);
        const double bound = 2 * watts / (kBestShareOfPeak * rate) * limit_factor_;
        if (watts <= 0 || bound >= all_in.value)
            return all_in;
        all_in.value = bound;
        all_in.note = fmt::format("at most (limit - static) / sustained rate: {:g} W / {:.3g} TOPS", watts,
                                  kBestShareOfPeak * rate * 1e-12);
        return all_in;
    }

    double priced(const ReferenceKernel& kernel, Precision p, Event without = Event::count_) const {
        double joules = 0;
        for (std::size_t e = 0; e < kEventCount; ++e)
            if (static_cast<Event>(e) != without)
                joules += kernel.count(static_cast<Event>(e), bytes_of(p)) * table_.event[e].value_or(0);
        return joules;
    }

    /// The family's price of a matrix engine holds for units inside the cores: beside a unit that cores
    /// share, a multiply-accumulate costs its arithmetic, as on vectors, and instructions are counted.
    bool on_vector_engine(Precision p) const {
        return family_.vector_kernel.known &&
               std::none_of(device_.engines.begin(), device_.engines.end(), [p](const Engine& engine) {
                   return engine.kind == EngineClass::matrix && engine.supports(p) && !engine.shared;
               });
    }

    /// The published all-in energy of the vector engine, less datapath and operands, is what its instructions
    /// cost.
    void resolve_instruction() {
        if (!family_.vector_kernel.known || own_fact("instruction") != nullptr)
            return;
        Fact all_in = within_limit(price_at(family_.vector_fp32), Precision::fp32);
        const Fact* stated = on_vector_engine(Precision::fp32) ? own_mac(Precision::fp32) : nullptr;
        if (stated != nullptr) {
            all_in = *stated;
            all_in.value *= 2;
        }
        const double rest = all_in.value - price_at(spec_.arithmetic[at(Precision::fp32)]).value -
                            priced(family_.vector_kernel, Precision::fp32, Event::instruction);
        const double instructions =
            family_.vector_kernel.count(Event::instruction, bytes_of(Precision::fp32));
        Fact& price = table_.event[at(Event::instruction)];
        price = all_in;
        price.value = std::max(0.0, rest) / instructions;
        price.note = fmt::format("what {:.3g} pJ per fp32 operation leaves beside datapath and operands",
                                 all_in.value / 2 * 1e12);
    }

    void resolve_mac(Precision p) {
        if (on_vector_engine(p)) {
            table_.mac[at(p)] = price_at(spec_.arithmetic[at(p)]);
            return;
        }
        Fact fact = all_in(p);
        // Nothing around a multiplier makes it cost less than it does alone.
        if (const Fact alone = price_at(spec_.arithmetic[at(p)]); alone.value > fact.value)
            fact = alone;
        const double events = priced(family_.matrix_kernel, p);
        if (events > 0)
            fact.note = fmt::format("{:.3g} pJ per operation all-in, less {:.2g} pJ priced as other events",
                                    fact.value / 2 * 1e12, events / 2 * 1e12);
        fact.value = std::max(kLeastDatapathShare * fact.value, fact.value - events);
        table_.mac[at(p)] = fact;
    }

    Fact family_mac(Precision p) const {
        Fact fact = price_at(family_.matrix[at(p)]);
        fact.value *= family_factor_;
        return within_limit(std::move(fact), p);
    }

    /// All-in joules per multiply-accumulate in `p`: the device's figure, else the family's, each for this
    /// format or, by the ratio of widths, for the format nearest in width.
    Fact all_in(Precision p) const {
        Fact best;
        int distance = std::numeric_limits<int>::max();
        Precision from = p;
        const auto consider = [&](const Fact& fact, Precision q) {
            const int d = q == p ? -1 : std::abs(bits_of(q) - bits_of(p));
            if (fact.known() && d < distance) {
                best = fact;
                distance = d;
                from = q;
            }
        };
        for (Precision q : kPrecisions)
            if (const Fact* stated = own_mac(q); stated != nullptr && !on_vector_engine(q)) {
                Fact fact = *stated;
                fact.value *= 2 * limit_factor_;
                consider(fact, q);
            }
        if (!best.known())
            for (Precision q : kPrecisions)
                consider(family_mac(q), q);
        if (from != p) {
            best.value *= spec_.width_ratio[at(p)].value / spec_.width_ratio[at(from)].value;
            best.note = fmt::format("from {} by the ratio of widths", archsim::name_of(from));
        }
        return best;
    }

    /// External memory: device and interface at their own supply, and the path to the compute units less what
    /// a stream's cache and register events already cost.
    void resolve_memory() {
        if (!device_.dram)
            return;
        const Fact* chip = find_type(spec_.dram_device, device_.dram->type);
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
        total.note = fmt::format("{} {:.3g} pJ/B and path {:.3g} pJ/B", device_.dram->type,
                                 chip->value * 1e12, total.value * 1e12);
        if (stream > 0)
            total.note += fmt::format(", of which {:.2g} pJ/B are priced as other events", stream * 1e12);
        total.value = chip->value + std::max(0.0, total.value - stream);
        table_.event[at(Event::dram_byte)] = total;
    }

    void resolve_host() {
        if (const Fact* link = find_type(spec_.links, device_.host_link_type);
            link != nullptr && own_fact("host_link_byte") == nullptr)
            table_.event[at(Event::host_link_byte)] = *link;
    }

    /// A card sits in a server beside a host that the device's own power leaves out; a module or a board
    /// holds its host and is fed by an adapter.
    void resolve_wall() {
        const std::string link = lower_case(device_.host_link_type);
        const bool card = link.starts_with("pcie") || link.starts_with("nvlink");
        const bool server = card || device_.family.row().is_host;
        table_.supply_efficiency =
            server ? spec_.wall.server_supply_efficiency : spec_.wall.adapter_efficiency;
        if (card)
            table_.host_share = spec_.wall.host_share;
    }

    double operation_energy(Precision p) const {
        const bool matrix = device_.supports(EngineClass::matrix, p);
        if (!matrix && !device_.supports(EngineClass::vector, p))
            return std::numeric_limits<double>::quiet_NaN();
        const ReferenceKernel& kernel = on_vector_engine(p) ? family_.vector_kernel : family_.matrix_kernel;
        return (table_.mac[at(p)].value + priced(kernel, p)) / 2;
    }

    const EnergySpec& spec_;
    const Device& device_;
    const FamilyEnergy& family_;
    EnergyTable table_;
    /// From the clock of a figure to the nominal one. A device's own figures of matrix engines come from runs
    /// at its power limit, so at the clock that it sustains there; processors' with every core busy.
    double limit_factor_ = 1, family_factor_ = 1;
};

} // namespace

struct EnergyDatabase::State {
    EnergySpec spec;
    std::filesystem::path file;
};

EnergyDatabase::EnergyDatabase(const std::filesystem::path& file)
    : state_(std::make_unique<State>(State{read_energy_spec(file), file})) {}
EnergyDatabase::~EnergyDatabase() = default;
EnergyDatabase::EnergyDatabase(EnergyDatabase&&) noexcept = default;
EnergyDatabase& EnergyDatabase::operator=(EnergyDatabase&&) noexcept = default;

std::vector<Finding> EnergyDatabase::below_arithmetic(const Device& device) const {
    return Resolver(state_->spec, device).below_arithmetic();
}

const std::filesystem::path& EnergyDatabase::file() const {
    return state_->file;
}

EnergyTable EnergyDatabase::resolve(const Device& device) const {
    return Resolver(state_->spec, device).resolve();
}

} // namespace archsim
