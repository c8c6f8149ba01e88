#include "report/blocks/command_text.hpp"

namespace archsim {

std::vector<Block> command_blocks(const std::vector<std::string>& commands) {
    std::vector<Block> blocks;
    if (!commands.empty())
        blocks.emplace_back(Heading{3, "Next steps:"});
    for (const std::string& line : commands)
        blocks.emplace_back(Command{line});
    return blocks;
}

} // namespace archsim
