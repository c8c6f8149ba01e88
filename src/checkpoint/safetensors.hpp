#pragma once
// Headers of safetensors files: names, types and shapes of the tensors. Payloads are never read.

#include "checkpoint/decoder.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace archsim::checkpoint {

struct StoredTensor {
    std::string type; ///< "BF16", "F8_E4M3", "I32"...
    std::vector<std::int64_t> shape;
    double bytes = 0;
};
using StoredTensors = std::map<std::string, StoredTensor>;

/// Adds the tensors of one file. Throws InputError naming the file.
void read_safetensors_header(const std::filesystem::path& file, StoredTensors& tensors);
/// Of all *.safetensors of a folder.
StoredTensors read_safetensors_folder(const std::filesystem::path& folder);

/// Takes over from the headers what a configuration does not say (biases, norms of queries and keys, sinks, a
/// tied head, matrices kept wide).
void apply_headers(const StoredTensors& tensors, Decoder& decoder);

} // namespace archsim::checkpoint
