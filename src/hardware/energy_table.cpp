#include "hardware/energy_table.hpp"

#include "core/same_everywhere.hpp"
#include "hardware/energy_resolver.hpp"

namespace archsim {

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
