#include "hardware/units.hpp"

#include <array>

namespace archsim {

namespace {

using D = PhysicalDimension;

constexpr std::array kUnits = {
    Unit{"1", D::one, 1},
    Unit{"%", D::one, 1e-2},
    Unit{"s", D::time, 1},
    Unit{"ms", D::time, 1e-3},
    Unit{"us", D::time, 1e-6},
    Unit{"ns", D::time, 1e-9},
    Unit{"min", D::time, 60},
    Unit{"h", D::time, 3600},
    Unit{"Hz", D::frequency, 1},
    Unit{"kHz", D::frequency, 1e3},
    Unit{"MHz", D::frequency, 1e6},
    Unit{"GHz", D::frequency, 1e9},
    Unit{"B", D::bytes, 1},
    Unit{"kB", D::bytes, 1e3},
    Unit{"KB", D::bytes, 1e3},
    Unit{"MB", D::bytes, 1e6},
    Unit{"GB", D::bytes, 1e9},
    Unit{"TB", D::bytes, 1e12},
    Unit{"KiB", D::bytes, 1024.0},
    Unit{"MiB", D::bytes, 1024.0 * 1024},
    Unit{"GiB", D::bytes, 1024.0 * 1024 * 1024},
    Unit{"TiB", D::bytes, 1024.0 * 1024 * 1024 * 1024},
    Unit{"B/s", D::bandwidth, 1},
    Unit{"kB/s", D::bandwidth, 1e3},
    Unit{"MB/s", D::bandwidth, 1e6},
    Unit{"GB/s", D::bandwidth, 1e9},
    Unit{"TB/s", D::bandwidth, 1e12},
    Unit{"GiB/s", D::bandwidth, 1024.0 * 1024 * 1024},
    Unit{"Mbit/s", D::bandwidth, 1e6 / 8},
    Unit{"Gbit/s", D::bandwidth, 1e9 / 8},
    Unit{"ops", D::operations, 1},
    Unit{"MAC", D::operations, 2},
    Unit{"OPS", D::operation_rate, 1},
    Unit{"GOPS", D::operation_rate, 1e9},
    Unit{"TOPS", D::operation_rate, 1e12},
    Unit{"POPS", D::operation_rate, 1e15},
    Unit{"FLOPS", D::operation_rate, 1},
    Unit{"GFLOPS", D::operation_rate, 1e9},
    Unit{"TFLOPS", D::operation_rate, 1e12},
    Unit{"PFLOPS", D::operation_rate, 1e15},
    Unit{"GMAC/s", D::operation_rate, 2e9},
    Unit{"TMAC/s", D::operation_rate, 2e12},
    Unit{"W", D::power, 1},
    Unit{"mW", D::power, 1e-3},
    Unit{"kW", D::power, 1e3},
    Unit{"J", D::energy, 1},
    Unit{"mJ", D::energy, 1e-3},
    Unit{"uJ", D::energy, 1e-6},
    Unit{"nJ", D::energy, 1e-9},
    Unit{"pJ", D::energy, 1e-12},
    Unit{"fJ", D::energy, 1e-15},
    Unit{"J/B", D::energy_per_byte, 1},
    Unit{"nJ/B", D::energy_per_byte, 1e-9},
    Unit{"pJ/B", D::energy_per_byte, 1e-12},
    Unit{"pJ/bit", D::energy_per_byte, 8e-12},
    Unit{"J/op", D::energy_per_operation, 1},
    Unit{"nJ/op", D::energy_per_operation, 1e-9},
    Unit{"pJ/op", D::energy_per_operation, 1e-12},
    Unit{"fJ/op", D::energy_per_operation, 1e-15},
    Unit{"pJ/flop", D::energy_per_operation, 1e-12},
    Unit{"pJ/MAC", D::energy_per_operation, 0.5e-12},
    Unit{"USD", D::money, 1},
    Unit{"USD/h", D::money_rate, 1},
    Unit{"nm", D::process, 1},
    Unit{"cycles", D::cycles, 1},
    Unit{"B/clk", D::bytes_per_clock, 1},
    Unit{"ops/clk", D::operations_per_clock, 1},
    Unit{"MAC/clk", D::operations_per_clock, 2},
    Unit{"bit", D::bits, 1},
    Unit{"W/GB", D::power_per_byte, 1e-9},
    Unit{"mW/GB", D::power_per_byte, 1e-12},
    Unit{"kg", D::mass, 1},
    Unit{"g", D::mass, 1e-3},
};

constexpr std::array<std::string_view, 20> kDimensionNames = {
    "a plain number",
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
    "a mass",
};

/// "B/clk/SM" -> "B/clk": what the rate is counted for is documentation.
std::string_view without_scope(std::string_view symbol) {
    const auto clock = symbol.find("/clk/");
    return clock == std::string_view::npos ? symbol : symbol.substr(0, clock + 4);
}

} // namespace

std::string_view name_of(PhysicalDimension dimension) {
    return kDimensionNames[static_cast<std::size_t>(dimension)];
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
