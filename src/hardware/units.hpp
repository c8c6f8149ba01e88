#pragma once
// Units of the database's quantities: symbol -> physical dimension and factor to the library's unit.

#include "archsim/core/names.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// The dimension of a quantity. The library keeps SI units, except process (nm), money (USD), money rate
/// (USD/h) and bits.
enum class PhysicalDimension {
    one,
    time,
    frequency,
    bytes,
    bandwidth,
    operations,
    operation_rate,
    power,
    energy,
    energy_per_byte,
    energy_per_operation,
    money,
    money_rate,
    process,
    cycles,
    bytes_per_clock,
    operations_per_clock,
    bits,
    power_per_byte,
    mass,
};

/// Names of its values, as messages say them.
template <>
struct NamesOf<PhysicalDimension> {
    static constexpr std::array<std::string_view, 20> all = {"a plain number",
                                                             "a time",
                                                             "a frequency",
                                                             "a size in bytes",
                                                             "a bandwidth",
                                                             "operations",
                                                             "operations per second",
                                                             "a power",
                                                             "an energy",
                                                             "an energy per byte",
                                                             "an energy per operation",
                                                             "a price",
                                                             "a price per hour",
                                                             "a process node",
                                                             "clock cycles",
                                                             "bytes per clock",
                                                             "operations per clock",
                                                             "bits",
                                                             "a power per byte",
                                                             "a mass"};
};

struct Unit {
    std::string_view symbol;
    PhysicalDimension dimension;
    double factor; ///< value in the library's unit = value in this unit x factor
};

/// The unit written as `symbol`; null when unknown. Rates per clock may name the unit they count for
/// ("B/clk/SM").
const Unit* find_unit(std::string_view symbol);
/// Every symbol of one dimension, in table order.
std::vector<std::string_view> symbols_of(PhysicalDimension dimension);
/// "W, mW, kW"
std::string symbol_list(PhysicalDimension dimension);

} // namespace archsim
