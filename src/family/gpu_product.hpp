#pragma once
// Shared by convolutions and matrix products: the counts of one product, how weights lie in memory, and what
// groups of channels do to a convolution.

#include "family/gpu_view.hpp"

#include <cmath>

namespace archsim::gpu {

/// Counts of one product, summed over the contractions of a subgraph.
struct Product {
    MultiplyEngine engine;
    Precision multiplied = Precision::fp32;
    TileChoice tile;
    double cycles = 0; ///< padded, with waves; efficiency not applied
    double efficiency = 1;
    double extra_cycles = 0;
    double vector_ops = 0;  ///< of transforms
    double conversions = 0; ///< of weights, an instruction of a lane each
    double l2_bytes = 0;
    double units_used = 0;
    double macs = 0; ///< multiplied
    double workspace_bytes = 0;
    double copied = 0;          ///< channels of pixels that kernels before and after it copy
    double copy_operations = 0; ///< of the lanes in these
    double copy_cycles = 0;     ///< that they take
    double kernels = 0;         ///< beside its own
    Parameter reason = Parameter::count_;
    const char* scheme = "";

    /// This subgraph's part of a kernel that it shares with others.
    void take_share(double share) {
        for (double* count : {&cycles, &extra_cycles, &vector_ops, &conversions, &l2_bytes, &macs,
                              &tile.padded_macs, &workspace_bytes})
            *count *= share;
    }
    double time() const { return cycles / efficiency + extra_cycles + copy_cycles; }
};

/// `x`, or the next multiple of `step`.
inline double round_up(double x, double step) {
    return std::ceil(x / step) * step;
}

// Weights
// ------------------------------------------------------------------------------------------------

/// Weights alone are stored in a narrower format than what is multiplied with them.
bool has_packed_weights(const View& view, const SubgraphWork& work);

/// Stacks that quantise activations on the way multiply them with integer weights in 8 bits, where enough
/// rows share the cost (OpenVINO blog, Dynamic quantization support from GPU with XMX, 2025).
Precision multiplied_in(const View& view, const SubgraphWork& work, const Contraction& c);

/// Several layers of weights in one operator: experts of a mixture.
bool has_experts(const SubgraphWork& work);
/// The sizes that kernels for experts in 4 bits multiply and read: the inner width and that of what they are
/// given, as multiples of Parameter::packed_expert_inner_step and
/// packed_expert_outer_step. Worked: 2880 x 360 weights,
/// of which one of eight devices has a part, are 3072 x 512 with 256 for both.
Contraction padded_expert(const View& view, const SubgraphWork& work, Contraction c);

/// Rows that pass one layer of weights: of experts all tokens, which an expert has a part of.
double rows_of(const View& view, const SubgraphWork& work, double most);

/// Passes over the weights that so many rows take.
double passes_over(const View& view, double rows);

/// Bytes of packed weights that the stack expands before a product of that many rows; 0 when it unpacks them
/// on the fly.
double expanded_weights(const View& view, const SubgraphWork& work, double rows);

/// Weight bytes that cross the memory interface: expanded weights are written once and read again.
double weight_traffic(const View& view, const SubgraphWork& work, double rows, double expanded);

// Groups of channels
// ------------------------------------------------------------------------------------------------

/// Channels of pixels that a grouped convolution writes for each that it has: more than 1 where its images
/// are widened, group by group, to what a kernel is made for. 24 channels a group are copied to 32: 1.33.
double group_widening(const View& view, const SubgraphWork& work, bool matrix);

/// Channels of the pixels that a grouped convolution reads and writes.
double image_elements(const Window& w);

/// Shape and engine of the tiles of a convolution with several groups, and the copies before and after it.
void take_groups(const View& view, const SubgraphWork& work, GemmShape& shape, GemmEngine& engine,
                 Product& p);

/// A grouped convolution of images that lie channels last, group after group: one kernel cuts a group's
/// channels out, one multiplies, one puts the result back.
Product sliced(const View& view, const SubgraphWork& work, const Contraction& c);

/// Kernels that copy the channels of groups: see View::longer_of.
View::Copies group_copies(const View& view, const SubgraphWork& work, const Product& p, Mapping& out);

} // namespace archsim::gpu
