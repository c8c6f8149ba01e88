#pragma once
// Counting that the accelerator mappers (TPU, KPU, DSP, DPU, CGRA, NPU) share. For the mappers alone.

#include "archsim/extend/mapper.hpp"

#include "map/on_chip.hpp"

#include <array>
#include <cmath>
#include <optional>

namespace archsim::accelerator {

inline double blocks(double extent, double block) {
    return std::ceil(extent / block);
}
inline double padded(double extent, double block) {
    return blocks(extent, block) * block;
}

/// One input channel per group, and more than one group.
bool is_depthwise(const OperatorWork& work);
/// Input and output channels of one group of a convolution.
inline double group_inputs(const Window& w) {
    return w.in_channels / w.groups;
}
inline double group_outputs(const Window& w) {
    return w.out_channels / w.groups;
}

/// The engine that multiplies in a format: its rate over the whole device and the share of it that code
/// reaches.
struct MatrixFormat {
    double ops_per_cycle = 0; ///< 1 multiply-accumulate = 2 operations
    double efficiency = 1;
    double passes = 1; ///< products of `multiplies` per product of the requested format
    Precision multiplies = Precision::fp32;
    Resource resource = Resource::matrix_cycles;
};
MatrixFormat matrix_format(const Machine& machine, const PrecisionConfig& network, Precision compute);

/// Those of one network on one machine, each looked up once: a network has few formats and many products. One
/// thread's.
class MatrixFormats {
  public:
    /// Both must outlive it.
    MatrixFormats(const Machine& machine, const PrecisionConfig& network)
        : machine_(machine), network_(network) {}
    /// As matrix_format().
    const MatrixFormat& of(Precision compute) const {
        std::optional<MatrixFormat>& known = known_[static_cast<std::size_t>(compute)];
        if (!known)
            known = matrix_format(machine_, network_, compute);
        return *known;
    }

  private:
    const Machine& machine_;
    const PrecisionConfig& network_;
    mutable std::array<std::optional<MatrixFormat>, kPrecisionCount> known_;
};

/// Operations per cycle of the vector engines: their best format not narrower than 16 bit, else what they
/// have; 0 when the device states no vector engine and its stack no ratio to the matrix engine.
double vector_ops_per_cycle(const Machine& machine);

/// Multiply-accumulates with channels of every tap padded to `block`; groups narrower than a block share its
/// output side. With `pack_rows`, a row of taps of a layer with few input channels shares one block.
double channel_padded_macs(const OperatorWork& work, const Contraction& c, double block, bool pack_rows);
/// The same with the reduction flattened over taps and channels before padding to rows x cols.
double flat_padded_macs(const Contraction& c, double rows, double cols);

/// Multiply-accumulates of a grouped convolution on arrays of rows x cols: either each group fills an array
/// of its own, or all groups run as one dense convolution over zeros, whichever is less.
double grouped_macs(const OperatorWork& work, const Contraction& c, double rows, double cols);

/// Rows of its input that an operator waits for before its first result, as a share of the image: where
/// operators lie side by side and stream into each other, a single image waits at each of them. A window
/// needs its height less the padding; a product with weights needs one row; a product of two activations, and
/// a reduction of the whole image, all of it.
double rows_awaited(const SubgraphWork& work, double batch);

/// Work of a subgraph outside dense contractions, in vector-engine operations.
struct VectorWork {
    double operations = 0;
    double special = 0; ///< exponentials, divisions, roots among them
    /// Exponentials of activations, which `operations` hold, and of softmax, at an activation's cost where
    /// the stack states one.
    double exponentials = 0;
    double depthwise_macs = 0;  ///< not part of `operations`
    double small_operators = 0; ///< operators that are no dense contraction, concatenation or window pooling
};
/// `drained` adds the stack's cost per byte of contraction output.
VectorWork vector_work(const SubgraphWork& work, const Machine& machine);

/// Whether the tensors alive at this subgraph (divided over `shares` independent parts) stay within
/// `capacity`.
bool activations_stay(const NetworkWork& network, const SubgraphWork& work, double capacity, double shares);

/// Bytes that exist before the inference starts and are no weights: keys and values of earlier steps, inputs
/// of the network. They come from outside the chip whatever its buffers hold, and can be fetched ahead.
double outside_bytes(const SubgraphWork& work);

/// Bytes of a subgraph's outputs that are results of the network, but for caches.
double result_bytes(const SubgraphWork& work, const NetworkWork& network);
/// Bytes of activations that pass the chip's border even where all others stay: what is given, and results.
inline double border_bytes(const SubgraphWork& work, const NetworkWork& network) {
    return outside_bytes(work) + result_bytes(work, network);
}

/// Elements that concatenations must bring to another scale where activations are quantised: every tensor has
/// a scale of its own, and the result has one. A kernel whose result only the concatenation reads writes at
/// that scale to begin with; what others read too, or what no arithmetic wrote (inputs, pieces, maxima), is
/// scaled again and copied. Worked: in a dense block every feature is read by all later layers, in an
/// inception block each branch by the concatenation alone.
struct Requantized {
    double tensors = 0, elements = 0;
};
Requantized requantized_inputs(const ShapedGraph& graph);

/// Operators that the runtime hands to the host: transfers, hand-over and host time, all outside overlap.
void add_fallback(const SubgraphWork& work, const Machine& machine, Mapping& out);
/// Whether the host, not the accelerator, executes this operator.
inline bool on_host(const OperatorUse& use, const Machine& machine) {
    return !use.supported && machine.runtime->fallback == Fallback::host;
}

/// Events every accelerator has: arithmetic, external memory.
void count_arithmetic(const SubgraphWork& work, const NetworkWork& network, const Machine& machine,
                      Mapping& out);
inline void add_dram(Mapping& out, Resource resource, Lane lane, double bytes, double efficiency = 1,
                     Parameter reason = Parameter::count_) {
    out.add(resource, lane, bytes, efficiency, reason);
    out.events[Event::dram_byte] += bytes;
}

/// Fixed time per inference, `starts` times what the stack states, and in end-to-end latency the host's work
/// and transfers: what Mapper::map_network adds. Where many requests are in flight, Parameter::stream_overlap
/// of the fixed time remains, and nothing of the host's work.
void add_inference_overhead(const NetworkWork& network, const Machine& machine, Mapping& out,
                            double starts = 1);

/// A fixed time of the host per inference, `times` what the stack states as `reason`.
void add_start_time(const Machine& machine, Parameter reason, double times, Mapping& out);

/// Time per layer outside overlap: Parameter::kernel_overhead (seconds) and Parameter::layer_cycles, divided
/// over `shared_by` images that pass together.
void add_layer_overhead(const Machine& machine, double layers, double shared_by, Mapping& out);

} // namespace archsim::accelerator
