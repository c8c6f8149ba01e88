#include "map/systolic_cycles.hpp"
#include "core/text.hpp"

#include <array>

namespace archsim {

namespace {

struct Row {
    Dataflow dataflow;
    std::string_view name, letters;
    std::uint64_t skews; ///< k of the formula
};
constexpr std::array kRows = {Row{Dataflow::weight_stationary, "weight_stationary", "ws", 3},
                              Row{Dataflow::output_stationary, "output_stationary", "os", 2},
                              Row{Dataflow::input_stationary, "input_stationary", "is", 3}};

} // namespace

std::string_view name_of(Dataflow dataflow) {
    return kRows[static_cast<std::size_t>(dataflow)].name;
}

std::optional<Dataflow> parse_dataflow(std::string_view text) {
    for (const Row& row : kRows)
        if (same_ignoring_case(text, row.name) || same_ignoring_case(text, row.letters))
            return row.dataflow;
    return std::nullopt;
}

std::uint64_t systolic_cycles(std::uint64_t m, std::uint64_t n, std::uint64_t k, std::uint64_t array,
                              Dataflow dataflow) {
    if (m == 0 || n == 0 || k == 0 || array == 0)
        return 0;
    std::uint64_t rows = k, cols = n, streamed = m;
    if (dataflow == Dataflow::output_stationary) {
        rows = m;
        streamed = k;
    } else if (dataflow == Dataflow::input_stationary) {
        cols = m;
        streamed = n;
    }
    const std::uint64_t folds = ((rows + array - 1) / array) * ((cols + array - 1) / array);
    return folds * (kRows[static_cast<std::size_t>(dataflow)].skews * array + streamed - 2) - 1;
}

std::vector<LayerCycles> systolic_cycles(const ShapedGraph& graph, std::uint64_t array, Dataflow dataflow) {
    std::vector<LayerCycles> layers;
    for (std::uint32_t i = 0; i < graph.operators.size(); ++i) {
        const Operator& op = graph.operators[i];
        if (op.folded || op.work.contractions.empty())
            continue;
        LayerCycles layer{i, 0};
        for (const Contraction& c : op.work.contractions)
            layer.cycles += static_cast<std::uint64_t>(c.groups) *
                            systolic_cycles(static_cast<std::uint64_t>(c.m), static_cast<std::uint64_t>(c.n),
                                            static_cast<std::uint64_t>(c.k), array, dataflow);
        layer.cycles *= static_cast<std::uint64_t>(op.repeat);
        layers.push_back(layer);
    }
    return layers;
}

} // namespace archsim
