#pragma once
// The files beside the configuration of a checkpoint: headers of safetensors files, their index, pointers of
// Git LFS, and how many bytes they say that the weights have. Payloads are never read.

#include "checkpoint/decoder.hpp"

namespace archsim::checkpoint {

struct StoredTensor {
    std::string type; ///< "BF16", "F8_E4M3", "I32"...
    std::vector<std::int64_t> shape;
    double bytes = 0;
};
using StoredTensors = std::map<std::string, StoredTensor>;

/// Adds the tensors of one file. Throws InputError naming the file.
void read_safetensors_header(const std::filesystem::path& file, StoredTensors& tensors);
StoredTensors read_safetensors_folder(const std::filesystem::path& folder);

/// Takes over from the headers what a configuration does not say (biases, norms of queries and keys, sinks, a
/// tied head, matrices kept wide).
void apply_headers(const StoredTensors& tensors, Decoder& decoder);

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
