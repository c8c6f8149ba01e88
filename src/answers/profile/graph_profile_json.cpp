#include "answers/profile/graph_profile.hpp"
#include "fields/question_json.hpp"
#include "report/blocks/finding_text.hpp"
#include "report/render/answer_document.hpp"

#include <cmath>
#include <span>
#include <unordered_set>

namespace archsim {

namespace {

using JsonValue = nlohmann::ordered_json;

/// Counts are written without a fraction as long as a double holds them exactly.
JsonValue count_json(double value) {
    constexpr double kExact = 9007199254740992.0; // 2^53
    return std::abs(value) < kExact && value == std::floor(value)
               ? JsonValue(static_cast<std::int64_t>(value))
               : JsonValue(value);
}
JsonValue count_or_null(bool known, double value) {
    return known ? count_json(value) : JsonValue(nullptr);
}
const Shaped kCount = {[] { return JsonValue{{"type", "number"}}; }};
const Shaped kCountOrNull = {[] { return JsonValue{{"type", {"number", "null"}}}; }};

std::vector<std::string_view> tensor_names(const ShapedGraph& graph, std::span<const TensorId> ids) {
    std::vector<std::string_view> names;
    for (const TensorId id : ids)
        names.push_back(id == kNoTensor ? std::string_view() : graph.tensors[id].name);
    return names;
}

/// Null where an operator among them is not understood.
Members<ProfileSums> sum_members() {
    using S = ProfileSums;
    const auto sum = [](auto of) {
        return [of](const S& s) { return count_or_null(s.unknown <= 0, std::invoke(of, s)); };
    };
    return {{"macs", "multiply-accumulates; 1 = 2 operations", sum(&S::macs), kCountOrNull},
            {"operations", "useful operations", sum(&S::operations), kCountOrNull},
            {"parameters", "learned values", sum(&S::parameters), kCountOrNull},
            {"weight_bytes", "constants read", sum(&S::weight_bytes), kCountOrNull},
            {"activation_bytes", "other inputs read and outputs written", sum(&S::activation_bytes),
             kCountOrNull},
            {"operations_per_byte", "", sum(&S::intensity), kCountOrNull}};
}

struct ProfiledOperator {
    const ShapedGraph* graph = nullptr;
    const OperatorProfile* profile = nullptr;
};

Members<ProfiledOperator> profiled_operator_members() {
    using P = ProfiledOperator;
    return Members<P>{
        {"name", "", [](const P& p) { return p.profile->op->name; }},
        {"type", "", [](const P& p) { return p.profile->op->type; }},
        {"kind", "what hardware has to do", [](const P& p) { return name_of(p.profile->op->work.kind); }},
        {"precision", "that the file declares",
         [](const P& p) { return declared_format(*p.graph, *p.profile->op); }}}
        .with(sum_members().of<P>([](const P& p) { return p.profile->sums; }))
        .with({{"executions", "", [](const P& p) { return count_json(p.profile->op->repeat); }, kCount},
               {"inputs", "tensors; empty: left out",
                [](const P& p) { return tensor_names(*p.graph, p.profile->op->inputs); }},
               {"outputs", "tensors; empty: left out",
                [](const P& p) { return tensor_names(*p.graph, p.profile->op->outputs); }}});
}

Members<ModuleProfile> module_members() {
    using M = ModuleProfile;
    return Members<M>{{"name", "", &M::name},
                      {"depth", "0: the whole graph", &M::depth},
                      {"operators", "", [](const M& m) { return count_json(m.sums.operators); }, kCount}}
        .with(sum_members().of<M>([](const M& m) { return m.sums; }));
}

/// The first tensor of each name.
template <class Of>
auto by_tensor(const GraphProfile& profile, Of of) {
    std::vector<std::pair<std::string_view, decltype(of(profile.graph->tensors.front()))>> all;
    std::unordered_set<std::string_view> seen;
    for (const ShapedTensor& tensor : profile.graph->tensors)
        if (seen.insert(tensor.name).second)
            all.emplace_back(tensor.name, of(tensor));
    return all;
}

AnswerDocument<GraphProfile> profile_document(bool allow_unknown) {
    using P = GraphProfile;
    static constexpr std::string_view kAsked[] = {"batch_size", "dims", "inputs", "input_shapes"};
    const auto total = [allow_unknown](auto of) {
        return [=](const P& p) { return count_or_null(p.complete || allow_unknown, of(p)); };
    };
    const Members<P> totals = {
        {"macs", "multiply-accumulates; 1 = 2 operations", total([](const P& p) { return p.totals.macs; }),
         kCountOrNull},
        {"operations", "useful operations", total([](const P& p) { return p.totals.operations; }),
         kCountOrNull},
        {"parameters", "learned values", total([](const P& p) { return p.graph->parameters(); }),
         kCountOrNull},
        {"weight_bytes", "constants at their stored size",
         total([](const P& p) { return p.stored_weight_bytes; }), kCountOrNull},
        {"activation_bytes", "", total([](const P& p) { return p.totals.activation_bytes; }), kCountOrNull},
        {"operations_per_byte", "", total([](const P& p) { return p.totals.intensity(); }), kCountOrNull}};
    /// A share of the network; its sums are withheld with the totals.
    struct OfFormat {
        FormatShare share;
        bool shown = false;
    };
    struct OfWidth {
        WeightShare share;
        bool shown = false;
    };
    const auto formats = [allow_unknown](const P& p) {
        std::vector<OfFormat> list;
        for (const FormatShare& share : p.precisions)
            list.push_back({share, p.complete || allow_unknown});
        return list;
    };
    const auto widths = [allow_unknown](const P& p) {
        std::vector<OfWidth> list;
        for (const WeightShare& share : weight_mix(*p.graph))
            list.push_back({share, p.complete || allow_unknown});
        return list;
    };
    return {"profile_graph",
            "work, parameters and bytes of a model",
            {{"request", "what was asked", std::identity{},
              Members<P>{{"model", "", &P::name}}.with(question_members(kAsked).of<P>([](const P& p) {
                  return Question{p.asked, {}};
              }))},
             {"model", "", &P::name},
             {"status", "incomplete: an operator is not understood",
              [](const P& p) { return p.complete ? "ok" : "incomplete"; }, OneOf{{"ok", "incomplete"}}},
             {"dims", "sizes of symbolic dimensions", [](const P& p) { return p.graph->dims; }},
             {"totals", "null: they would miss a part", std::identity{}, totals},
             {"operators", "at run time, in topological order",
              [](const P& p) {
                  std::vector<ProfiledOperator> list;
                  for (const OperatorProfile& item : p.operators)
                      list.push_back({p.graph.get(), &item});
                  return list;
              },
              profiled_operator_members()},
             {"precisions", "work by the format that the file declares", formats,
              Members<OfFormat>{
                  {"precision", "", [](auto& f) { return f.share.format; }},
                  {"operators", "", [](auto& f) { return count_json(f.share.operators); }, kCount},
                  {"macs", "", [](auto& f) { return count_or_null(f.shown, f.share.macs); }, kCountOrNull},
                  {"operations", "", [](auto& f) { return count_or_null(f.shown, f.share.operations); },
                   kCountOrNull}}},
             {"weight_formats", "learned values by their stored width", widths,
              Members<OfWidth>{{"bits", "of a value", [](auto& w) { return w.share.bits; }},
                               {"parameters", "",
                                [](auto& w) { return count_or_null(w.shown, w.share.parameters); },
                                kCountOrNull}}},
             {"modules", "of the exporting framework, depth first", &P::modules, module_members()},
             {"tensors", "shapes; null: not known",
              [](const P& p) {
                  return by_tensor(p, [](const ShapedTensor& t) {
                      return t.known ? std::optional(std::span(t.shape)) : std::nullopt;
                  });
              }},
             {"tensor_types", "",
              [](const P& p) { return by_tensor(p, [](const ShapedTensor& t) { return name_of(t.type); }); }},
             {"data_dependent_tensors", "an upper bound stands in for a run-time shape",
              [](const P& p) {
                  std::vector<std::string_view> names;
                  for (const auto& [name, bound] :
                       by_tensor(p, [](const ShapedTensor& t) { return t.data_dependent; }))
                      if (bound)
                          names.push_back(name);
                  return names;
              }},
             {"findings", "", [](const P& p) { return p.graph->findings; }, finding_members()}}};
}

} // namespace

nlohmann::ordered_json profile_graph_schema() {
    return profile_document(false).schema();
}

std::string to_json(const GraphProfile& profile, const GraphProfileView& view) {
    return profile_document(view.allow_unknown).text(profile);
}

} // namespace archsim
