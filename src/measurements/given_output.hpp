#pragma once
// Measurements of one's own: words, files of them, and what the tools printed that measured.

#include "archsim/run/session.hpp"
#include "measurements/tool_output.hpp"

namespace archsim {

/// read_given(), of files also the outputs that read_tool_output() reads. Of `context` the device is that of
/// texts that name none; what outputs do not say is as it says, and a model that no catalogue has (a folder
/// of the server's machine) is its model. Throws UsageError naming `flag`, InputError naming the file.
std::vector<MeasuredRow> read_measured(std::span<const std::string> texts, const Session& session,
                                       const MeasuredContext& context, std::string_view flag);
/// A file of an output, and the device that it was measured on where the text says so: "H100=bench.json". A
/// file that has such a name is one.
struct NamedOutput {
    std::string hardware, file;
};
NamedOutput named_output(const std::string& text);
/// The outputs alone, FILE or DEVICE=FILE. Throws InputError naming a file that cannot be read, or that no
/// such tool wrote, and for a device that nobody knows.
std::vector<MeasuredRow> read_outputs(std::span<const std::string> files, const Session& session,
                                      const MeasuredContext& context);

} // namespace archsim
