// The profile of a graph as report blocks: facts, a table by type, the module tree, the largest operators.

#include "answers/profile/graph_profile.hpp"

#include "core/lists.hpp"
#include "fields/question_json.hpp"
#include "ops/given_values.hpp"
#include "ops/uncounted.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/finding_text.hpp"
#include "report/blocks/shape_text.hpp"

#include <algorithm>
#include <fmt/ranges.h>
#include <unordered_set>

namespace archsim {

/// The count of a row; unknown where nothing is known, a bound where a part is.
template <class Row, class Sums>
static std::vector<ColumnOf<Row>> sum_columns(Sums sums_of) {
    const auto sum = [sums_of](auto of, std::string (*text)(double)) {
        return [=](const Row& row) {
            const ProfileSums& sums = sums_of(row);
            const double value = std::invoke(of, sums);
            if (sums.unknown == 0)
                return Cell{text(value), value};
            return value == 0 || sums.unknown == sums.operators ? Cell{} : bound_cell(text(value), value);
        };
    };
    return {{least_best("MACs", "", "macs"), sum(&ProfileSums::macs, format_count)},
            {least_best("Operations", "", "operations"), sum(&ProfileSums::operations, format_count)},
            {least_best("Parameters", "", "parameters", 1), sum(&ProfileSums::parameters, format_count)},
            {least_best("Weights", "read", "weight_bytes", 3), sum(&ProfileSums::weight_bytes, format_bytes)},
            {least_best("Activations", "read + written", "activation_bytes", 2),
             sum(&ProfileSums::activation_bytes, format_bytes)},
            {most_best("Intensity", "ops/byte", "operations_per_byte", 1), 1, [sums_of](const Row& row) {
                 return known(sums_of(row).unknown == 0, sums_of(row).intensity());
             }}};
}

template <class Row, class Sums, class Rows>
static Table table_with_sums(std::string title, std::vector<ColumnOf<Row>> columns, Sums sums_of,
                             const Rows& rows) {
    append(columns, sum_columns<Row>(sums_of));
    return table_of(std::move(title), columns, rows);
}

static Table type_table(const GraphProfile& profile) {
    using T = TypeProfile;
    const ProfileSums& all = profile.totals;
    return table_with_sums<T>(
        "By operator type",
        {{{"Type", "", "type"}, &T::type},
         {most_best("Count", "", "count"), [](const T& t) { return count_cell(true, t.sums.operators); }},
         {most_best("Share", "of ops", "share", 1),
          [&](const T& t) {
              return all.unknown > 0
                         ? Cell{}
                         : share_cell(all.operations > 0 ? t.sums.operations / all.operations : 0);
          }}},
        [](const T& t) -> const ProfileSums& { return t.sums; }, profile.types);
}

static Table module_table(const GraphProfile& profile, int depth) {
    using M = ModuleProfile;
    const auto shown = kept(profile.modules, [&](const M& module) { return module.depth <= depth; });
    return table_with_sums<M>(
        "By module",
        {{{"Module", "", "module"},
          [](const M& m) { return std::string(2 * static_cast<std::size_t>(m.depth), ' ') + m.name; }},
         {most_best("Operators", "", "operators", 2),
          [](const M& m) { return count_cell(true, m.sums.operators); }}},
        [](const M& m) -> const ProfileSums& { return m.sums; }, shown);
}

static double key_of(const ProfileSums& sums, ProfileOrder order) {
    // As ProfileOrder has them; in the order of the graph all are alike, and it stays.
    const std::array keys = {sums.operations, sums.macs,        sums.bytes(),
                             sums.parameters, sums.intensity(), 0.0};
    return keys[static_cast<std::size_t>(order)];
}

/// Operators whose names differ in numbers alone, of one type and shape.
struct OperatorGroup {
    std::vector<std::string> names;
    const OperatorProfile* first;
    ProfileSums sums;
};

/// Each of its own where they are not to stand `together`.
static std::vector<OperatorGroup> operator_groups(const GraphProfile& profile, bool together) {
    std::vector<OperatorGroup> groups;
    std::map<std::string, std::size_t> known;
    for (const OperatorProfile& item : profile.operators) {
        const std::string key =
            !together ? std::string()
                      : fmt::format("{} {} {} {} {}", item.op->type, name_shape(item.op->name),
                                    item.sums.operations, item.sums.bytes(), item.sums.parameters);
        const auto [at, fresh] = known.try_emplace(key, groups.size());
        if (fresh || !together) {
            at->second = groups.size();
            groups.push_back({{}, &item, {}});
        }
        groups[at->second].names.push_back(item.op->name);
        groups[at->second].sums += item.sums;
    }
    return groups;
}

static Table operator_table(const GraphProfile& profile, const GraphProfileView& view) {
    const bool together = view.top > 0 && view.order != ProfileOrder::graph;
    std::vector<OperatorGroup> groups = operator_groups(profile, together);
    std::ranges::stable_sort(groups, [&](const OperatorGroup& a, const OperatorGroup& b) {
        return key_of(a.sums, view.order) > key_of(b.sums, view.order);
    });
    std::string title = view.order == ProfileOrder::graph
                            ? std::string("Operators")
                            : fmt::format("Operators by {}", name_of(view.order));
    if (const auto top = static_cast<std::size_t>(std::max(0, view.top)); top > 0 && top < groups.size()) {
        title += fmt::format(", the first {} of {}{}", top, groups.size(), together ? " kinds" : "");
        groups.erase(groups.begin() + view.top, groups.end());
    }
    using G = OperatorGroup;
    return table_with_sums<G>(
        std::move(title),
        {{{"Operator", "", "name"},
          [](const G& g) {
              return g.names.size() == 1 ? g.first->op->name
                                         : fmt::format("{} x {}", g.names.size(), common_name(g.names));
          }},
         {{"Type", "", "type"}, [](const G& g) { return g.first->op->type; }},
         {{"Inputs", "", "inputs", Align::left, 2},
          [&](const G& g) {
              return text_cell(shapes_text(*profile.graph, activations_of(*profile.graph, *g.first->op)));
          }},
         {{"Outputs", "", "outputs", Align::left, 1},
          [&](const G& g) { return text_cell(shapes_text(*profile.graph, g.first->op->outputs)); }}},
        [](const G& g) -> const ProfileSums& { return g.sums; }, groups);
}

static Table tensor_table(const ShapedGraph& graph) {
    using T = ShapedTensor;
    Table table = table_of<T>(
        "Tensors",
        {{{"Tensor", "", "tensor"}, &T::name},
         {{"Type", "", "type"}, [](const T& t) { return name_of(t.type); }},
         {{"Shape", "", "shape"}, [](const T& t) { return shape_text(t) + (t.data_dependent ? " *" : ""); }},
         {{"Role", "", "role", Align::left, 1},
          [](const T& t) {
              return t.role == TensorRole::input         ? "input"
                     : t.role == TensorRole::initializer ? "initializer"
                     : t.constant                        ? "constant"
                                                         : "computed";
          }},
         {least_best("Size", "", "bytes", 1),
          [](const T& t) {
              const double bytes = t.elements() * t.stored_bits() / 8;
              return t.known ? Cell{format_bytes(bytes), bytes} : Cell{};
          }}},
        graph.tensors);
    if (std::ranges::any_of(graph.tensors, &T::data_dependent))
        table.notes.push_back("* depends on data at run time: an upper bound, or the size given with --dim");
    return table;
}

/// Whether nothing but sizes is missing, of which no weight depends.
static bool weights_known(const GraphProfile& profile) {
    return std::ranges::all_of(profile.graph->findings, [](const Finding& finding) {
        return finding.severity != Severity::error || finding.kind == FindingKind::unresolved_dimension;
    });
}

static Facts summary(const GraphProfile& profile, bool totals_known) {
    Facts facts;
    const auto add = [&](const char* name, std::string value) { facts.add(name, std::move(value)); };
    if (std::string dims = sizes_text(profile.graph->dims); !dims.empty())
        add("Sizes", std::move(dims));
    add("Operators", fmt::format("{} at run time, {} folded", profile.operators.size(),
                                 profile.graph->operators.size() - profile.operators.size()));
    const ProfileSums& totals = profile.totals;
    if (!profile.precisions.empty())
        add("Precision", precision_text(profile.precisions));
    const bool weights = weights_known(profile);
    const std::string mark = profile.complete ? "" : " (incomplete)";
    if (totals_known || weights) {
        add("Parameters", format_count(profile.graph->parameters()) + (weights ? "" : mark));
        const std::string widths = weight_text(weight_mix(*profile.graph));
        add("Weights", format_bytes(profile.stored_weight_bytes) +
                           (widths.empty() ? "" : " (" + widths + ")") + (weights ? "" : mark));
    }
    if (!totals_known) {
        add("Work", weights ? "unknown until all sizes are given"
                            : "withheld: a part of the model is not understood (see the findings)");
        return facts;
    }
    add("Multiply-accumulates", fmt::format("{} ({} operations){}", format_count(totals.macs),
                                            format_count(totals.operations), mark));
    add("Activation traffic", format_bytes(totals.activation_bytes) + " unfused" + mark);
    add("Arithmetic intensity", format_number(totals.intensity()) + " operations per byte" + mark);
    return facts;
}

/// Size and work in a line, and the operator that does most of it.
static Takeaway profile_takeaway(const GraphProfile& profile, bool totals_known) {
    if (const auto sizes = sizes_wanted(profile.graph->findings);
        !totals_known && !sizes.empty() && weights_known(profile))
        return {{fmt::format("{}: {} parameters; the rest needs {}, for example {}.", profile.name,
                             format_count(profile.graph->parameters()),
                             sizes.size() == 1 ? "a size" : "sizes", fmt::join(sizes, " "))}};
    const auto& found = profile.graph->findings;
    if (const auto first = std::ranges::find(found, Severity::error, &Finding::severity); !totals_known)
        return {{fmt::format("{}: a part of the model is not understood{}.", profile.name,
                             first == found.end() ? "" : ": " + first->message),
                 fmt::format("Of it {}.", uncounted_text(*profile.graph))}};
    const ProfileSums& totals = profile.totals;
    Takeaway takeaway{
        {fmt::format("{}: {} multiply-accumulates, {} parameters in {}, {} operators.", profile.name,
                     format_count(totals.macs), format_count(profile.graph->parameters()),
                     format_bytes(profile.stored_weight_bytes), profile.operators.size())}};
    if (!profile.complete)
        takeaway.lines.insert(takeaway.lines.begin(),
                              fmt::format("Incomplete: {}.", uncounted_text(*profile.graph)));
    const auto most = std::ranges::max_element(profile.types, {},
                                               [](const TypeProfile& type) { return type.sums.operations; });
    if (most != profile.types.end() && totals.operations > 0)
        takeaway.lines.push_back(fmt::format(
            "{} does {} of the operations; {} operations per byte unfused.", most->type,
            format_percent(most->sums.operations / totals.operations), format_number(totals.intensity())));
    return takeaway;
}

static Bullets finding_list(const std::vector<Finding>& findings) {
    Bullets bullets;
    for (const FindingLine& line : finding_lines(findings))
        bullets.items.push_back(fmt::format("{}: {}", name_of(line.severity), line.text));
    return bullets;
}

using JsonValue = nlohmann::ordered_json;

/// Counts are written without a fraction as long as a double holds them exactly.
static JsonValue count_json(double value) {
    constexpr double kExact = 9007199254740992.0; // 2^53
    return std::abs(value) < kExact && value == std::floor(value)
               ? JsonValue(static_cast<std::int64_t>(value))
               : JsonValue(value);
}
static JsonValue count_or_null(bool known, double value) {
    return known ? count_json(value) : JsonValue(nullptr);
}
const Shaped kCount = {[] { return JsonValue{{"type", "number"}}; }};
const Shaped kCountOrNull = {[] { return JsonValue{{"type", {"number", "null"}}}; }};

static std::vector<std::string_view> tensor_names(const ShapedGraph& graph, std::span<const TensorId> ids) {
    return mapped(ids, [&](const TensorId id) {
        return id == kNoTensor ? std::string_view() : graph.tensors[id].name;
    });
}

/// Null where an operator among them is not understood.
static Members<ProfileSums> sum_members() {
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

static Members<ProfiledOperator> profiled_operator_members() {
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

static Members<ModuleProfile> module_members() {
    using M = ModuleProfile;
    return Members<M>{{"name", "", &M::name},
                      {"depth", "0: the whole graph", &M::depth},
                      {"operators", "", [](const M& m) { return count_json(m.sums.operators); }, kCount}}
        .with(sum_members().of<M>([](const M& m) { return m.sums; }));
}

/// The first tensor of each name.
template <class Of>
static auto by_tensor(const GraphProfile& profile, Of of) {
    std::vector<std::pair<std::string_view, decltype(of(profile.graph->tensors.front()))>> all;
    std::unordered_set<std::string_view> seen;
    for (const ShapedTensor& tensor : profile.graph->tensors)
        if (seen.insert(tensor.name).second)
            all.emplace_back(tensor.name, of(tensor));
    return all;
}

/// A share of the network; its sums are withheld with the totals.
template <class Share>
struct ShownShare {
    Share share;
    bool shown = false;
};

template <class Share>
static std::vector<ShownShare<Share>> shown_shares(const std::vector<Share>& shares,
                                                   const GraphProfile& profile, bool allow_unknown) {
    return mapped(shares, [&](const Share& share) {
        return ShownShare<Share>{share, profile.complete || allow_unknown};
    });
}

Report describe(const GraphProfile& profile, const GraphProfileView& view, Format format) {
    Report report{"Graph profile: " + profile.name, {}};
    const bool totals_known = profile.complete || view.allow_unknown;
    if (format == Format::csv) {
        GraphProfileView all = view;
        all.top = 0;
        return {report.title, {operator_table(profile, all)}};
    }
    add_blocks(report, Heading{1, report.title}, profile_takeaway(profile, totals_known),
               summary(profile, totals_known), type_table(profile));
    if (view.depth > 0)
        report.blocks.emplace_back(module_table(profile, view.depth));
    report.blocks.emplace_back(operator_table(profile, view));
    if (view.tensors)
        report.blocks.emplace_back(tensor_table(*profile.graph));
    if (!profile.graph->findings.empty())
        add_blocks(report, Heading{2, "Findings"}, finding_list(profile.graph->findings));
    return report;
}

AnswerDocument document_of(const GraphProfile& profile, const GraphProfileView& view) {
    const bool allow_unknown = view.allow_unknown;
    using P = GraphProfile;
    static constexpr std::string_view kAsked[] = {"batch_size", "dims", "inputs", "input_shapes"};
    const auto total = [allow_unknown](auto of) {
        return [=](const P& p) { return count_or_null(p.complete || allow_unknown, of(p)); };
    };
    const auto of_weights = [allow_unknown](auto of) {
        return
            [=](const P& p) { return count_or_null(p.complete || allow_unknown || weights_known(p), of(p)); };
    };
    const Members<P> totals = {
        {"macs", "multiply-accumulates; 1 = 2 operations", total([](const P& p) { return p.totals.macs; }),
         kCountOrNull},
        {"operations", "useful operations", total([](const P& p) { return p.totals.operations; }),
         kCountOrNull},
        {"parameters", "learned values", of_weights([](const P& p) { return p.graph->parameters(); }),
         kCountOrNull},
        {"weight_bytes", "constants at their stored size",
         of_weights([](const P& p) { return p.stored_weight_bytes; }), kCountOrNull},
        {"activation_bytes", "", total([](const P& p) { return p.totals.activation_bytes; }), kCountOrNull},
        {"operations_per_byte", "", total([](const P& p) { return p.totals.intensity(); }), kCountOrNull}};
    using OfFormat = ShownShare<FormatShare>;
    using OfWidth = ShownShare<WeightShare>;
    const auto formats = [=](const P& p) { return shown_shares(p.precisions, p, allow_unknown); };
    const auto widths = [=](const P& p) { return shown_shares(weight_mix(*p.graph), p, allow_unknown); };
    return {profile,
            "profile_graph",
            "work, parameters and bytes of a model",
            {{"request", "what was asked", std::identity{},
              Members<P>{{"model", "", &P::name}}.with(question_members(kAsked).of<P>([](const P& p) {
                  return Question{p.asked, {}};
              }))},
             {"verdict", "the answer",
              [allow_unknown](const P& p) { return profile_takeaway(p, p.complete || allow_unknown).lines; },
              lines_members()},
             {"model", "", &P::name},
             {"status", "incomplete: an operator is not understood",
              [](const P& p) { return p.complete ? "ok" : "incomplete"; }, OneOf{{"ok", "incomplete"}}},
             {"dims", "sizes of symbolic dimensions", [](const P& p) { return p.graph->dims; }},
             {"totals", "null: they would miss a part", std::identity{}, totals},
             {"operators", "at run time, in topological order",
              [](const P& p) {
                  return mapped(p.operators, [&](const OperatorProfile& item) {
                      return ProfiledOperator{p.graph.get(), &item};
                  });
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

} // namespace archsim
