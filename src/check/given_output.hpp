#pragma once
// Measurements of one's own: words, files of them, and what the tools printed that measured.

#include "archsim/core/export.hpp"
#include "archsim/run/session.hpp"
#include "check/tool_output.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// read_given(), of files also the outputs that read_tool_output() reads. Of `context` the device is that of
/// texts that name none; what outputs do not say is as it says, and a model that no catalogue has (a folder
/// of the server's machine) is its model. Throws UsageError naming `flag`, InputError naming the file.
ARCHSIM_API std::vector<MeasuredRow> read_measured(std::span<const std::string> texts, const Session& session,
                                                   const MeasuredContext& context, std::string_view flag);
/// The outputs alone. Throws InputError naming a file that cannot be read, or that no such tool wrote.
ARCHSIM_API std::vector<MeasuredRow> read_outputs(std::span<const std::string> files, const Session& session,
                                                  const MeasuredContext& context);

} // namespace archsim
