#include "answers/mapping/graph_mapping.hpp"

#include "report/blocks/columns.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"

#include <array>
#include <cmath>
#include <fmt/format.h>

namespace archsim {

namespace {

std::string order_text(const tiling::Tiling& t) {
    std::string text;
    for (const char* loop = t.order; *loop != '\0'; ++loop)
        text += fmt::format("{}{}", text.empty() ? "" : ", ",
                            *loop == 'k'   ? "outputs"
                            : *loop == 'c' ? "inputs"
                                           : "space");
    return text + " (innermost): " + std::string(name_of(t.kept));
}

std::string tile_text(const tiling::Nest& n, const tiling::Tiling& t) {
    return fmt::format(
        "{:g} of {:g} output channels, {:g} of {:g} input channels, {:g} x {:g} of {:g} x {:g} pixels, "
        "{:g} of {:g} images",
        t.outputs, n.outputs, t.inputs, n.inputs, t.rows, t.cols, n.rows, n.cols, t.images, n.images);
}

std::string others_text(const tiling::Tiling& t) {
    std::string text;
    for (std::size_t i = 0; i < tiling::kStationary; ++i)
        if (const auto kept = static_cast<tiling::Stationary>(i); kept != t.kept)
            text += fmt::format("{}{} {}", text.empty() ? "" : "; ", name_of(kept),
                                std::isfinite(t.best_of[i])
                                    ? fmt::format("would move {} ({})", format_bytes(t.best_of[i]),
                                                  format_ratio(t.best_of[i] / t.bytes))
                                    : "has no order that the machine runs");
    return text;
}

} // namespace

std::optional<KnowsTiling::Tiled> tiling_of(const Result& result, const SubgraphEstimate& subgraph) {
    const Machine& machine = *result.machine;
    const Mapper& mapper = machine.mapper ? *machine.mapper : mapper_for(machine.device->family);
    const auto* const knows = dynamic_cast<const KnowsTiling*>(&mapper);
    return knows != nullptr ? knows->tiling_of(result.work->subgraphs[subgraph.index], *result.work, machine)
                            : std::nullopt;
}

void add_tiling_facts(const Result& result, const SubgraphEstimate& subgraph, Facts& facts) {
    const auto tiled = tiling_of(result, subgraph);
    if (!tiled)
        return;
    const auto& [nest, limits, t, on_chip] = *tiled;
    if (on_chip) {
        facts.items.push_back({"Loop order", "any: inputs and results stay on the chip, weights come once"});
        return;
    }
    facts.items.push_back({"Loop order", order_text(t)});
    facts.items.push_back({"Tile", tile_text(nest, t)});
    facts.items.push_back(
        {"Holds", std::isfinite(limits.shared)
                      ? fmt::format("{} of {}", format_bytes(t.held), format_bytes(limits.shared))
                      : format_bytes(t.held)});
    facts.items.push_back(
        {"Passes", fmt::format("inputs {}, weights {}, outputs {}", format_ratio(t.passes[0]),
                               format_ratio(t.passes[1]), format_ratio(t.passes[2]))});
    facts.items.push_back({"Other orders", others_text(t)});
}

Table level_table(const Result& result, const SubgraphEstimate& subgraph) {
    constexpr std::array kLevels = {std::pair{Event::register_byte, "registers"},
                                    std::pair{Event::accumulator_byte, "accumulators"},
                                    std::pair{Event::l1_byte, "L1"},
                                    std::pair{Event::l2_byte, "buffer, L2"},
                                    std::pair{Event::llc_byte, "last level"},
                                    std::pair{Event::dram_byte, "external memory"},
                                    std::pair{Event::host_link_byte, "host link"}};
    Table table;
    table.title = "Memory levels";
    table.columns = {{"Level", "", "level"},
                     {"Moved", "", "bytes", Align::right},
                     {"Energy", "µJ", "energy_j", Align::right},
                     {"Each", "pJ/B", "energy_per_byte_j", Align::right}};
    const double repeat = result.partition->subgraphs[subgraph.index].repeat;
    for (const auto& [event, name] : kLevels) {
        const double bytes = subgraph.mapping.events.counts[static_cast<std::size_t>(event)] * repeat;
        const double joules = subgraph.energy.joules[static_cast<std::size_t>(event)];
        if (bytes > 0)
            table.rows.push_back({{name},
                                  {format_bytes(bytes), bytes},
                                  cell_in(1e-6, joules),
                                  cell_in(1e-12, joules / bytes)});
    }
    return table;
}

} // namespace archsim
