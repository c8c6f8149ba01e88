#pragma once
// hardware_db/model_types.json: what a model_type implies, what its class fills in, which fields change no
// size.

#include <nlohmann/json.hpp>

namespace archsim::checkpoint {

/// The table, read when it is first asked for.
const nlohmann::json& model_types();

} // namespace archsim::checkpoint
