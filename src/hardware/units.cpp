#include "hardware/units.hpp"

namespace archsim {

constexpr Unit kUnits[] = {
    // name, dimension, factor
    {"1", PhysicalDimension::one, 1},
    {"%", PhysicalDimension::one, 1e-2},
    {"s", PhysicalDimension::time, 1},
    {"ms", PhysicalDimension::time, 1e-3},
    {"us", PhysicalDimension::time, 1e-6},
    {"ns", PhysicalDimension::time, 1e-9},
    {"min", PhysicalDimension::time, 60},
    {"h", PhysicalDimension::time, 3600},
    {"Hz", PhysicalDimension::frequency, 1},
    {"kHz", PhysicalDimension::frequency, 1e3},
    {"MHz", PhysicalDimension::frequency, 1e6},
    {"GHz", PhysicalDimension::frequency, 1e9},
    {"B", PhysicalDimension::bytes, 1},
    {"kB", PhysicalDimension::bytes, 1e3},
    {"KB", PhysicalDimension::bytes, 1e3},
    {"MB", PhysicalDimension::bytes, 1e6},
    {"GB", PhysicalDimension::bytes, 1e9},
    {"TB", PhysicalDimension::bytes, 1e12},
    {"KiB", PhysicalDimension::bytes, 0x1p10},
    {"MiB", PhysicalDimension::bytes, 0x1p20},
    {"GiB", PhysicalDimension::bytes, 0x1p30},
    {"TiB", PhysicalDimension::bytes, 0x1p40},
    {"B/s", PhysicalDimension::bandwidth, 1},
    {"kB/s", PhysicalDimension::bandwidth, 1e3},
    {"MB/s", PhysicalDimension::bandwidth, 1e6},
    {"GB/s", PhysicalDimension::bandwidth, 1e9},
    {"TB/s", PhysicalDimension::bandwidth, 1e12},
    {"GiB/s", PhysicalDimension::bandwidth, 0x1p30},
    {"Mbit/s", PhysicalDimension::bandwidth, 1e6 / 8},
    {"Gbit/s", PhysicalDimension::bandwidth, 1e9 / 8},
    {"ops", PhysicalDimension::operations, 1},
    {"MAC", PhysicalDimension::operations, 2},
    {"OPS", PhysicalDimension::operation_rate, 1},
    {"GOPS", PhysicalDimension::operation_rate, 1e9},
    {"TOPS", PhysicalDimension::operation_rate, 1e12},
    {"POPS", PhysicalDimension::operation_rate, 1e15},
    {"FLOPS", PhysicalDimension::operation_rate, 1},
    {"GFLOPS", PhysicalDimension::operation_rate, 1e9},
    {"TFLOPS", PhysicalDimension::operation_rate, 1e12},
    {"PFLOPS", PhysicalDimension::operation_rate, 1e15},
    {"GMAC/s", PhysicalDimension::operation_rate, 2e9},
    {"TMAC/s", PhysicalDimension::operation_rate, 2e12},
    {"W", PhysicalDimension::power, 1},
    {"mW", PhysicalDimension::power, 1e-3},
    {"kW", PhysicalDimension::power, 1e3},
    {"J", PhysicalDimension::energy, 1},
    {"mJ", PhysicalDimension::energy, 1e-3},
    {"uJ", PhysicalDimension::energy, 1e-6},
    {"nJ", PhysicalDimension::energy, 1e-9},
    {"pJ", PhysicalDimension::energy, 1e-12},
    {"fJ", PhysicalDimension::energy, 1e-15},
    {"J/B", PhysicalDimension::energy_per_byte, 1},
    {"nJ/B", PhysicalDimension::energy_per_byte, 1e-9},
    {"pJ/B", PhysicalDimension::energy_per_byte, 1e-12},
    {"pJ/bit", PhysicalDimension::energy_per_byte, 8e-12},
    {"J/op", PhysicalDimension::energy_per_operation, 1},
    {"nJ/op", PhysicalDimension::energy_per_operation, 1e-9},
    {"pJ/op", PhysicalDimension::energy_per_operation, 1e-12},
    {"fJ/op", PhysicalDimension::energy_per_operation, 1e-15},
    {"pJ/flop", PhysicalDimension::energy_per_operation, 1e-12},
    {"pJ/MAC", PhysicalDimension::energy_per_operation, 0.5e-12},
    {"USD", PhysicalDimension::money, 1},
    {"USD/h", PhysicalDimension::money_rate, 1},
    {"nm", PhysicalDimension::process, 1},
    {"cycles", PhysicalDimension::cycles, 1},
    {"B/clk", PhysicalDimension::bytes_per_clock, 1},
    {"ops/clk", PhysicalDimension::operations_per_clock, 1},
    {"MAC/clk", PhysicalDimension::operations_per_clock, 2},
    {"bit", PhysicalDimension::bits, 1},
    {"W/GB", PhysicalDimension::power_per_byte, 1e-9},
    {"mW/GB", PhysicalDimension::power_per_byte, 1e-12},
    {"kg", PhysicalDimension::mass, 1},
    {"g", PhysicalDimension::mass, 1e-3}};

/// "B/clk/SM" -> "B/clk": what the rate is counted for is documentation.
static std::string_view without_scope(std::string_view symbol) {
    const auto clock = symbol.find("/clk/");
    return clock == std::string_view::npos ? symbol : symbol.substr(0, clock + 4);
}

const Unit* find_unit(std::string_view symbol) {
    const std::string_view bare = without_scope(symbol);
    for (const Unit& unit : kUnits)
        if (unit.symbol == bare)
            return &unit;
    return nullptr;
}

std::vector<std::string_view> symbols_of(PhysicalDimension dimension) {
    std::vector<std::string_view> result;
    for (const Unit& unit : kUnits)
        if (unit.dimension == dimension)
            result.push_back(unit.symbol);
    return result;
}

std::string symbol_list(PhysicalDimension dimension) {
    std::string result;
    for (std::string_view symbol : symbols_of(dimension)) {
        if (!result.empty())
            result += ", ";
        result += symbol;
    }
    return result;
}

} // namespace archsim
