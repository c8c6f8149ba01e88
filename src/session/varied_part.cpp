#include "session/varied_part.hpp"

#include "core/lists.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"
#include "map/on_chip.hpp"

#include <algorithm>
#include <fmt/ranges.h>
#include <utility>

namespace archsim {

constexpr std::array<std::string_view, kStructureCount> kStructureTitles = {
    "number of units", "side of the arrays", "on-chip memory", "clock"};

/// Other words for a part; what to say where they do not mean quite the same, else they are taken.
struct PartWords {
    std::string_view part, words, instead = "";
};
constexpr PartWords kOtherWords[] = {
    {"on_chip_memory", "sram buffer cache scratchpad l2"},
    {"units", "cores sms tiles"},
    {"array", "macs pe pes", "array is, the side of a square: 2x has four times as many"},
    {"clock", "frequency freq"},
    {"bandwidth", "dram bw memory_bandwidth hbm hbm_bandwidth dram_bandwidth vram_bandwidth"},
    {"capacity", "memory", "capacity, bandwidth and on_chip_memory are"},
    {"peak", "tops flops"},
    {"power_limit", "power tdp"},
};

static bool is_array(VariedPart part) {
    return part.part == std::variant<Lever, Structure>(Structure::array);
}

/// The side of "32x32".
static std::optional<double> square_side(std::string_view text) {
    const auto by = text.find('x');
    const auto rows = parse_whole(text.substr(0, by));
    return rows && *rows > 0 && by != std::string_view::npos && text.substr(by + 1) == text.substr(0, by)
               ? std::optional(static_cast<double>(*rows))
               : std::nullopt;
}

/// The side of the device's square arrays; unknown where it states none, or other ones.
static double array_side(const Device& device) {
    double side = 0;
    const FamilyFacts* const facts = device.facts.get();
    const auto add = [&](const Fact& fact) {
        if (fact.known())
            side = side == 0 || side == fact.value ? fact.value : std::numeric_limits<double>::quiet_NaN();
    };
    for (const FactRow& row : device.family.row().facts)
        if (facts != nullptr && row.scales_with == Structure::array) {
            if (const auto* number = std::get_if<Fact FamilyFacts::*>(&row.member); number && row.unit == "1")
                add(facts->**number);
            else if (const auto* sides = std::get_if<std::array<Fact, 2> FamilyFacts::*>(&row.member))
                for (const Fact& fact : facts->**sides)
                    add(fact);
        }
    return side;
}

static double lever_amount(Lever lever, const Machine& m) {
    switch (lever) {
    case Lever::bandwidth: {
        const Fact* const fact = m.rates[static_cast<std::size_t>(Resource::dram_bytes)].facts[0];
        return fact != nullptr ? fact->value : 0;
    }
    case Lever::capacity:
        return m.memory_capacity_bytes;
    case Lever::power_limit:
        return m.power_limit_w > 0 ? m.power_limit_w : m.power_budget_w;
    case Lever::static_power:
        return m.static_power_w;
    default:
        return 0;
    }
}

PhysicalDimension dimension_of(VariedPart part) {
    if (const auto* structure = std::get_if<Structure>(&part.part))
        return *structure == Structure::clock            ? PhysicalDimension::frequency
               : *structure == Structure::on_chip_memory ? PhysicalDimension::bytes
                                                         : PhysicalDimension::one;
    switch (std::get<Lever>(part.part)) {
    case Lever::bandwidth:
        return PhysicalDimension::bandwidth;
    case Lever::capacity:
        return PhysicalDimension::bytes;
    case Lever::power_limit:
    case Lever::static_power:
        return PhysicalDimension::power;
    default:
        return PhysicalDimension::one;
    }
}

std::string_view VariedPart::name() const {
    const auto* const lever = std::get_if<Lever>(&part);
    return lever != nullptr ? info_of(*lever).name : name_of(std::get<Structure>(part));
}

std::string_view VariedPart::title() const {
    const auto* const lever = std::get_if<Lever>(&part);
    return lever != nullptr ? info_of(*lever).title
                            : kStructureTitles[static_cast<std::size_t>(std::get<Structure>(part))];
}

double& VariedPart::of(MachineChanges& changes, DeviceChanges& structure) const {
    const auto* const lever = std::get_if<Lever>(&part);
    return lever != nullptr ? changes[*lever] : structure[std::get<Structure>(part)];
}

std::vector<VariedPart> varied_parts() {
    std::vector<VariedPart> parts =
        mapped(indices(kLeverCount), [&](const std::size_t i) { return VariedPart{static_cast<Lever>(i)}; });
    for (std::size_t i = 0; i < kStructureCount; ++i)
        parts.push_back({static_cast<Structure>(i)});
    return parts;
}

VariedPart varied_part(std::string_view name, std::string_view where) {
    const std::vector<VariedPart> parts = varied_parts();
    const std::string asked = name_key(name);
    for (const VariedPart& part : parts)
        if (name_key(part.name()) == asked)
            return part;
    for (const PartWords& other : kOtherWords)
        if (contains(mapped(split(other.words, ' '), name_key), asked)) {
            if (other.instead.empty())
                return varied_part(other.part, where);
            throw UsageError(
                fmt::format("{}nothing called \"{}\" can be varied; {}", where, name, other.instead));
        }
    throw UsageError(
        fmt::format("{}nothing called \"{}\" can be varied; known: {}, tdp", where, name,
                    fmt::join(mapped(parts, [](const VariedPart& p) { return p.name(); }), ", ")));
}

PartAmount part_amount(VariedPart part, std::string_view text, std::string_view where) {
    // Nobody makes an array so many times as wide.
    constexpr std::int64_t kLeastSide = 8;
    if (const auto side = is_array(part) ? parse_whole(text) : std::nullopt; side && *side >= kLeastSide)
        return {static_cast<double>(*side), true};
    if (std::holds_alternative<Structure>(part.part) && parse_real(text)) // so many, or so many times?
        throw UsageError(fmt::format("{0}: \"{1}\": write {1}x for a factor{2}", where, text,
                                     is_array(part) ? fmt::format(", {0}x{0} for the array itself", text)
                                     : dimension_of(part) != PhysicalDimension::one
                                         ? ", or a value in " + symbol_list(dimension_of(part))
                                         : std::string()));
    constexpr double kLeast = 1e-9, kMost = 1e9; ///< between them ratios and steps of factors are finite
    if (const auto factor = parse_factor(text); factor && *factor >= kLeast && *factor <= kMost)
        return {*factor, false};
    if (const auto side = is_array(part) ? square_side(text) : std::nullopt)
        return {*side, true};
    const PhysicalDimension dimension = dimension_of(part);
    std::string_view symbol = text;
    const auto number = take_number<double>(symbol);
    while (symbol.starts_with(' '))
        symbol.remove_prefix(1);
    const Unit* const unit = find_unit(symbol);
    const bool has_unit = dimension != PhysicalDimension::one;
    if (number && unit != nullptr && has_unit && unit->dimension == dimension && *number > 0)
        return {*number * unit->factor, true};
    throw UsageError(fmt::format(
        "{}: \"{}\" is not a factor from {:g} to {:g} such as 2x or 50%{}", where, text, kLeast, kMost,
        is_array(part) ? ", nor a square array such as 32x32"
        : has_unit     ? fmt::format(", nor {} in {}", name_of(dimension), symbol_list(dimension))
                       : ""));
}

double own_amount(VariedPart part, const Machine& machine) {
    const auto* const lever = std::get_if<Lever>(&part.part);
    const Device& device = *machine.device;
    const double own = lever != nullptr ? lever_amount(*lever, machine)
                       : is_array(part) ? array_side(device)
                       : part.name() == name_of(Structure::clock)
                           ? machine.rate(Resource::overhead_cycles)
                           : std::max(managed_memory_bytes(machine), on_chip_bytes(machine));
    if (!(own > 0) && dimension_of(part) == PhysicalDimension::power)
        throw InputError(fmt::format("{} states no {} that could be varied", device.id, part.title()));
    if (!(own > 0))
        throw InputError(fmt::format("{} states no {}{}; give a factor such as 2x", device.id, part.title(),
                                     is_array(part) ? " as that of a square" : ""));
    return own;
}

} // namespace archsim
