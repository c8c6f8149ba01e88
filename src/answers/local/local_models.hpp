#pragma once
// The models that run on a machine. A machine goes in; the catalogue's language models in the formats of
// their files, or its vision or speech models, come out: how fast each is, and how one that does not fit
// whole is split over GPU and host.

#include "archsim/run/session.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

enum class LocalKind : std::uint8_t { language, vision, speech };

/// Which machine, and what is asked of it.
struct LocalRequest {
    std::string device; ///< as the database resolves it, "this-machine" and "this-gpu" too
    std::string host =
        {}; ///< processor that takes layers which the device's memory does not hold; empty: none
    double host_memory_bytes = 0; ///< 0: what the database says of `host`
    LocalKind kind = LocalKind::language;
    std::int64_t context = 8192; ///< positions: a prompt, and 128 tokens of an answer at its end
    std::vector<std::string> formats = {"bf16", "int8", "int4"};
    double least_tokens_per_s = 0; ///< slower ones are left out; of vision and speech models inferences
};

/// A rate with its 90 % interval.
struct LocalRate {
    double per_s = 0, low = 0, high = 0;
};

/// One model in one format.
struct LocalModel {
    std::string name, format;
    double parameters = 0; ///< 0: not published
    bool runs = false;
    std::string reason;    ///< one sentence where it does not run
    bool too_slow = false; ///< it runs, below the least rate
    std::string doubt;     ///< why it may not be named first; empty: it may
    LocalRate prompt;      ///< tokens read per second; of vision and speech models 0
    LocalRate output;      ///< tokens written per second at the end of the context; inferences
    double memory_bytes = 0, capacity_bytes = 0; ///< of the device, what the model needs whole, and has
    std::int64_t layers = 0, device_layers = 0;  ///< fewer on the device: the rest is on the host
    std::int64_t expert_layers = 0;              ///< of which the experts alone are on the host
    double host_bytes = 0;                       ///< weights and cache in the host's memory
    std::string command; ///< that serves it with llama.cpp; empty where the stack is another
};

/// Every model of the kind, largest first, formats widest first.
struct LocalAnswer {
    LocalRequest request;
    std::string device, runtime, host; ///< as they were resolved
    std::vector<LocalModel> models;
    std::size_t considered = 0; ///< models of the catalogue
};

/// "RTX 4070 laptop, 32GB": the name, and the memory that is named after the last comma in bytes; 0 where
/// none is. Throws UsageError for an empty name.
std::pair<std::string, double> parse_local_machine(std::string_view text);

/// Never throws for a model: what fails is its reason. Throws InputError for a device or stack that does not
/// exist, UsageError for a context below 256.
///
/// Layers that the device's memory does not hold run on the host, as llama.cpp runs them: a token takes the
/// device's time for its part of the layers and the host's for the others, one after the other. Worked: 40
/// layers, of which 30 fit; the whole takes 20 ms on the device and 200 ms on the host: 15 + 50 = 65 ms. Of
/// a mixture of experts the experts of some layers may run there alone, where that is faster (llama.cpp's
/// --n-cpu-moe): attention, cache and what all tokens share stay on the device.
/// @code
/// const Session session;
/// LocalRequest request;
/// request.device = "RTX-4090";
/// request.formats = {"int4"};
/// const LocalAnswer answer = local_models(session, request);
/// assert(!answer.models.empty());
/// @endcode
LocalAnswer local_models(const Session& session, const LocalRequest& request,
                         const std::function<void(std::size_t, std::size_t)>& progress = {});

} // namespace archsim
