#pragma once
// The numbers of a machine that the GPU formulas need, looked up once per network. Private to the GPU mapper.

#include "archsim/extend/mapper.hpp"
#include "family/gemm_tiles.hpp"

#include <vector>

namespace archsim::gpu {

/// One instruction of a lane (a maximum, a sum, a scaling, a step of an address) takes the time in which
/// rates count a multiplication and an addition.
inline constexpr double kLaneOperations = 2;

/// The unit that multiplies in a given format.
struct MultiplyEngine {
    Resource resource = Resource::vector_cycles;
    bool matrix = false;
    double ops_per_cycle = 0; ///< whole device
    double efficiency = 1;
    Parameter reason = Parameter::count_;
};

class View {
  public:
    View(const Machine& machine, const NetworkWork& network);

    const Machine& machine;
    const NetworkWork& network;
    const double units;
    const bool overlapped;        ///< several streams share the device (throughput scenario)
    double vector_fp32;           ///< fp32 operations per cycle, whole device
    double special_per_cycle = 0; ///< exponentials, divisions, roots per cycle, whole device
    double l2_per_cycle = 0;      ///< bytes per cycle; 0 = unknown, never limits
    double dram_per_cycle = 0;
    double paired_units = 1;   ///< multiprocessors whose matrix engines share an operand
    mutable TileChoices tiles; ///< of one thread, as every view is

    /// Cycles that the lanes take for so many instructions of one; none where the database knows no lanes.
    double lane_cycles(double instructions) const {
        return vector_fp32 > 0 ? kLaneOperations * instructions / vector_fp32 : 0;
    }
    /// The same of integers, which may have fewer lanes.
    double index_cycles(double instructions) const {
        return integer_lanes_ > 0 ? instructions / (units * integer_lanes_) : lane_cycles(instructions);
    }
    double param(Parameter p, double neutral) const { return machine.param(p, neutral); }
    /// Bytes moved per byte of weights: as the stack states; under automatic mixed precision they are cast in
    /// every pass, read in fp32, written and read in `multiplied`.
    double weight_passes(Precision multiplied) const;
    /// Images lie channels last in this network: convolutions of the matrix engine find them as they want
    /// them.
    bool channels_last() const { return channels_last_; }
    /// The engine that multiplies in a format, and the tile search on it.
    struct Engine {
        Precision precision = Precision::fp32;
        bool convolution = false;
        MultiplyEngine multiply;
        GemmEngine tiles;
    };
    /// The matrix engine where it has the format, else the vector engine.
    const Engine& engine(Precision precision, bool convolution) const;

    /// Traffic of one kernel in bytes.
    struct Traffic {
        double activations = 0; ///< read and written at the kernel's boundary
        double kv_cache = 0;    ///< part of these that is attention cache, never resident
        double weights = 0;
        double on_chip = 0;    ///< through L2 in all
        double units_used = 0; ///< multiprocessors that fetch
    };
    /// Adds DRAM and L2 demands and their events; `share` of DRAM bandwidth is what this kind of kernel
    /// reaches.
    void add_traffic(Mapping& out, const Traffic& traffic, double share, Parameter reason) const;
    /// Copies that run before or after a subgraph's own kernel, each a kernel of its own.
    struct Copies {
        double bytes = 0; ///< read and written
        double kernels = 0;
        Copies operator+(const Copies& o) const { return {bytes + o.bytes, kernels + o.kernels}; }
    };
    /// Adds their time: L2 keeps of each what it keeps of activations.
    void add_copies(Mapping& out, const Copies& copies) const;
    /// Copies whose lanes take so many cycles to find the elements, while memory moves them: the longer
    /// decides. Returns the copies where memory does; else their time is added as that of the lanes, which a
    /// lower clock stretches, and nothing is left.
    Copies longer_of(double cycles, const Copies& copies, Mapping& out) const;
    /// Adds the time of work outside matrix products.
    void add_vector_work(Mapping& out, double vector_ops, double special_ops) const;
    /// Adds the minimum duration of `kernels` kernels and their launch.
    void add_floor(Mapping& out, bool simple, double kernels) const;

  private:
    MultiplyEngine multiply_engine(Precision precision, bool convolution) const;
    GemmEngine gemm_engine(const MultiplyEngine& engine, Precision precision) const;
    /// Bytes of copies that L2 does not keep.
    double dram_of(const Copies& copies) const;
    static void count_copies(double dram, const Copies& copies, Mapping& out);

    mutable std::vector<Engine> engines_; ///< looked up so far
    double resident_bytes_ = 0;           ///< L2 that activations may count on between kernels
    double integer_lanes_ = 0;            ///< of a multiprocessor; 0: as many as of floats
    bool channels_last_ = false;
    bool weights_resident_ = false; ///< the network's weights stay in L2 between inferences
    bool user_submission_ = false;  ///< programs write the hardware queue themselves
    double half_gain_ = 1;          ///< of a stack that sums fp16 products in fp16
};

// The kinds of kernels, each in a file of its own.
void map_contraction(const View& view, const SubgraphWork& work, Mapping& out);
void map_attention(const View& view, const SubgraphWork& work, Mapping& out);
void map_depthwise(const View& view, const SubgraphWork& work, Mapping& out);
void map_simple(const View& view, const SubgraphWork& work, Mapping& out);

/// One input channel per group, and not so few groups that it is a plain product.
bool is_depthwise(const SubgraphWork& work);

/// In which automatic mixed precision narrows what the subgraph multiplies.
View::Copies narrowing_of(const SubgraphWork& work);

/// Rate of fp16 products of a stack that sums them in fp16, relative to those summed in fp32; 1 for others.
double half_accumulation_gain(const Machine& machine);

/// Up to this many rows libraries leave the tiles and stream the weights through a dot-product kernel
/// (llama.cpp ggml-cuda MMVQ_MAX_BATCH_SIZE; cuBLAS gemv for fewer), and attention its keys and values once
/// past all query heads that share them.
inline constexpr double kRowKernelRows = 8;

// Energy events
// ------------------------------------------------------------------------------------------------

/// Counts a product in tiles: arithmetic, instructions, registers, shared memory, barriers.
void count_product(double macs, Precision precision, const MultiplyEngine& engine, const TileChoice& tile,
                   double operand_bytes, EventCounts& events);
/// Counts arithmetic on the vector units: `bytes` pass through registers.
void count_vector(double vector_ops, double special_ops, double bytes, EventCounts& events);

} // namespace archsim::gpu
