#pragma once
// What mixes the tokens of a layer of a GGUF file, told by its tensors.

#include "checkpoint/decoder.hpp"
#include "checkpoint/gguf_file.hpp"

namespace archsim::checkpoint {

/// The mixer of layer `i`, which sees `window`; kind none where it has none.
TokenMixer read_gguf_mixer(const GgufFile& file, std::int64_t i, const LayerWindow& window);

} // namespace archsim::checkpoint
