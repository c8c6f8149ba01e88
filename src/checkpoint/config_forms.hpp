#pragma once
// One form for what authors write in several: groups of fields, lists with a number per layer, fields that a
// file leaves to its class.

#include "archsim/core/finding.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace archsim::checkpoint {

/// Ending of the field that holds a number per layer where they differ; the plain field then holds the
/// largest.
inline constexpr std::string_view kPerLayer = "_of_layers";

/// The object that describes a decoder, in the form that the readers take: `attn_config`, `ffn_config` and
/// `ssm_cfg` dissolved, lists of one number per layer replaced by the number where all are equal, and the
/// defaults of the class of its model_type where the file leaves them out. A list that is none per layer
/// counts with its first number and leaves a finding naming `file`.
nlohmann::json in_one_form(const nlohmann::json& text, const std::string& file,
                           std::vector<Finding>& findings);

/// Fields of a vision tower that its class fills in.
nlohmann::json with_tower_defaults(const nlohmann::json& tower);

} // namespace archsim::checkpoint
