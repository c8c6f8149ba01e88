#include "hardware/units.hpp"

#include "core/lists.hpp"

#include <fmt/ranges.h>

namespace archsim {

/// Every unit, by what it measures.
static const std::vector<Unit>& units() {
    static const std::vector<Unit> all = [] {
        using enum PhysicalDimension;
        struct Symbol {
            std::string_view name;
            double factor;
        };
        std::vector<Unit> rows;
        const auto add = [&](PhysicalDimension dimension, std::initializer_list<Symbol> symbols) {
            for (const Symbol& symbol : symbols)
                rows.push_back({symbol.name, dimension, symbol.factor});
        };
        add(one, {{"1", 1}, {"%", 1e-2}});
        add(time, {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"min", 60}, {"h", 3600}});
        add(frequency, {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}});
        add(bytes, {{"B", 1},
                    {"kB", 1e3},
                    {"KB", 1e3},
                    {"MB", 1e6},
                    {"GB", 1e9},
                    {"TB", 1e12},
                    {"KiB", 0x1p10},
                    {"MiB", 0x1p20},
                    {"GiB", 0x1p30},
                    {"TiB", 0x1p40}});
        add(bandwidth, {{"B/s", 1},
                        {"kB/s", 1e3},
                        {"MB/s", 1e6},
                        {"GB/s", 1e9},
                        {"TB/s", 1e12},
                        {"GiB/s", 0x1p30},
                        {"Mbit/s", 1e6 / 8},
                        {"Gbit/s", 1e9 / 8}});
        add(operations, {{"ops", 1}, {"MAC", 2}});
        add(operation_rate, {{"OPS", 1},
                             {"GOPS", 1e9},
                             {"TOPS", 1e12},
                             {"POPS", 1e15},
                             {"FLOPS", 1},
                             {"GFLOPS", 1e9},
                             {"TFLOPS", 1e12},
                             {"PFLOPS", 1e15},
                             {"GMAC/s", 2e9},
                             {"TMAC/s", 2e12}});
        add(power, {{"W", 1}, {"mW", 1e-3}, {"kW", 1e3}});
        add(energy, {{"J", 1}, {"mJ", 1e-3}, {"uJ", 1e-6}, {"nJ", 1e-9}, {"pJ", 1e-12}, {"fJ", 1e-15}});
        add(energy_per_byte, {{"J/B", 1}, {"nJ/B", 1e-9}, {"pJ/B", 1e-12}, {"pJ/bit", 8e-12}});
        add(energy_per_operation, {{"J/op", 1},
                                   {"nJ/op", 1e-9},
                                   {"pJ/op", 1e-12},
                                   {"fJ/op", 1e-15},
                                   {"pJ/flop", 1e-12},
                                   {"pJ/MAC", 0.5e-12}});
        add(money, {{"USD", 1}});
        add(money_rate, {{"USD/h", 1}});
        add(process, {{"nm", 1}});
        add(cycles, {{"cycles", 1}});
        add(bytes_per_clock, {{"B/clk", 1}});
        add(operations_per_clock, {{"ops/clk", 1}, {"MAC/clk", 2}});
        add(bits, {{"bit", 1}});
        add(power_per_byte, {{"W/GB", 1e-9}, {"mW/GB", 1e-12}});
        add(mass, {{"kg", 1}, {"g", 1e-3}});
        return rows;
    }();
    return all;
}

/// "B/clk/SM" -> "B/clk": what the rate is counted for is documentation.
static std::string_view without_scope(std::string_view symbol) {
    const auto clock = symbol.find("/clk/");
    return clock == std::string_view::npos ? symbol : symbol.substr(0, clock + 4);
}

const Unit* find_unit(std::string_view symbol) {
    const std::string_view bare = without_scope(symbol);
    const auto found = std::ranges::find(units(), bare, &Unit::symbol);
    return found == units().end() ? nullptr : &*found;
}

std::vector<std::string_view> symbols_of(PhysicalDimension dimension) {
    return mapped(kept(units(), [=](const Unit& unit) { return unit.dimension == dimension; }),
                  &Unit::symbol);
}

std::string symbol_list(PhysicalDimension dimension) {
    return fmt::format("{}", fmt::join(symbols_of(dimension), ", "));
}

} // namespace archsim
