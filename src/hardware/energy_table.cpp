#include "hardware/energy_table.hpp"

#include "core/same_everywhere.hpp"
#include "hardware/energy_resolver.hpp"

#include <algorithm>
#include <cmath>

namespace archsim {

double EnergyTable::voltage_factor(double clock) const {
    if (!nominal_clock.known() || !clock_exponent.known() || clock_exponent.value == 1 || !(clock > 0))
        return 1;
    return std::max(lowest_voltage.value_or(0),
                    same_everywhere(std::pow(clock / nominal_clock.value, clock_exponent.value - 1)));
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
    return EnergyResolver(state_->spec, device).below_arithmetic();
}

const std::filesystem::path& EnergyDatabase::file() const {
    return state_->file;
}

const std::vector<ClockAtLimit>& EnergyDatabase::clocks_at_limit() const {
    return state_->spec.clocks_at_limit;
}

EnergyTable EnergyDatabase::resolve(const Device& device) const {
    return EnergyResolver(state_->spec, device).resolve();
}

} // namespace archsim
