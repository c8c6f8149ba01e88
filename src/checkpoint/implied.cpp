#include "checkpoint/implied.hpp"

#include <array>

namespace archsim::checkpoint {

namespace {

// Read off the modules that transformers 5 builds for each (src/transformers/models/<model_type>); the first
// row whose name begins the model_type applies.
constexpr std::array kRows = {
    Implied{.model_type = "qwen2_moe", .qkv_bias = true, .shared_gate = true},
    Implied{.model_type = "qwen2", .qkv_bias = true},
    Implied{.model_type = "qwen3_next", .norm = HeadNorm::per_head, .shared_gate = true, .output_gate = true},
    Implied{.model_type = "qwen3_5", .norm = HeadNorm::per_head, .shared_gate = true, .output_gate = true},
    Implied{.model_type = "qwen3", .norm = HeadNorm::per_head},
    Implied{.model_type = "gemma2", .tied = true, .norms_after = true, .window_period = 2},
    Implied{.model_type = "gemma3",
            .norm = HeadNorm::per_head,
            .tied = true,
            .norms_after = true,
            .window_period = 6},
    Implied{.model_type = "gemma4", .norm = HeadNorm::per_head, .tied = true, .norms_after = true},
    Implied{.model_type = "gemma", .tied = true},
    Implied{.model_type = "gpt_oss", .output_bias = true, .sinks = true, .expert_bias = true},
    Implied{.model_type = "llama4", .one_shared_expert = true},
    Implied{.model_type = "llama"},
    Implied{.model_type = "minimax_m2", .norm = HeadNorm::whole},
    Implied{.model_type = "mixtral"},
    Implied{.model_type = "ministral3"},
    Implied{.model_type = "mistral"},
    Implied{.model_type = "deepseek"},
    Implied{.model_type = "kimi_k2"},
    Implied{.model_type = "kimi_k25"},
    Implied{.model_type = "nemotron-nas"},
    Implied{.model_type = "nemotron_h", .gated = false},
    Implied{.model_type = "nemotron", .gated = false},
    Implied{.model_type = "phi3"},
    Implied{.model_type = "phimoe", .qkv_bias = true, .output_bias = true},
    Implied{.model_type = "phi", .qkv_bias = true, .output_bias = true, .gated = false, .mlp_bias = true},
    Implied{.model_type = "starcoder2",
            .qkv_bias = true,
            .output_bias = true,
            .gated = false,
            .mlp_bias = true,
            .tied = true},
    Implied{.model_type = "falcon", .gated = false, .tied = true},
    Implied{.model_type = "glm4_moe_lite"},
    Implied{.model_type = "glm_moe_dsa"},
    Implied{.model_type = "glm4_moe"},
    Implied{.model_type = "glm4", .norms_after = true},
    Implied{.model_type = "olmo2", .norm = HeadNorm::whole},
    Implied{.model_type = "olmo3", .norm = HeadNorm::whole},
    Implied{.model_type = "olmoe", .norm = HeadNorm::whole},
    Implied{.model_type = "olmo"},
    Implied{.model_type = "exaone4", .norm = HeadNorm::per_head},
    Implied{.model_type = "seed_oss", .qkv_bias = true},
    Implied{.model_type = "cohere", .tied = true},
    Implied{.model_type = "granitemoehybrid"},
    Implied{.model_type = "granitemoe"},
    Implied{.model_type = "granite"},
    Implied{.model_type = "smollm3", .tied = true},
    Implied{.model_type = "internlm"},
    Implied{.model_type = "yi"},
    Implied{.model_type = "bamba"},
    Implied{.model_type = "hunyuan", .norm = HeadNorm::per_head},
    Implied{.model_type = "ernie4_5"},
    Implied{.model_type = "stablelm"},
    Implied{.model_type = "persimmon", .gated = false},
};
constexpr Implied kPlain{.model_type = ""};

} // namespace

const Implied& implied_by(std::string_view model_type, bool& known) {
    for (const Implied& row : kRows)
        if (model_type.starts_with(row.model_type)) {
            known = true;
            return row;
        }
    known = false;
    return kPlain;
}

} // namespace archsim::checkpoint
