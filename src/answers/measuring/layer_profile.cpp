#include "answers/measuring/check_me.hpp"
#include "archsim/core/finding.hpp"
#include "core/lists.hpp"
#include "core/scan_text.hpp"
#include "report/blocks/columns.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace archsim {

/// Subgraph of every operator and every written tensor, by name.
using Places = std::unordered_map<std::string, std::uint32_t>;

static Places places_of(const Result& result) {
    Places places;
    const ShapedGraph& graph = *result.model->graph;
    const auto& subgraphs = result.partition->subgraphs;
    for (std::uint32_t i = 0; i < subgraphs.size(); ++i)
        for (const SubgraphMember& member : subgraphs[i].members) {
            const Operator& op = graph.operators[member.op];
            if (!op.name.empty())
                places.emplace(op.name, i);
            for (const TensorId tensor : op.outputs)
                if (tensor != kNoTensor && !graph.tensors[tensor].name.empty())
                    places.emplace(graph.tensors[tensor].name, i);
        }
    return places;
}

/// A name without the number that ONNX Runtime's transformers of layout give what they rewrite
/// ("/a/Conv_token_14").
static std::string_view without_token_number(std::string_view name) {
    constexpr std::string_view kToken = "_token";
    const auto digits = name.find_last_not_of("0123456789");
    if (digits == std::string_view::npos || digits + 1 == name.size() || name[digits] != '_')
        return name;
    const std::string_view before = name.substr(0, digits);
    return before.ends_with(kToken) ? before.substr(0, before.size() - kToken.size()) : name;
}

/// The place of a name as it stands, without a runtime's ending, or without its last parts
/// ("/a/Gemm/MatMulAddFusion").
static std::optional<std::uint32_t> find(const Places& places, std::string_view name) {
    static constexpr std::array kEndings = {std::string_view("_nchwc"), std::string_view("_nhwc"),
                                            std::string_view("_quant"), std::string_view("_token")};
    while (!name.empty()) {
        if (const auto found = places.find(std::string(name)); found != places.end())
            return found->second;
        const std::string_view unnumbered = without_token_number(name);
        bool shorter = unnumbered.size() < name.size();
        name = unnumbered;
        for (const std::string_view ending : kEndings)
            if (!shorter && name.ends_with(ending)) {
                name.remove_suffix(ending.size());
                shorter = true;
            }
        if (shorter)
            continue;
        const auto slash = name.rfind('/');
        if (slash == std::string_view::npos || slash == 0)
            break;
        name = name.substr(0, slash);
    }
    return std::nullopt;
}

/// The first of the operators that a layer names.
static std::optional<std::uint32_t> place_of(const Places& places, std::string_view layer) {
    constexpr std::string_view kJoin = " + ";
    while (true) {
        const auto end = layer.find(kJoin);
        if (const auto place = find(places, trimmed(layer.substr(0, end))))
            return place;
        if (end == std::string_view::npos)
            return std::nullopt;
        layer.remove_prefix(end + kJoin.size());
    }
}

constexpr double kMilli = 1e3;

static Cell ratio_cell(double predicted, double measured) {
    if (!(measured > 0) || std::isnan(predicted))
        return {};
    const double ratio = predicted / measured;
    constexpr double kFar = 1.5; // the eye should find what is off by half
    return {fmt::format("{:.2f}", ratio), ratio, ratio > kFar || ratio < 1 / kFar ? Tone::bad : Tone::plain};
}

static Chart chart_of(const LayerProfile& profile, const std::vector<std::size_t>& order, std::size_t rows) {
    ChartSeries predicted{"predicted", {}}, measured{"measured", {}};
    for (std::size_t i = 0; i < rows; ++i) {
        const ProfiledSubgraph& subgraph = profile.subgraphs[order[i]];
        predicted.points.push_back({subgraph.name, 0, subgraph.predicted_s * kMilli});
        measured.points.push_back({subgraph.name, 0, subgraph.measured_s * kMilli});
    }
    return {.title = "Predicted and measured time by subgraph",
            .x_title = "subgraph",
            .y_title = "ms",
            .series = {std::move(predicted), std::move(measured)}};
}

