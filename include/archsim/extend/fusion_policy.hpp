#pragma once
#include <array>
#include <string_view>

namespace archsim {

/// The joins that a software stack makes into one kernel. Data of the runtime, read from its JSON.
/// @code
/// FusionPolicy policy = FusionPolicy::unfused();
/// policy.batch_norm = policy.activation = true; // what a first compiler of one's own would join
/// Conditions conditions;
/// conditions.fusion = policy;
/// @endcode
struct FusionPolicy {
    bool batch_norm = true;         ///< scale and shift folded into the contraction before it
    bool activation = true;         ///< activation joins its producer
    bool gated_activation = true;   ///< SiLU, h-swish (x * gate(x)) join as one activation
    bool residual_add = true;       ///< one elementwise operator with a second tensor joins a contraction
    bool elementwise_chain = true;  ///< elementwise operators join each other
    bool attention = true;          ///< MatMul-Softmax-MatMul becomes one kernel that keeps scores on chip
    bool biased_attention = true;   ///< so does one that adds a bias of its own for each head to the scores
    bool concat_in_place = true;    ///< concatenation and split are address arithmetic
    bool normalization = true;      ///< the parts of a decomposed LayerNorm/GELU/softmax become one kernel
    bool reduction_prologue = true; ///< elementwise producers join a following reduction
    bool strided_products = true;   ///< batched products read operands wherever the items of a batch lie
    bool strided_views = false;     ///< kernels read transposed tensors and pieces of tensors in place
    /// Weights that callers may replace, being inputs of the graph too, fold and change layout as constants
    /// do.
    bool replaceable_weights = true;
    bool operator==(const FusionPolicy&) const = default; ///< equal in every choice

    /// Joins nothing: one kernel for every operator.
    static constexpr FusionPolicy unfused() {
        return {.batch_norm = false,
                .activation = false,
                .gated_activation = false,
                .residual_add = false,
                .elementwise_chain = false,
                .attention = false,
                .biased_attention = false,
                .concat_in_place = false,
                .normalization = false,
                .reduction_prologue = false,
                .strided_products = true,
                .strided_views = false};
    }
};

/// A choice by its key in files and questions: "residual_add".
struct FusionChoice {
    std::string_view name;
    bool FusionPolicy::*member;
};
inline constexpr std::array kFusionChoices = {
    FusionChoice{"batch_norm", &FusionPolicy::batch_norm},
    FusionChoice{"activation", &FusionPolicy::activation},
    FusionChoice{"gated_activation", &FusionPolicy::gated_activation},
    FusionChoice{"residual_add", &FusionPolicy::residual_add},
    FusionChoice{"elementwise_chain", &FusionPolicy::elementwise_chain},
    FusionChoice{"attention", &FusionPolicy::attention},
    FusionChoice{"biased_attention", &FusionPolicy::biased_attention},
    FusionChoice{"concat_in_place", &FusionPolicy::concat_in_place},
    FusionChoice{"normalization", &FusionPolicy::normalization},
    FusionChoice{"reduction_prologue", &FusionPolicy::reduction_prologue},
    FusionChoice{"strided_products", &FusionPolicy::strided_products},
    FusionChoice{"strided_views", &FusionPolicy::strided_views},
    FusionChoice{"replaceable_weights", &FusionPolicy::replaceable_weights}};
static_assert(sizeof(FusionPolicy) == kFusionChoices.size(), "a choice of FusionPolicy has no name");

} // namespace archsim
