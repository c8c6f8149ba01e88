#pragma once
// The numbers of a machine that the CPU formulas need, looked up once per network. Private to the CPU mapper.

#include "archsim/extend/mapper.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace archsim::cpu {

struct CpuFacts : FactsOf<CpuFacts> {
    Fact cores, performance_cores, efficiency_cores, threads, sockets;
    Fact vector_lanes_fp32; ///< fp32 lanes per core and clock-issue (16 AVX-512, 8 AVX2, 4 NEON)
    Fact matrix_operand_bytes, matrix_depth_bytes; ///< of one matrix instruction
    Fact decode_width;                             ///< instructions that a core decodes per clock
    Fact ram; ///< bytes of a microcontroller that computes in RAM and leaves weights in flash, its `dram`
    Fact external_ram, external_ram_bandwidth; ///< beside it
    std::vector<std::string> isa;
};

/// How one core multiplies in a given format.
struct MultiplyUnit {
    Resource resource = Resource::vector_cycles;
    bool matrix = false;
    double ops_per_cycle = 0; ///< of one unit
    double units = 1;         ///< that share a product: the cores of an inference, or what these share
    double efficiency = 1;
    Parameter reason = Parameter::count_;
    // Shapes are padded to these: rows, columns and reduction steps of one instruction.
    double m_step = 1, n_step = 1, k_step = 1;
    double macs_per_instruction = 1;
    double operand_bytes = 0, result_bytes = 0; ///< of a matrix instruction: one operand, the accumulators
};

/// The cores that work on one inference. An operator is split evenly and waits for the slowest of them, so
/// that a second kind of core joins only where more hands outweigh its pace: 4 + 4 cores of equal vector
/// units all work, 6 + 8 cores of which the 8 have half the rate and a lower clock leave it to the 6.
struct Team {
    double cores = 0;
    double pace = 1; ///< of the slowest, relative to the kind that is listed first
};
Team team_of(const Machine& machine);
/// Cores of the kind that is listed first; the rates of caches are theirs.
double first_cores(const Machine& machine);

class View {
  public:
    View(const Machine& machine, const NetworkWork& network);

    const Machine& machine;
    const NetworkWork& network;
    bool streams; ///< one core or a few per inference, all cores busy with inferences of their own
    double
        cores;   ///< of one socket that inferences use: those of the first kind, or the team of one inference
    double used; ///< cores of one inference: `cores`, or with streams what the stack gives each, 1 or more
    double lanes;       ///< fp32 elements of one vector register
    double vector_fp32; ///< fp32 operations per cycle of one core
    double narrowing;   ///< part of a vector register that the stack's code uses
    double l2_bytes;    ///< private L2 of one core
    double llc_bytes;   ///< shared cache
    double wide_bytes;  ///< storage of vector operators in 8-bit networks; 0 = as the rest

    double param(Parameter p, double neutral) const { return machine.param(p, neutral); }
    /// Core cycles of `count` pieces of work at the stack's cost for each, shared out to cores; 0 where it
    /// states none.
    double cycles_of(Parameter cost, double count, double units) const {
        const double each = param(cost, 0);
        return each > 0 ? each * count / units * imbalance(count, units) : 0;
    }
    /// Lives as long as the view.
    const MultiplyUnit& unit(Precision precision, OpKind kind) const;
    /// Whether an operator of this network computes in floats between conversions from and to 8 bits.
    bool between_conversions(const OperatorUse& use) const;
    /// Whether an activation of an 8-bit network is read from a table of its 256 results.
    bool looked_up(const OperatorUse& use) const;
    /// Cores that run the stack's kernel called `type`: one where its 8-bit networks run it on one thread.
    double cores_for(std::string_view type) const;
    /// The same of an operator: of those, a sum of two 8-bit tensors gets threads by its elements.
    double cores_for(const OperatorUse& use) const;
    /// Slow-down when `blocks` equal pieces of work meet `used` cores.
    double imbalance(double blocks) const { return imbalance(blocks, used); }
    /// The same for other units than the cores.
    static double imbalance(double blocks, double units) {
        if (units <= 1)
            return 1;
        const double whole = std::max(1.0, std::ceil(blocks));
        return std::ceil(whole / units) * units / whole;
    }

    /// The bytes that one operator moves on the chip and to DRAM, in bytes of all cores together.
    struct Traffic {
        double input = 0;  ///< activations read, each byte once
        double output = 0; ///< written, with residuals read
        double weights = 0;
        double input_share = 1;  ///< part of the input that one core reads
        double output_share = 1; ///< part of the output that one core touches
        double weight_share = 1; ///< part of the weights that one core reads
    };
    void add_traffic(Mapping& out, const Traffic& traffic) const;
    /// Adds start and join of a parallel region and the cost of `kernels` kernels.
    void add_fork_join(Mapping& out, double kernels) const;

  private:
    void add_code(Mapping& out, double seconds, Parameter reason) const;
    struct KnownUnit {
        Precision precision;
        OpKind kind;
        MultiplyUnit unit;
    };
    MultiplyUnit make_unit(Precision precision, OpKind kind) const;
    double dram_bytes(double activations, double weights) const;

    double pace_ = 1; ///< of the slowest core of the team
    // Looked up so far; of one thread, as every view is.
    mutable std::vector<KnownUnit> units_;
    bool in_flash_ = false; ///< weights: of a microcontroller
    double outside_ = 0;    ///< share of the activations of a microcontroller that its own RAM does not hold
    double outside_rate_ = 0; ///< of the RAM beside it, relative to the flash
    mutable double weight_misses_ =
        -1; ///< share of the weights that come from DRAM; negative: not needed yet
};

void map_contraction(const View& view, const SubgraphWork& work, Mapping& out);
void map_vector(const View& view, const SubgraphWork& work, Mapping& out);
/// Core cycles of an operator outside contractions on all cores in use; 0 for copies.
double vector_cycles(const View& view, const OperatorUse& use, double blocks);
/// Core cycles on all cores in use that an operator of an 8-bit network spends on scaling: sums into 8-bit
/// results, 8-bit values into floats and back.
double conversion_cycles(const View& view, const OperatorUse& use);
/// Core cycles on all cores in use that the kernel of a product spends on its 8-bit results before it stores
/// them: sums into floats, scale and bias, bounds, rounding, narrowing.
double scaling_cycles(const View& view, const OperatorUse& use);
/// Core cycles for copying the taps of a convolution into columns (im2col): one copy for each row of taps,
/// output pixel and group.
double unfold_cycles(const View& view, const OperatorUse& use);
/// Core cycles for bringing images from the layout of convolutions to the plain one and back.
double relayout_cycles(const View& view, const SubgraphWork& work);
/// Core cycles of an 8-bit depthwise convolution that widens its values to 16 bits, spread over the cores; 0
/// where its channels fill vectors of 16, or the stack states no such kernel.
double widened_depthwise_cycles(const View& view, const OperatorUse& use);
/// Bytes of a product's 32-bit sums that pass through memory before they become 8-bit results.
double wide_sums(const View& view, const OperatorUse& use, const Contraction& product);
/// Independent heads of an attention tensor: all leading dimensions but the last two.
double head_count(const View& view, const OperatorUse& use);

void count_product(double macs, Precision precision, const MultiplyUnit& unit, EventCounts& events);
void count_vector(const View& view, double vector_ops, double special_ops, EventCounts& events);

} // namespace archsim::cpu
