#pragma once
#include "archsim/run/compare_models.hpp"
#include "web/question.hpp"

namespace archsim::web {

/// The comparison that compare_models makes of the question, with the model that is loaded already.
ModelComparison compare(const Session& session, const Question& question);

} // namespace archsim::web
