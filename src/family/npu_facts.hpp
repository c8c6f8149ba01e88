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
    std::array<Fact, 2> array_pixels;
    bool row_stationary = false, winograd = false, whole_strides = false;
    bool dataflow_pipeline = false; ///< whole network laid out spatially, one image per pipeline step
};

inline constexpr std::array kOwnNpuFacts = {
    FactRow{.name = "cores",
            .member = fact_at(&NpuFacts::cores),
            .doc = "Cores.",
            .high = 1e6,
            .scales_with = Structure::units},
    FactRow{.name = "array_rows",
            .member = fact_at(&NpuFacts::array_rows),
            .doc = "Input channels per clock of a core.",
            .high = 65536,
            .scales_with = Structure::array},
    FactRow{.name = "array_cols",
            .member = fact_at(&NpuFacts::array_cols),
            .doc = "Output channels per clock of a core.",
            .high = 65536,
            .scales_with = Structure::array},
    FactRow{.name = "sram",
            .member = fact_at(&NpuFacts::sram_bytes),
            .doc = "On-chip buffer.",
            .unit = "B",
            .low = 0,
            .high = 1e12,
            .scales_with = Structure::on_chip_memory},
    FactRow{.name = "on_chip_weights",
            .member = fact_at(&NpuFacts::on_chip_weight_bytes),
            .doc = "Weights that stay on chip.",
            .unit = "B",
            .low = 0,
            .high = 1e12,
            .scales_with = Structure::on_chip_memory},
    FactRow{.name = "data_memory",
            .member = fact_at(&NpuFacts::data_memory_bytes),
            .doc = "Part of the on-chip buffer that only activations use, where weights have a memory apart.",
            .unit = "B",
            .low = 0,
            .high = 1e12,
            .scales_with = Structure::on_chip_memory},
    FactRow{.name = "compute_units",
            .member = fact_at(&NpuFacts::compute_units),
            .doc = "Units of a pipeline that its layers take whole numbers of.",
            .high = 1e6,
            .scales_with = Structure::units},
    FactRow{.name = "layer_controllers",
            .member = fact_at(&NpuFacts::layer_controllers),
            .doc = "Layers that a pipeline drives at once.",
            .high = 1e6,
            .scales_with = Structure::units},
    FactRow{.name = "units_per_controller",
            .member = fact_at(&NpuFacts::units_per_controller),
            .doc = "Compute units that one layer controller drives.",
            .high = 1e6},
    FactRow{.name = "unit_channels",
            .member = fact_at(&NpuFacts::unit_channels),
            .doc = "Output channels that a compute unit makes at once.",
            .high = 1e6},
    FactRow{.name = "layer_bandwidth",
            .member = fact_at(&NpuFacts::layer_bandwidth),
            .doc = "What a layer of a pipeline hands on to the next.",
            .unit = "B/s",
            .low = 1e6,
            .high = 1e13,
            .scales_with = Structure::clock},
    FactRow{.name = "context_fill",
            .member = fact_at(&NpuFacts::context_fill),
            .doc = "Share of units, controllers and weights that one context of several fills.",
            .unit = "1",
            .low = 0.05,
            .high = 1},
    FactRow{.name = "dataflow_pipeline",
            .member = fact_at(&NpuFacts::dataflow_pipeline),
            .doc = "The whole network is laid out spatially, one image per step."},
    FactRow{.name = "array_pixels",
            .member = fact_at(&NpuFacts::array_pixels),
            .doc = "Rows and columns of an output image per clock of a core, beside the channels."},
    FactRow{.name = "row_stationary",
            .member = fact_at(&NpuFacts::row_stationary),
            .doc = "The array lays rows of the kernel along its rows and rows of the output image along its "
                   "columns, as "
                   "many such sets side by side as fit (Eyeriss)."},
    FactRow{.name = "winograd",
            .member = fact_at(&NpuFacts::winograd),
            .doc = "3 x 3 windows of stride 1 run as Winograd F(2x2, 3x3): 4 of 9 products, 16 weights "
                   "stored for 9."},
    FactRow{.name = "whole_strides",
            .member = fact_at(&NpuFacts::whole_strides),
            .doc = "Weights are stored with windows padded to whole strides."},
};

inline constexpr auto kNpuFacts = with_rows(kOwnNpuFacts, kBufferRows<NpuFacts>);

} // namespace archsim
