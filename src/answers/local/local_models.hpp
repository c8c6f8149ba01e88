#pragma once
// The models that run on a machine. A machine goes in; the catalogue's language models in the formats of
// their files, or its vision or speech models, come out: how fast each is, and how one that does not fit
// whole is split over GPU and host.

#include "archsim/extend/renderer.hpp"
#include "archsim/run/catalogue.hpp"
#include "archsim/run/session.hpp"
#include "report/render/answer_document.hpp"

#include <cmath>
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
    bool memory_named = false;    ///< the device's own size of memory, or its computer's, was named
    std::int64_t devices = 1;     ///< cards that divide the layers, one after another (llama.cpp's -sm layer)
    LocalKind kind = LocalKind::language;
    /// Positions: a prompt, and 128 tokens of an answer at its end. This one shrinks to that of a model that
    /// is named and has fewer.
    std::int64_t context = 8000;
    std::optional<Precision> kv_cache = {}; ///< empty: as the stack stores it
    std::vector<std::string> formats = {"bf16", "int8", "int4"};
    std::vector<std::string> models = {}; ///< by name, or files; empty: the catalogue's
    /// Slower ones are left out; of vision and speech models inferences. Absent: of the catalogue's language
    /// models 10, twice as fast as people read; else any.
    std::optional<double> least_tokens_per_s = {};
};

/// A rate with its 90 % interval.
struct LocalRate {
    double per_s = 0, low = 0, high = 0;
};

/// One model in one format.
struct LocalModel {
    std::string name, format; ///< format: of a file that was named its type, "Q6_K"
    double parameters = 0;    ///< 0: not published
    int year = 0;             ///< in which its family came out; 0: not known
    bool runs = false;
    std::string reason;       ///< one sentence where it does not run
    bool too_slow = false;    ///< it runs, below the least rate
    std::int64_t context = 0; ///< positions that it was asked for
    Doubt doubt;              ///< why its rates are doubtful
    LocalRate prompt;         ///< tokens read per second; of vision and speech models 0
    LocalRate output;         ///< tokens written per second at the end of the context; inferences
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
    std::size_t considered = 0;     ///< models that were asked for, or of the catalogue
    double stated_bytes = INFINITY; ///< memory that was stated of a processor's computer
    double computer_bytes = 0;      ///< memory of a computer whose size nobody named; else 0
    bool processor = false;         ///< the device has no host
    double unused_bytes = 0;        ///< memory that was stated of the computer around a card, without a host
};

/// Bytes of "RTX 4070 laptop, 32GB": memory of the computer, after the last comma; 0 where none is named.
double stated_memory(std::string_view machine);
/// The device and the memory of a request from such a text. Throws InputError where no device is so named.
void take_machine(const Session& session, const std::string& machine, LocalRequest& request);

/// A number format, or a type of GGUF files, "Q3_K_M". Throws UsageError for any other text.
PrecisionConfig file_format(const std::string& format);

/// The stack that the language models of a request run under: llama.cpp where the device has it, else what it
/// serves them with.
std::string local_stack(const Session& session, const std::string& device);

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

// The models that run on a machine, as report blocks and as a JSON document.
//
//   RTX-4090 with 25.3 GB: 61 of 154 language models run with a context of 8192.
//   Newest: qwen3.5-27b (2026) in int4, 38.1 tokens/s (22 to 66); ... Largest: qwen3-32b in int4, ...

/// The order of a list of models. Newest: by year, of one year the largest first.
enum class LocalOrder : std::uint8_t { newest, size, speed };

/// How a list of models is shown.
struct LocalView {
    LocalOrder by = LocalOrder::newest;
    bool every_format = false; ///< each that runs; else the widest of a model
};
/// CSV has every model in every format, those that run first.
Report describe(const LocalAnswer& answer, const LocalView& view, Format format);
/// Everything, keys with units.
AnswerDocument document_of(const LocalAnswer& answer, const LocalView& view);

/// "qwen3-8b-Q4_K_M.gguf" of a model in int4; empty where llama.cpp has no files in the format.
std::string llama_file(std::string_view model, std::string_view format);
/// "llama-server -m qwen3-8b-Q4_K_M.gguf -c 8192 -ngl 99". `device_layers` of `layers` are on the GPU; below
/// 0: no GPU. Of `expert_layers` the experts alone stay with the processor. Options: llama.cpp,
/// tools/server/README.md (-m, -c, -ngl, --n-cpu-moe, -ctk, -ctv). Empty without a file.
std::string llama_command(std::string_view file, std::int64_t context, std::int64_t device_layers,
                          std::int64_t layers, std::int64_t expert_layers = 0,
                          std::optional<Precision> kv_cache = {});

/// Bytes that the graph of a piece of `tokens` prompt tokens needs for its outputs: llama.cpp reserves it
/// with logits of every token (llama-context.cpp, graph_reserve), in f32, beside the normalised hidden states
/// that they are made of. Worked: Llama 3 8B, 512 tokens: 512 x (128,256 + 4,096) x 4 B = 258.5 MiB, as it
/// logs.
double llama_output_bytes(const LanguageModel& model, std::int64_t tokens);

} // namespace archsim
