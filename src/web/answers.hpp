#pragma once
// One function per kind of question. Each gets the question with its model loaded.

#include "archsim/run/session.hpp"
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
Json answer_change(const Session& session, const Question& question);
Json answer_serve(const Session& session, const Question& question);
Json answer_size(const Session& session, const Question& question);
Json answer_cost(const Session& session, const Question& question);
Json answer_export(const Session& session, const Question& question);

} // namespace archsim::web
