#pragma once
// A machine's own statements, as texts: files of /proc and /sys, the processor's identification leaves, and
// the output of the vendors' tools. Capturing is the only step that looks at the machine; everything after it
// is a function of these texts, and so can be repeated, tested and sent by mail.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace archsim {

/// Texts by the path of the file or the name of the command that they came from; what could not be read is
/// absent.
struct Snapshot {
    std::map<std::string, std::string, std::less<>> texts;

    /// The text of a source without white space at its ends; empty when it is absent.
    std::string_view text(std::string_view source) const;
};

/// Where the texts come from.
struct CaptureOptions {
    std::filesystem::path root = "/"; ///< the folder that holds proc and sys
    double tool_seconds = 5;          ///< time that each of the vendors' tools may take
};

/// Reads the machine that this program runs on, and runs nvidia-smi and rocm-smi where they are installed.
/// Under another root than / the files there are all that is read: they describe another machine than this
/// processor. Never throws: what cannot be read is absent.
Snapshot capture_machine(const CaptureOptions& options = {});

/// One text with a line `== SOURCE` before each source.
std::string to_text(const Snapshot& snapshot);
/// Reads what to_text wrote. Throws InputError when there is no such line; `name` stands for the file.
Snapshot parse_snapshot(std::string_view text, std::string_view name);
/// The same of a file. Throws InputError where it cannot be read, too.
Snapshot read_snapshot(const std::filesystem::path& file);

} // namespace archsim
