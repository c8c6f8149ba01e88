#pragma once
// What does not fit kept in host memory.

#include "session/generation/step.hpp"

namespace archsim {

/// Answers of a device whose memory is smaller than `need`, with what is too much in host memory: of the
/// layers' weights, of the experts, or of the cache, each where it is large enough and the device has a link
/// to its host. Bytes of it that a pass reads cross the link once per pass. `prompt` and `context` are tokens
/// of a sequence.
std::vector<OffloadChoice> offload_choices(StepRunner runner, std::int64_t batch, std::int64_t prompt,
                                           std::int64_t context, const MemoryEstimate& need);

/// "with 1.1 GB of the layers in host memory 73.1 to 78 ms per token"; empty without choices.
std::string in_words(const std::vector<OffloadChoice>& choices);

} // namespace archsim
