#include "checkpoint/model_types.hpp"

#include "core/data_dir.hpp"
#include "core/json_document.hpp"
#include "core/text_file.hpp"

#include <vector>

namespace archsim::checkpoint {

const nlohmann::json& model_types() {
    static const nlohmann::json table = read_json(read_text_file(data_table("model_types.json"))).root.copy();
    return table;
}

NLOHMANN_JSON_SERIALIZE_ENUM(HeadNorm, {{HeadNorm::none, nullptr},
                                        {HeadNorm::per_head, "per_head"},
                                        {HeadNorm::whole, "whole"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Implied, type, norm, qkv_bias, output_bias, gated,
                                                always_gated, mlp_bias, tied, norms_after, sinks, expert_bias,
                                                float_router, shared_gate, output_gate, last_global,
                                                window_off, one_shared_expert, head_bias, halved_mlp,
                                                layer_norm, parallel, table_norm, sub_norms, paired_layers,
                                                window_period, first_windowed, positions, parallel_norms)

const Implied& implied_by(std::string_view model_type, bool& known) {
    static const Implied plain;
    static const auto rows = model_types().at("rows").get<std::vector<Implied>>();
    for (const Implied& row : rows)
        if (model_type.starts_with(row.type)) {
            known = true;
            return row;
        }
    known = false;
    return plain;
}

} // namespace archsim::checkpoint
