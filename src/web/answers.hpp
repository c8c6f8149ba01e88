#pragma once
// One function per kind of question. Each gets the question with its model loaded.

#include "archsim/run/compare_models.hpp"
#include "archsim/run/session.hpp"
#include "report/render/renderers.hpp"
#include "web/question.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace archsim::web {

using Json = nlohmann::ordered_json;

Json answer_catalogue(const Session& session, const Question& question);
Json answer_files(const Session& session, const Question& question);
Json answer_model(const Session& session, const Question& question);
Json answer_rank(const Session& session, const Question& question);
Json answer_device(const Session& session, const Question& question);
Json answer_explain(const Session& session, const Question& question);
Json answer_trace(const Session& session, const Question& question);
Json answer_change(const Session& session, const Question& question);
Json answer_serve(const Session& session, const Question& question);
Json answer_size(const Session& session, const Question& question);
Json answer_cost(const Session& session, const Question& question);
Json answer_export(const Session& session, const Question& question);

/// The comparison that compare_models makes of the question, with the model that is loaded already.
ModelComparison compare(const Session& session, const Question& question);

/// [{"title": "Energy", "html": "..."}, ...]: a section per heading of level 1 or 2, in order. `name` begins
/// the identifiers of its tables.
Json sections(const Report& report, const std::string& name);

} // namespace archsim::web
