#pragma once
// JSON of models and results, shared by the documents of all tools. Numbers that do not exist are null.

#include "archsim/compare/ranking.hpp"

#include <nlohmann/json.hpp>

namespace archsim {

nlohmann::ordered_json model_json(const ModelFacts& model, const Partition* partition);
/// One row of "results"; `place` is 0 when the result has no rank.
nlohmann::ordered_json result_json(const Result& result, double batch_size, int place);

} // namespace archsim
