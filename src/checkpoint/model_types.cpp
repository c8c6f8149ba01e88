#include "checkpoint/model_types.hpp"

#include "core/data_dir.hpp"
#include "core/json_document.hpp"
#include "core/text_file.hpp"

#include <array>
#include <utility>
#include <vector>

namespace archsim::checkpoint {

const nlohmann::json& model_types() {
    static const nlohmann::json table = read_json(read_text_file(data_table("model_types.json"))).root.copy();
    return table;
}

namespace {

using nlohmann::json;

constexpr std::array<std::pair<const char*, bool Implied::*>, 22> kFlags{
    {{"qkv_bias", &Implied::qkv_bias},
     {"output_bias", &Implied::output_bias},
     {"gated", &Implied::gated},
     {"always_gated", &Implied::always_gated},
     {"mlp_bias", &Implied::mlp_bias},
     {"tied", &Implied::tied},
     {"norms_after", &Implied::norms_after},
     {"sinks", &Implied::sinks},
     {"expert_bias", &Implied::expert_bias},
     {"float_router", &Implied::float_router},
     {"shared_gate", &Implied::shared_gate},
     {"output_gate", &Implied::output_gate},
     {"last_global", &Implied::last_global},
     {"window_off", &Implied::window_off},
     {"one_shared_expert", &Implied::one_shared_expert},
     {"head_bias", &Implied::head_bias},
     {"halved_mlp", &Implied::halved_mlp},
     {"layer_norm", &Implied::layer_norm},
     {"parallel", &Implied::parallel},
     {"table_norm", &Implied::table_norm},
     {"sub_norms", &Implied::sub_norms},
     {"paired_layers", &Implied::paired_layers}}};
constexpr std::array<std::pair<const char*, int Implied::*>, 4> kCounts{
    {{"window_period", &Implied::window_period},
     {"first_windowed", &Implied::first_windowed},
     {"positions", &Implied::positions},
     {"parallel_norms", &Implied::parallel_norms}}};

Implied read_row(const json& row) {
    Implied implied;
    implied.model_type = row.at("type").get<std::string>();
    const auto norm = row.value("norm", std::string());
    implied.norm = norm == "per_head" ? HeadNorm::per_head
                   : norm == "whole"  ? HeadNorm::whole
                                      : HeadNorm::none;
    for (const auto& [key, member] : kFlags)
        implied.*member = row.value(key, implied.*member);
    for (const auto& [key, member] : kCounts)
        implied.*member = row.value(key, implied.*member);
    return implied;
}

} // namespace

const Implied& implied_by(std::string_view model_type, bool& known) {
    static const Implied plain;
    static const std::vector<Implied> rows = [] {
        std::vector<Implied> read;
        for (const json& row : model_types().at("rows"))
            read.push_back(read_row(row));
        return read;
    }();
    for (const Implied& row : rows)
        if (model_type.starts_with(row.model_type)) {
            known = true;
            return row;
        }
    known = false;
    return plain;
}

} // namespace archsim::checkpoint
