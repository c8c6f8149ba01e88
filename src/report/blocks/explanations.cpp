#include "report/blocks/explanations.hpp"

#include "report/blocks/cost_report.hpp"
#include "report/blocks/explanations_json.hpp"
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

void add_explanations(nlohmann::ordered_json& document, std::span<const Result> results,
                      const Explanations& explanations) {
    if (explanations.memory)
        document["memory"] = memory_json(results);
    if (explanations.energy)
        document["energy"] = energy_json(results, {explanations.subgraphs});
    if (explanations.cost || explanations.carbon)
        document["cost"] = cost_json(results, explanations.conditions);
}

} // namespace archsim
