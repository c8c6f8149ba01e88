#include "report/blocks/subgraph_table.hpp"

#include "core/lists.hpp"
#include "report/blocks/number_format.hpp"
#include "result/bound_shares.hpp"
#include "result/common_regions.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <map>

namespace archsim {

// Best first; the words of the field's interpretation guides.
constexpr std::array kBands = {
    UtilizationBand{0.9, "excellent", "the hardware is well used"},
    UtilizationBand{0.7, "good", "minor inefficiencies"},
    UtilizationBand{0.5, "fair", "some waste"},
    UtilizationBand{0.0, "poor", "significant waste"},
};

/// "Data movement" of "data_movement".
static std::string as_title(std::string_view kind) {
    std::string title(kind);
    std::ranges::replace(title, '_', ' ');
    if (!title.empty())
        title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
    return title;
}

static bool has_constant_weights(const ShapedGraph& graph, const Operator& op) {
    return std::ranges::any_of(op.inputs, [&](TensorId input) {
        return input != kNoTensor && graph.tensors[input].constant && graph.tensors[input].shape.size() > 1;
    });
}

struct UtilizationExtremes {
    double low = 2, high = -1;
    std::string low_layer, high_layer;
};

static UtilizationExtremes extremes_of(const Result& result) {
    UtilizationExtremes found;
    for (const ResultLeaf& leaf : leaves_of(result)) {
        const Result& r = *leaf.result;
        for (const SubgraphEstimate& s : r.estimate.subgraphs) {
            if (s.utilization <= 0) // without products
                continue;
            const Subgraph& subgraph = r.partition->subgraphs[s.index];
            const auto layer = [&] {
                return fmt::format("{}, {}", subgraph.name, operation_name(*r.model->graph, subgraph));
            };
            if (s.utilization < found.low) {
                found.low = s.utilization;
                found.low_layer = layer();
            }
            if (s.utilization > found.high) {
                found.high = s.utilization;
                found.high_layer = layer();
            }
        }
    }
    return found;
}

std::string operation_name(const ShapedGraph& graph, const Subgraph& subgraph) {
    const Operator& anchor = graph.operators[subgraph.anchor];
    if (subgraph.kind == OpKind::convolution) {
        const std::size_t rank =
            anchor.outputs.empty() ? 0 : graph.tensors[anchor.outputs.front()].shape.size();
        return rank > 2 ? fmt::format("Conv{}D", rank - 2) : "Convolution";
    }
    if (subgraph.kind == OpKind::matmul)
        return has_constant_weights(graph, anchor) ? "Linear" : "MatMul";
    return as_title(name_of(subgraph.kind));
}

std::string operation_with_size(const ShapedGraph& graph, const Subgraph& subgraph) {
    const std::string name = operation_name(graph, subgraph);
    const Operator& anchor = graph.operators[subgraph.anchor];
    if (anchor.outputs.empty() || anchor.outputs.front() == kNoTensor)
        return name;
    const auto& shape = graph.tensors[anchor.outputs.front()].shape;
    return subgraph.kind == OpKind::convolution && shape.size() > 2 ? fmt::format("{} {}ch", name, shape[1])
           : subgraph.kind == OpKind::matmul && !shape.empty()      ? fmt::format("{} {}", name, shape.back())
                                                                    : name;
}

std::vector<OperationShare> operation_shares(const Result& result) {
    std::map<std::string, OperationShare> sorts;
    for (const ResultLeaf& leaf : leaves_of(result)) {
        const Result& r = *leaf.result;
        if (!r.partition || !r.model || !r.model->graph)
            continue;
        for (const Subgraph& subgraph : r.partition->subgraphs) {
            OperationShare& share = sorts[operation_name(*r.model->graph, subgraph)];
            share.subgraphs += leaf.repeat;
        }
        for (const SubgraphEstimate& s : r.estimate.subgraphs)
            sorts[operation_name(*r.model->graph, r.partition->subgraphs[s.index])].latency_s +=
                s.latency_s * leaf.repeat;
    }
    for (auto& [name, share] : sorts)
        share.name = name;
    auto shares = mapped(sorts, [](const auto& sort) { return sort.second; });
    std::ranges::stable_sort(shares, std::ranges::greater{}, &OperationShare::subgraphs);
    return shares;
}

std::vector<NamedValue> subgraph_shares(const Result& result) {
    const auto shares = operation_shares(result);
    const double total = sum_of(shares, &OperationShare::subgraphs);
    return mapped(shares, [&](const OperationShare& share) {
        return NamedValue{share.name + " Operations",
                          fmt::format("{:.0f} % ({:.0f} subgraph{})", 100 * share.subgraphs / total,
                                      share.subgraphs, share.subgraphs == 1 ? "" : "s"),
                          1};
    });
}

std::vector<NamedValue> time_shares(const Result& result) {
    if (result.generation) // the subgraphs are those of one pass alone
        return {};
    auto shares = operation_shares(result);
    std::ranges::stable_sort(shares, std::ranges::greater{}, &OperationShare::latency_s);
    const double total = result.estimate.latency_s;
    std::vector<NamedValue> items;
    double outside = total;
    for (const OperationShare& share : shares) {
        outside -= share.latency_s;
        if (share.latency_s > 0 && total > 0)
            items.push_back(
                {share.name + " Operations",
                 fmt::format("{} of the time ({:.0f} subgraph{})", format_percent(share.latency_s / total),
                             share.subgraphs, share.subgraphs == 1 ? "" : "s"),
                 1});
    }
    constexpr double kShown = 0.0005; // what would not print as 0.0 %
    if (outside > kShown * total)
        items.push_back({"Outside subgraphs", format_percent(outside / total) + " of the time", 1});
    return items;
}

const UtilizationBand& utilization_band(double utilization) {
    for (const UtilizationBand& band : kBands)
        if (utilization >= band.from)
            return band;
    return kBands.back();
}

std::string utilization_reading(const Result& result) {
    const UtilizationBand& band = utilization_band(result.estimate.utilization);
    std::string text = fmt::format("{}, {}", band.verdict, band.meaning);
    const auto shares = bound_shares(result);
    // The subgraphs of generated text are those of one pass alone.
    if (&band == &kBands.front() || !shares || result.generation)
        return text;
    const char *binds = "compute",
               *helps = "a larger batch fills more of the units; a narrower format raises the peak";
    if (shares->largest() == Bound::memory) {
        binds = "memory";
        helps =
            "a narrower format, a larger batch (weights are read once for all items) or more bandwidth helps";
    } else if (shares->bound_by_exchange()) {
        binds = "exchange between devices, and starting kernels";
        helps = "fewer devices or a larger batch helps";
    } else if (shares->bound_by_host()) {
        binds = "operators that the host runs";
        helps = "check_model names them, and rewrites that keep them on the device";
    } else if (shares->largest() == Bound::overhead) {
        binds = "starting kernels and layers";
        helps = "a larger batch, or a stack that launches less, helps; else the device is too large for this "
                "model";
    }
    return fmt::format("{}: {} of the time is bound by {}; {}", text,
                       format_percent(shares->of(shares->largest())), binds, helps);
}

std::string utilization_line(const Result& result) {
    const Estimate& e = result.estimate;
    return fmt::format("Average {}; Min {}; Max {}", format_percent(e.utilization),
                       format_percent(e.utilization_min), format_percent(e.utilization_max));
}

std::vector<NamedValue> utilization_facts(const Result& result) {
    const Estimate& e = result.estimate;
    const UtilizationExtremes found = extremes_of(result);
    // Time outside of the layers with products can make the whole run lower than any of them.
    std::string least = format_percent(e.utilization_min), most = format_percent(e.utilization_max);
    if (!found.low_layer.empty()) {
        least += found.low <= e.utilization_min ? fmt::format(" ({})", found.low_layer)
                                                : fmt::format(" (the whole run; of its layers {}: {})",
                                                              format_percent(found.low), found.low_layer);
        most += fmt::format(" ({})", found.high_layer);
    }
    return {{"Average", format_percent(e.utilization), 1},
            {"Min", least, 1},
            {"Max", most, 1},
            {"Reading", utilization_reading(result), 1}};
}

} // namespace archsim
