#include "hardware/units.hpp"

namespace archsim {

using D = PhysicalDimension;

constexpr Unit kUnits[] = {
    // name, dimension, factor
    {"1", D::one, 1},
    {"%", D::one, 1e-2},
    {"s", D::time, 1},
    {"ms", D::time, 1e-3},
    {"us", D::time, 1e-6},
    {"ns", D::time, 1e-9},
    {"min", D::time, 60},
    {"h", D::time, 3600},
    {"Hz", D::frequency, 1},
    {"kHz", D::frequency, 1e3},
    {"MHz", D::frequency, 1e6},
    {"GHz", D::frequency, 1e9},
    {"B", D::bytes, 1},
    {"kB", D::bytes, 1e3},
    {"KB", D::bytes, 1e3},
    {"MB", D::bytes, 1e6},
    {"GB", D::bytes, 1e9},
    {"TB", D::bytes, 1e12},
    {"KiB", D::bytes, 0x1p10},
    {"MiB", D::bytes, 0x1p20},
    {"GiB", D::bytes, 0x1p30},
    {"TiB", D::bytes, 0x1p40},
    {"B/s", D::bandwidth, 1},
    {"kB/s", D::bandwidth, 1e3},
    {"MB/s", D::bandwidth, 1e6},
    {"GB/s", D::bandwidth, 1e9},
    {"TB/s", D::bandwidth, 1e12},
    {"GiB/s", D::bandwidth, 0x1p30},
    {"Mbit/s", D::bandwidth, 1e6 / 8},
    {"Gbit/s", D::bandwidth, 1e9 / 8},
    {"ops", D::operations, 1},
    {"MAC", D::operations, 2},
    {"OPS", D::operation_rate, 1},
    {"GOPS", D::operation_rate, 1e9},
    {"TOPS", D::operation_rate, 1e12},
    {"POPS", D::operation_rate, 1e15},
    {"FLOPS", D::operation_rate, 1},
    {"GFLOPS", D::operation_rate, 1e9},
    {"TFLOPS", D::operation_rate, 1e12},
    {"PFLOPS", D::operation_rate, 1e15},
    {"GMAC/s", D::operation_rate, 2e9},
    {"TMAC/s", D::operation_rate, 2e12},
    {"W", D::power, 1},
    {"mW", D::power, 1e-3},
    {"kW", D::power, 1e3},
    {"J", D::energy, 1},
    {"mJ", D::energy, 1e-3},
    {"uJ", D::energy, 1e-6},
    {"nJ", D::energy, 1e-9},
    {"pJ", D::energy, 1e-12},
    {"fJ", D::energy, 1e-15},
    {"J/B", D::energy_per_byte, 1},
    {"nJ/B", D::energy_per_byte, 1e-9},
    {"pJ/B", D::energy_per_byte, 1e-12},
    {"pJ/bit", D::energy_per_byte, 8e-12},
    {"J/op", D::energy_per_operation, 1},
    {"nJ/op", D::energy_per_operation, 1e-9},
    {"pJ/op", D::energy_per_operation, 1e-12},
    {"fJ/op", D::energy_per_operation, 1e-15},
    {"pJ/flop", D::energy_per_operation, 1e-12},
    {"pJ/MAC", D::energy_per_operation, 0.5e-12},
    {"USD", D::money, 1},
    {"USD/h", D::money_rate, 1},
    {"nm", D::process, 1},
    {"cycles", D::cycles, 1},
    {"B/clk", D::bytes_per_clock, 1},
    {"ops/clk", D::operations_per_clock, 1},
    {"MAC/clk", D::operations_per_clock, 2},
    {"bit", D::bits, 1},
    {"W/GB", D::power_per_byte, 1e-9},
    {"mW/GB", D::power_per_byte, 1e-12},
    {"kg", D::mass, 1},
    {"g", D::mass, 1e-3}};

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
