#pragma once
// What the memory of a device does not hold: read over the link to its host, or computed there.

#include "archsim/compare/generation.hpp"
#include "archsim/map/work.hpp"
#include "session/generation/step.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace archsim {

/// A prompt and a step on one machine, and what of both is of experts.
struct PassTimes {
    Estimate first, token;
    double expert_bytes = 0, expert_first_s = 0, expert_token_s = 0;
};

/// Adds what is of experts, from the counts and the estimate of a piece of the prompt and of a step, which
/// keeps its subgraphs. `weight_bytes` are all of the model's.
void add_experts(const NetworkWork& piece, const Estimate& piece_estimate, const NetworkWork& token,
                 double weight_bytes, PassTimes& times);

/// Layers that the host's processor computes with their caches, or experts of layers alone.
struct HostPart {
    double layers = 0;
    bool experts = false;
    double bytes = 0; ///< in the host's memory
    /// Seconds of a prompt and of a token, device and host one after the other.
    double first_s = 0, token_s = 0;
    Interval first, token;
};

/// The ways to take `outside` bytes off a device, without their times: whole layers, and experts where these
/// are enough; none where what is no layer does not fit either. Worked: 18 GB in 48 layers, 16 of them of
/// experts, 6 GB too many: 16 whole layers, or the experts of 18.
std::vector<HostPart> host_parts(const PassTimes& times, const MemoryEstimate& need, double layers,
                                 double outside);
/// The times of a part of so many layers on the host.
void add_times(const PassTimes& device, const PassTimes& host, double layers, HostPart& part);

/// Answers of a device whose memory is smaller than `need`, with what is too much in host memory: of the
/// layers' weights, of the experts, or of the cache, each where it is large enough and the device has a link
/// to its host. Bytes of it that a pass reads cross the link once per pass; a stack that computes with the
/// host what lies there (Parameter::host_tables) has the host's processor do it. `prompt` and `context` are
/// tokens of a sequence.
std::vector<OffloadChoice> offload_choices(const Session& session, StepRunner runner, std::int64_t batch,
                                           std::int64_t prompt, std::int64_t context,
                                           const MemoryEstimate& need);

/// "offloading to the host 1.1 GB of the layers: 12 to 14 tokens/s", "computing on its processor 1.1 GB of
/// the layers: 12 to 14 tokens/s beside a Ryzen-5-7600"; empty without choices.
std::string in_words(const std::vector<OffloadChoice>& choices);

} // namespace archsim
