// Family blocks of a device: array shapes, tiles, parallelism.

#include "hardware/device_reader.hpp"

namespace archsim {

namespace {

using D = PhysicalDimension;

/// The two sides of an array, written as two quantities or as "grid": [rows, cols].
void read_grid(ObjectReader& block, Fact& rows, Fact& cols) {
    const nlohmann::json* grid = block.member("grid");
    if (grid == nullptr)
        return;
    const bool pair =
        grid->is_array() && grid->size() == 2 && (*grid)[0].is_number() && (*grid)[1].is_number();
    if (!pair) {
        block.context().report(FindingKind::malformed_file, Severity::error, block.place_of("grid"),
                               "this must be an array of two numbers", "write [rows, columns]");
        return;
    }
    rows.value = (*grid)[0].get<double>();
    cols.value = (*grid)[1].get<double>();
    rows.source = cols.source = block.source() != nullptr ? block.source() : block.context().unsourced;
}

void read_cpu(ObjectReader& block, CpuFacts& cpu) {
    cpu.cores = block.quantity("cores", D::one, {1, 4096}, Need::required);
    cpu.performance_cores = block.quantity("performance_cores", D::one, {0, 4096});
    cpu.efficiency_cores = block.quantity("efficiency_cores", D::one, {0, 4096});
    cpu.threads = block.quantity("threads", D::one, {1, 16384});
    cpu.sockets = block.quantity("sockets", D::one, {1, 64});
    cpu.vector_lanes_fp32 = block.quantity("vector_lanes_fp32", D::one, {1, 4096});
    cpu.isa = block.texts("isa");
}

void read_gpu(ObjectReader& block, GpuFacts& gpu) {
    gpu.sm_count = block.quantity("sm_count", D::one, {1, 4096});
    gpu.fabric_bytes_per_clock = block.quantity("fabric_bytes_per_clock", D::bytes_per_clock, {1, 1e6});
    gpu.fabric_efficiency = block.quantity("fabric_efficiency", D::one, {0.01, 1});
    gpu.warp_size = block.quantity("warp_size", D::one, {1, 1024});
}

void read_systolic(ObjectReader& block, SystolicFacts& systolic) {
    systolic.cores = block.quantity("cores", D::one, {1, 4096});
    systolic.mxu_per_core = block.quantity("mxu_per_core", D::one, {1, 4096});
    systolic.rows = block.quantity("rows", D::one, {1, 65536});
    systolic.cols = block.quantity("cols", D::one, {1, 65536});
    systolic.vector_lanes = block.quantity("vector_lanes", D::one, {1, 1e6});
    systolic.cores_as_one = block.flag("cores_as_one", false);
    systolic.dataflow = block.text("dataflow");
}

void read_kpu(ObjectReader& block, KpuFacts& kpu) {
    read_grid(block, kpu.grid_rows, kpu.grid_cols);
    kpu.dataflow = block.text("dataflow");
    block.each("tiles", [&](ObjectReader& entry) {
        KpuTile tile;
        tile.kind = entry.text("kind", Need::required);
        tile.count = entry.number("count", {1, 1e6}, Need::required);
        tile.rows = entry.quantity("rows", D::one, {1, 65536});
        tile.cols = entry.quantity("cols", D::one, {1, 65536});
        read_rates(entry, "ops_per_clock", tile.ops_per_clock);
        kpu.tiles.push_back(std::move(tile));
    });
}

void read_dsp(ObjectReader& block, DspFacts& dsp) {
    dsp.mma_count = block.quantity("mma_count", D::one, {0, 4096});
    dsp.mma_rows = block.quantity("mma_rows", D::one, {1, 65536});
    dsp.mma_cols = block.quantity("mma_cols", D::one, {1, 65536});
    dsp.hvx_units = block.quantity("hvx_units", D::one, {0, 4096});
    dsp.scratchpad_bytes = block.quantity("scratchpad", D::bytes, {0, 1e12});
    dsp.port_bytes_per_clock = block.quantity("port_bytes_per_clock", D::bytes_per_clock, {1, 1e6});
}

void read_dpu(ObjectReader& block, DpuFacts& dpu) {
    dpu.cores = block.quantity("cores", D::one, {1, 4096});
    dpu.pixel_parallel = block.quantity("pixel_parallel", D::one, {1, 65536});
    dpu.input_channel_parallel = block.quantity("input_channel_parallel", D::one, {1, 65536});
    dpu.output_channel_parallel = block.quantity("output_channel_parallel", D::one, {1, 65536});
    dpu.depthwise_pixel_parallel = block.quantity("depthwise_pixel_parallel", D::one, {1, 65536});
    dpu.batch_handlers = block.quantity("batch_handlers", D::one, {1, 4096});
    dpu.aie = block.quantity("aie", D::one, {0, 65536});
    dpu.pl_clock = block.quantity("pl_clock", D::frequency, {1e6, 1e10});
    dpu.vector_channels = block.quantity("vector_channels", D::one, {1, 65536});
}

void read_cgra(ObjectReader& block, CgraFacts& cgra) {
    cgra.compute_units = block.quantity("compute_units", D::one, {1, 1e6});
    cgra.memory_units = block.quantity("memory_units", D::one, {0, 1e6});
    cgra.stages = block.quantity("stages", D::one, {1, 65536});
    cgra.lanes = block.quantity("lanes", D::one, {1, 65536});
    cgra.reconfiguration_time = block.quantity("reconfiguration_time", D::time, {0, 10});
}

void read_npu(ObjectReader& block, NpuFacts& npu) {
    npu.cores = block.quantity("cores", D::one, {1, 1e6});
    npu.array_rows = block.quantity("array_rows", D::one, {1, 65536});
    npu.array_cols = block.quantity("array_cols", D::one, {1, 65536});
    npu.sram_bytes = block.quantity("sram", D::bytes, {0, 1e12});
    npu.on_chip_weight_bytes = block.quantity("on_chip_weights", D::bytes, {0, 1e12});
    npu.dataflow_pipeline = block.flag("dataflow_pipeline", false);
}

} // namespace

void read_family(ObjectReader& document, Device& device) {
    document.object("cpu", [&](ObjectReader& block) { read_cpu(block, device.cpu); });
    document.object("gpu", [&](ObjectReader& block) { read_gpu(block, device.gpu); });
    document.object("systolic", [&](ObjectReader& block) { read_systolic(block, device.systolic); });
    document.object("kpu", [&](ObjectReader& block) { read_kpu(block, device.kpu); });
    document.object("dsp", [&](ObjectReader& block) { read_dsp(block, device.dsp); });
    document.object("dpu", [&](ObjectReader& block) { read_dpu(block, device.dpu); });
    document.object("cgra", [&](ObjectReader& block) { read_cgra(block, device.cgra); });
    document.object("npu", [&](ObjectReader& block) { read_npu(block, device.npu); });
}

} // namespace archsim
