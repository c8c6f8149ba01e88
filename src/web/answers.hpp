#pragma once
// The questions of the page, one function per kind. Each gets the question with its model loaded.

#include "answers/sizing/sizing_fields.hpp"
#include "archsim/compare/cost.hpp"
#include "archsim/compare/decisions.hpp"
#include "archsim/run/compare_models.hpp"
#include "archsim/run/serve.hpp"
#include "archsim/run/session.hpp"
#include "fields/question.hpp"
#include "fields/serving_fields.hpp"
#include "report/render/renderers.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace archsim::web {

/// {"ask": "rank", "model": "resnet50", "hardware": ["H100"], "precision": "fp16"}. What can be asked: these,
/// and the fields of a question by their keys (archsim/ask/question.hpp). Every key but "ask" may be left
/// out, and a key of another name is an error.
struct Question {
    std::string ask;                   ///< see Desk::answer
    std::string model;                 ///< catalogue name or path
    std::vector<std::string> hardware; ///< empty: the deployment, or every device
    std::string deployment;
    QuestionTexts texts{Spelling::key}; ///< of what is asked of each device, which makes:
    Workload workload;                  ///< its model is filled in by who answers
    Conditions conditions;
    DecisionRequest limits;                  ///< "limits": {"latency": "50ms"}
    const Metric* metric = &metric::latency; ///< of "explain"
    const Metric* sort = nullptr;            ///< what ranks; null: what the scenario asks for

    /// The metric that ranks the devices.
    const Metric& ranked() const { return sort != nullptr ? *sort : ranked_by(conditions); }
    std::string format = "json";      ///< of "export": json, csv, html, markdown, text
    std::string date = {};            ///< of "export": the day, as the foot of a report shows it
    bool charts = false;              ///< of "rank" and "export"
    ServingTexts load{Spelling::key}; ///< "load": {"rate": 4, "prompt_tokens": "2k"}, of "serve" and "size"
    /// "level": {"ttft_p99": "500ms"}, of the same; of "size" also {"users": 200, "confidence": 0.95}.
    SizingTexts level{Spelling::key};
    CostOptions costs; ///< "costs": {"years": 3}, of "cost" and "size"
};

/// A field of "costs", for a form.
struct FormField {
    std::string_view key, help;
    std::string usual; ///< what is taken without it; empty: nothing
};
std::vector<FormField> cost_fields();

/// Throws UsageError that names the key.
Question read_question(std::string_view json);

using Json = nlohmann::ordered_json;

Json answer_catalogue(const Session& session, const Question& question);
Json answer_names(const Session& session, const Question& question);
Json answer_files(const Session& session, const Question& question);
Json answer_model(const Session& session, const Question& question);
Json answer_rank(const Session& session, const Question& question);
Json answer_device(const Session& session, const Question& question);
Json answer_explain(const Session& session, const Question& question);
Json answer_trace(const Session& session, const Question& question);
Json answer_local(const Session& session, const Question& question);
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
