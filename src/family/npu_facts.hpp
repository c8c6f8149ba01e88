#pragma once
// Facts of an NPU: their names in a device's file, what they mean, and what scales them. Private to its
// mapper.

#include "family/table.hpp"
#include "map/buffers.hpp"

#include <array>

namespace archsim {

struct NpuFacts : TiledFacts<NpuFacts> {
    Fact cores, array_rows, array_cols, sram_bytes, on_chip_weight_bytes, data_memory_bytes;
    Fact compute_units, layer_controllers, units_per_controller, context_fill, unit_channels, layer_bandwidth;
    Fact sum_port, held_inputs, coded_activations;
    std::array<Fact, 2> array_pixels;
    bool row_stationary = false, winograd = false, whole_strides = false;
    bool activations_wait = false;
    bool dataflow_pipeline = false; ///< whole network laid out spatially, one image per pipeline step
};

inline constexpr std::array kOwnNpuFacts = {
    fact("cores", &NpuFacts::cores, "Cores.", {.high = 1e6, .scales_with = Structure::units}),
    fact("array_rows", &NpuFacts::array_rows, "Input channels per clock of a core.",
         {.high = 65536, .scales_with = Structure::array}),
    fact("array_cols", &NpuFacts::array_cols, "Output channels per clock of a core.",
         {.high = 65536, .scales_with = Structure::array}),
    fact("sram", &NpuFacts::sram_bytes, "On-chip buffer.",
         {.unit = "B", .low = 0, .high = 1e12, .scales_with = Structure::on_chip_memory}),
    fact("on_chip_weights", &NpuFacts::on_chip_weight_bytes, "Weights that stay on chip.",
         {.unit = "B", .low = 0, .high = 1e12, .scales_with = Structure::on_chip_memory}),
    fact("data_memory", &NpuFacts::data_memory_bytes,
         "Part of the on-chip buffer that only activations use, where weights have a memory apart.",
         {.unit = "B", .low = 0, .high = 1e12, .scales_with = Structure::on_chip_memory}),
    fact("compute_units", &NpuFacts::compute_units,
         "Units of a pipeline that its layers take whole numbers of.",
         {.high = 1e6, .scales_with = Structure::units}),
    fact("layer_controllers", &NpuFacts::layer_controllers, "Layers that a pipeline drives at once.",
         {.high = 1e6, .scales_with = Structure::units}),
    fact("units_per_controller", &NpuFacts::units_per_controller,
         "Compute units that one layer controller drives.", {.high = 1e6}),
    fact("unit_channels", &NpuFacts::unit_channels, "Output channels that a compute unit makes at once.",
         {.high = 1e6}),
    fact("layer_bandwidth", &NpuFacts::layer_bandwidth, "What a layer of a pipeline hands on to the next.",
         {.unit = "B/s", .low = 1e6, .high = 1e13, .scales_with = Structure::clock}),
    fact("context_fill", &NpuFacts::context_fill,
         "Share of units, controllers and weights that one context of several fills.",
         {.unit = "1", .low = 0.05, .high = 1}),
    fact("dataflow_pipeline", &NpuFacts::dataflow_pipeline,
         "The whole network is laid out spatially, one image per step."),
    fact(
        "array_pixels", &NpuFacts::array_pixels,
        "Rows and columns of an output image per clock of a core, beside channels, which then fill the array "
        "tap by tap; absent: one, and taps and channels of a window fill it together."),
    fact("row_stationary", &NpuFacts::row_stationary,
         "The array lays rows of the kernel along its rows and rows of the output image along its "
         "columns, as "
         "many such sets side by side as fit (Eyeriss)."),
    fact("winograd", &NpuFacts::winograd,
         "3 x 3 windows of stride 1 run as Winograd F(2x2, 3x3): 4 of 9 products, 16 weights "
         "stored for 9."),
    fact("whole_strides", &NpuFacts::whole_strides,
         "Weights are stored with windows padded to whole strides."),
    fact(
        "sum_port", &NpuFacts::sum_port,
        "Sums that a row-stationary array takes from its buffer, and gives back, in a clock; absent: enough.",
        {.unit = "B/clk", .low = 0.1, .high = 1e6, .scales_with = Structure::array}),
    fact("held_inputs", &NpuFacts::held_inputs,
         "Inputs that an element of a row-stationary array holds: channels that it adds up before it hands a "
         "sum on, times the kernel's columns.",
         {.high = 65536}),
    fact("coded_activations", &NpuFacts::coded_activations,
         "Bytes of inputs and results in external memory over those that they have, where zeros are coded; "
         "a property of the data too; absent: 1.",
         {.low = 0.01, .high = 1}),
    fact("activations_wait", &NpuFacts::activations_wait,
         "The array waits while inputs and results pass between buffer and external memory; only weights "
         "load beside it."),
};

inline constexpr auto kNpuFacts = with_rows(kOwnNpuFacts, kBufferRows);

} // namespace archsim
