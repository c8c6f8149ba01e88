#pragma once
// Command lines that can be pasted: the question asked, as the flags of a tool.

#include "archsim/compare/conditions.hpp"
#include "archsim/report/report.hpp"
#include "archsim/run/workload.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// For a POSIX shell: bare where nothing is special, else in single quotes.
std::string shell_quoted(std::string_view text);

/// " --batch-size 8 --precision int8 --dim sequence=128": what differs from the defaults of the tools, each
/// flag with a space before it. `workload.model` is not named.
std::string question_flags(const Workload& workload, const Conditions& conditions);

/// A heading "Next steps:" and the commands; nothing where there are none.
std::vector<Block> command_blocks(const std::vector<std::string>& commands);

} // namespace archsim
