#include "answers/measuring/layer_profile.hpp"

#include "archsim/core/finding.hpp"
#include "core/scan_text.hpp"

#include <array>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace archsim {

namespace {

/// Subgraph of every operator and every written tensor, by name.
using Places = std::unordered_map<std::string, std::uint32_t>;

Places places_of(const Result& result) {
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
std::string_view without_token_number(std::string_view name) {
    constexpr std::string_view kToken = "_token";
    const auto digits = name.find_last_not_of("0123456789");
    if (digits == std::string_view::npos || digits + 1 == name.size() || name[digits] != '_')
        return name;
    const std::string_view before = name.substr(0, digits);
    return before.ends_with(kToken) ? before.substr(0, before.size() - kToken.size()) : name;
}

/// The place of a name as it stands, without a runtime's ending, or without its last parts
/// ("/a/Gemm/MatMulAddFusion").
std::optional<std::uint32_t> find(const Places& places, std::string_view name) {
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
std::optional<std::uint32_t> place_of(const Places& places, std::string_view layer) {
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

} // namespace

LayerProfile match_layers(const Result& result, const ToolOutput& measured) {
    if (!result.ok() || result.partition == nullptr || result.model == nullptr ||
        result.model->graph == nullptr || result.estimate.subgraphs.empty())
        throw InputError(
            fmt::format("{}: the estimate has no subgraphs to lay layers beside", result.hardware));
    if (measured.layers.empty())
        throw InputError(
            fmt::format("this output of {} holds no times of layers: measure with a profile (trtexec "
                        "--dumpProfile, ONNX Runtime's enable_profiling)",
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

} // namespace archsim
