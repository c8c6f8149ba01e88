#pragma once
// How many bytes the weights of a checkpoint have by what lies beside its configuration: the index of its
// files, headers, or pointers of Git LFS. Payloads are never read.

#include "checkpoint/decoder.hpp"

#include <filesystem>
#include <set>
#include <string>

namespace archsim::checkpoint {

struct StoredFiles {
    double bytes = 0;              ///< 0: nothing says it
    std::string source;            ///< file that says so
    std::set<std::string> tensors; ///< names, where an index lists them
};

StoredFiles read_stored_files(const std::filesystem::path& folder);

/// Whether a file is the pointer that Git LFS leaves where it did not fetch the content.
bool is_lfs_pointer(const std::filesystem::path& file);

/// Bytes of a graph's weights as the checkpoint stores them.
double weight_bytes(const Graph& graph);

/// Takes over from an index that no head is stored. A configuration does not say it.
void apply_index(const StoredFiles& files, Decoder& decoder);

/// Where files hold other bytes than `counted`, a finding in front of all others says so, and weights take as
/// many bytes as the files (Decoder::stored_scale). `unloaded`: bytes that may lie in the files beside these.
void hold_bytes(const StoredFiles& files, double counted, double unloaded, Severity severity,
                Decoder& decoder);

} // namespace archsim::checkpoint
