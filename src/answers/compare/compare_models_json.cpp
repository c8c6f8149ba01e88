#include "answers/compare/compare_models_report.hpp"

#include "core/lists.hpp"
#include "fields/question_json.hpp"
#include "report/blocks/ranking_table.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/verdict.hpp"
#include "report/render/answer_document.hpp"
#include "result/cost_terms.hpp"

namespace archsim {

/// One model of a comparison.
struct ComparedModel {
    const ModelFacts* facts = nullptr;
    const Partition* partition = nullptr; ///< of the first result that has one
    LabelledDecision decision;
    VerdictRecord verdict;
    std::vector<std::string> next;
    std::vector<RankedResult> rows;
};

struct ComparedModels {
    const ModelComparison* all = nullptr;
    std::vector<Decision> decisions;
    std::vector<ComparedModel> models;
    /// Whether there was something to decide, a rate among others.
    bool decided() const { return !decisions.empty() && decisions.front().request.active(); }
};

static ComparedModels compared(const ModelComparison& c, const CompareModelsView& view) {
    ComparedModels all{&c, {}, {}};
    for (std::size_t m = 0; m < c.models.size(); ++m)
        all.decisions.push_back(decide(results_of(c, m), c.request.decision));
    for (std::size_t m = 0; m < c.models.size(); ++m) {
        const auto results = results_of(c, m);
        const Metric& by = order_of(c, results, view);
        const Decision& decided = all.decisions[m];
        ComparedModel one{.facts = c.models[m].get(),
                          .partition = nullptr,
                          .decision = {&decided, hardware_labels(results)},
                          .verdict = verdict_of(c, m, view),
                          .next = next_commands(c, m, by, view.explanations.conditions),
                          .rows = ranked({results, static_cast<double>(c.request.workload.batch), &by},
                                         view.metric_view())};
        for (const Result& r : results)
            if (one.partition == nullptr && r.partition)
                one.partition = r.partition.get();
        all.models.push_back(std::move(one));
    }
    return all;
}

static Members<ModelComparison> comparison_request_members() {
    using C = ModelComparison;
    using Json = nlohmann::ordered_json;
    const Members<C> question = question_members().of<C>([](const C& c) { return asked_question(c); });
    const auto asked = [](const C& c, const char* key) {
        const QuestionField& field = question_field(key);
        return field_json(field.kind, field.print(asked_question(c)));
    };
    const auto described = [](const char* key) { return question_field(key).help; };
    return Members<C>{{"models", "", [](const C& c) { return c.request.models; }},
                      {"deployment", "named set of devices; null: they were named",
                       [](const C& c) { return nonempty(c.request.deployment); }},
                      {"hardware", "", [](const C& c) { return c.request.hardware; }},
                      {"runtimes", "software stacks, each in turn; empty: that of \"runtime\"",
                       [](const C& c) {
                           return c.request.stacks.size() > 1 ? c.request.stacks : std::vector<std::string>{};
                       }}}
        .with(question)
        .with({{"devices", described("devices"),
                [=](const C& c) {
                    return c.request.device_counts.size() > 1 ? Json(c.request.device_counts)
                                                              : asked(c, "devices");
                },
                Shaped{[] {
                    return Json{{"type", {"integer", "string", "null", "array"}},
                                {"items", {{"type", "number"}}}};
                }}},
               {"runtime", described("runtime"),
                [=](const C& c) {
                    const auto& stacks = c.request.stacks;
                    return stacks.size() == 1 ? Json(stacks.front())
                           : stacks.empty()   ? asked(c, "runtime")
                                              : Json(nullptr);
                },
                Shaped{[] { return field_schema(FieldKind::text, {}); }}},
               {"precision", described("precision"),
                [=](const C& c) {
                    return c.request.precisions.size() > 1 ? Json(c.request.precisions)
                                                           : asked(c, "precision");
                },
                Shaped{[] {
                    return Json{{"type", {"string", "null", "array"}}, {"items", {{"type", "string"}}}};
                }}}})
        .with(limit_members().of<C>([](const C& c) { return c.request.decision; }));
}

static AnswerDocument comparison_document(const ComparedModels& compared, const CompareModelsView& view) {
    using A = ComparedModels;
    using M = ComparedModel;
    const Members<M> name = {{"model", "", [](const M& m) { return m.facts->name; }}};
    const auto results = [](const A& a) {
        std::vector<RankedResult> rows;
        for (const M& model : a.models)
            append(rows, model.rows);
        return rows;
    };
    return {
        compared, "compare_models", "models on devices, ranked",
        Members<A>{
            {"request", "what was asked", [](const A& a) { return *a.all; }, comparison_request_members()},
            {"verdicts", "the answer in a few lines, for each model", &A::models,
             name.with(verdict_members().of<M>([](const M& m) { return m.verdict; }))
                 .with({{"next", "commands that take the answer further", &M::next}})},
            {"decisions", "for each model; null: no limit and no choice was asked for",
             [](const A& a) { return a.decided() ? &a.models : nullptr; },
             name.with(decision_members().of<M>([](const M& m) { return m.decision; }))},
            {"models", "", &A::models, model_members().of<M>([](const M& m) {
                 return KnownModel{m.facts, m.partition};
             })},
            {"results", "model by model, best first", results, result_members(view.metric_view())},
            {"percentiles", "with --percentiles or --rate: percentiles of every latency that was estimated",
             [percentiles = view.percentiles](const A& a) {
                 return Sometimes<std::vector<ShownPercentiles>>{
                     percentiles ? std::optional(shown_percentiles(a.all->results, *percentiles))
                                 : std::nullopt};
             },
             percentile_members()},
            {"duty_cycle", "with --every, --fps or --with: at work now and then, or for several networks",
             [slices = view.slices, boundary = view.explanations.conditions.power_at](const A& a) {
                 return Sometimes<std::vector<DutyCycle>>{
                     a.all->request.conditions.duty.stated()
                         ? std::optional(duty_cycles(a.all->results, slices, boundary))
                         : std::nullopt};
             },
             duty_members()}}
            .with(explanation_members().of<A>([explanations = view.explanations](const A& a) {
                return Explained{a.all->results, explanations};
            }))};
}

nlohmann::ordered_json compare_models_schema() {
    return comparison_document({}, {}).schema();
}

std::string to_json(const ModelComparison& c, const CompareModelsView& given) {
    CompareModelsView view = given;
    view.explanations.conditions = on_one_basis(c.results, view.explanations.conditions);
    return comparison_document(compared(c, view), view).text();
}

} // namespace archsim
