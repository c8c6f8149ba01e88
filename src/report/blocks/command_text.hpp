#pragma once
// Command lines that can be pasted.

#include "archsim/extend/renderer.hpp"

#include <string>
#include <vector>

namespace archsim {

/// A heading "Next steps:" and the commands; nothing where there are none.
std::vector<Block> command_blocks(const std::vector<std::string>& commands);

} // namespace archsim
