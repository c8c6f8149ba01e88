#pragma once
// hardware_db/model_types.json: what a model_type implies, what its class fills in, which fields change no
// size.

#include "checkpoint/decoder.hpp"

#include <nlohmann/json.hpp>

namespace archsim::checkpoint {

/// The table, read when it is first asked for.
const nlohmann::json& model_types();

/// Whether `holds` is true for any text of a list of the table.
inline bool any_name(const nlohmann::json& names, const auto& holds) {
    return std::ranges::any_of(
        names, [&](const nlohmann::json& name) { return holds(name.get_ref<const std::string&>()); });
}

/// Properties of an architecture that its configuration has no field for.
struct Implied {
    std::string type; ///< a prefix of the configuration's model_type
    HeadNorm norm = HeadNorm::none;
    bool qkv_bias = false, output_bias = false; ///< unless attention_bias says otherwise
    bool gated = true;                          ///< the MLP multiplies by a gate
    bool always_gated = false;                  ///< with whatever activation (BitNet: relu2)
    bool mlp_bias = false;
    bool tied = false;        ///< where tie_word_embeddings is absent
    bool norms_after = false; ///< both halves are normalised before they join the residual stream
    bool sinks = false;
    bool expert_bias = false;  ///< of experts and router
    bool float_router = false; ///< FeedForward::float_router, where no field says
    bool shared_gate = false;  ///< the shared expert is weighted by a learned gate
    bool output_gate = false;  ///< where attn_output_gate is absent
    int window_period = 0;     ///< every n-th layer sees everything, the others a window; 0: as stated
    bool last_global = false;  ///< the last layer sees everything, whatever is stated
    bool window_off = false;   ///< where use_sliding_window is absent
    int first_windowed = 0;    ///< where max_window_layers is absent
    bool one_shared_expert = false;
    int positions = -1;         ///< a learned row per position, and that many more; -1: none
    bool head_bias = false;     ///< where lm_head_bias is absent
    bool halved_mlp = false;    ///< intermediate_size counts gate and value together
    bool layer_norm = false;    ///< norms take the mean off and add a bias
    bool parallel = false;      ///< attention and MLP of a layer side by side, where no field says
    int parallel_norms = 1;     ///< norms before two halves side by side, where no field says
    bool table_norm = false;    ///< rows of the embedding are normalised
    bool sub_norms = false;     ///< a norm lies in front of both output projections (BitNet)
    bool paired_layers = false; ///< each layer is two of attention and a dense MLP (LongCat)
    bool token_shift = false;   ///< states and mixed neighbours instead of attention (RWKV-7)
};

/// The row of hardware_db/model_types.json for a model_type; the plain pre-norm decoder when none begins so.
/// `known` tells which.
const Implied& implied_by(std::string_view model_type, bool& known);

} // namespace archsim::checkpoint
