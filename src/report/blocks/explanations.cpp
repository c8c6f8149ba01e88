#include "report/blocks/explanations.hpp"

#include "report/blocks/cost_report.hpp"
#include "report/blocks/memory_report.hpp"

#include <iterator>

namespace archsim {

std::vector<Block> explanation_blocks(std::span<const Result> results, const Explanations& explanations) {
    std::vector<Block> blocks;
    const auto append = [&](std::vector<Block> more) {
        blocks.insert(blocks.end(), std::make_move_iterator(more.begin()),
                      std::make_move_iterator(more.end()));
    };
    if (explanations.memory)
        append(memory_blocks(results));
    if (explanations.energy)
        append(describe_energy(results, {explanations.subgraphs}).blocks);
    if (explanations.cost)
        append(cost_blocks(results, explanations.conditions));
    else if (explanations.carbon)
        append(carbon_blocks(results, explanations.conditions));
    return blocks;
}

Members<Explained> explanation_members() {
    const auto asked = [](auto whether) {
        return [whether](const Explained& e) {
            return Sometimes<Explained>{whether(e.explanations) ? std::optional(e) : std::nullopt};
        };
    };
    return {{"memory", "with --show-memory", asked([](auto& e) { return e.memory; }), memory_members()},
            {"energy", "with --explain-energy: every event", asked([](auto& e) { return e.energy; }),
             energy_members()},
            {"cost", "with --cost or a grid's carbon", asked([](auto& e) { return e.cost || e.carbon; }),
             cost_members()}};
}

} // namespace archsim