LayerProfile match_layers(const Result& result, const ToolOutput& measured) {
    if (!result.ok() || result.partition == nullptr || result.model == nullptr ||
        result.model->graph == nullptr || result.estimate.subgraphs.empty())
        throw InputError(
            fmt::format("{}: the estimate has no subgraphs to lay layers beside", result.hardware));
    if (measured.layers.empty())
        throw InputError(fmt::format("this output of {} holds no times of layers: measure with a profile "
                                     "(trtexec --dumpProfile, ONNX Runtime's enable_profiling)",
                                     measured.tool));
    LayerProfile profile;
    profile.hardware = result.hardware;
    profile.tool = measured.tool;
    std::unordered_map<std::uint32_t, std::size_t> rows;
    for (const SubgraphEstimate& estimate : result.estimate.subgraphs) {
        const Subgraph& subgraph = result.partition->subgraphs[estimate.index];
        rows.emplace(estimate.index, profile.subgraphs.size());
        profile.subgraphs.push_back(
            {estimate.index, subgraph.name, std::string(name_of(subgraph.kind)), estimate.latency_s, 0, {}});
    }
    const Places places = places_of(result);
    for (const LayerTime& layer : measured.layers) {
        profile.measured_s += layer.seconds;
        const auto place = place_of(places, layer.name);
        const auto row = place ? rows.find(*place) : rows.end();
        if (row == rows.end()) {
            profile.unmatched.push_back(layer);
            continue;
        }
        ProfiledSubgraph& subgraph = profile.subgraphs[row->second];
        subgraph.measured_s += layer.seconds;
        subgraph.layers.push_back(layer.name);
    }
    profile.predicted_s = result.estimate.latency_s;
    return profile;
}

Report describe(const LayerProfile& profile, std::size_t rows) {
    Report report{fmt::format("Layers: predicted on {} and measured by {}", profile.hardware, profile.tool),
                  {}};
    report.blocks.push_back(Heading{2, report.title});
    std::vector<std::size_t> order = indices(profile.subgraphs.size());
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        return profile.subgraphs[a].measured_s > profile.subgraphs[b].measured_s;
    });
    const std::size_t shown = rows == 0 ? order.size() : std::min(rows, order.size());
    struct Row {
        Cell name;
        std::string kind;
        double predicted_s, measured_s; ///< NaN: there is none
        std::optional<std::size_t> layers;
    };
    std::vector<Row> timed;
    for (std::size_t i = 0; i < shown; ++i) {
        const ProfiledSubgraph& subgraph = profile.subgraphs[order[i]];
        timed.push_back({{subgraph.name},
                         subgraph.kind,
                         subgraph.predicted_s,
                         subgraph.measured_s,
                         subgraph.layers.size()});
    }
    const double unmatched = sum_of(profile.unmatched, &LayerTime::seconds);
    if (!profile.unmatched.empty())
        timed.push_back({{fmt::format("layers of no subgraph ({})", profile.unmatched.front().name)},
                         {},
                         NAN,
                         unmatched,
                         profile.unmatched.size()});
    timed.push_back({{"all", {}, Tone::strong}, {}, profile.predicted_s, profile.measured_s, {}});
    Table table = table_of<Row>(
        {},
        {{{"Subgraph", "", "subgraph"}, &Row::name},
         {{"Kind", "", "kind", Align::left, 1}, [](const Row& r) { return text_cell(r.kind); }},
         {least_best("Predicted", "ms", "predicted_s"), 1e-3, &Row::predicted_s},
         {least_best("Measured", "ms", "measured_s"), 1e-3,
          [](const Row& r) { return r.measured_s > 0 ? std::optional(r.measured_s) : std::nullopt; }},
         {least_best("Ratio", "", "ratio"),
          [](const Row& r) { return ratio_cell(r.predicted_s, r.measured_s); }},
         {most_best("Layers", "", "layers", 2),
          [](const Row& r) { return r.layers ? whole_cell(*r.layers) : text_cell(""); }}},
        timed);
    if (shown < order.size())
        table.notes.push_back(fmt::format("{} further subgraphs", order.size() - shown));
    add_blocks(report, std::move(table), chart_of(profile, order, shown));
    return report;
}

} // namespace archsim
