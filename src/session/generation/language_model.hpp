#pragma once
// Language models in their two phases: the prompt in one pass (prefill), then one step per token (decode).
// One graph with inputs for the cached keys and values serves both.

#include "archsim/graph/graph.hpp"
#include "archsim/run/session.hpp"
#include "session/bound_model.hpp"
#include "session/prepared.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace archsim {

/// A language model, alone or as the last part of a multi-part one, bound at any batch and length on demand.
/// Safe to use from many threads.
class GenerationModel {
  public:
    /// Throws UsageError for a model without a cache of keys and values. `operators` must outlive it.
    GenerationModel(const Model& model, const Bindings& bindings,
                    const OperatorRegistry& operators = OperatorRegistry::standard());

    /// Name of the model.
    const std::string& name() const { return language_.info.name; }
    /// Where its weights lie, by the file's kind; empty: not known.
    const std::filesystem::path& file() const { return language_.info.file; }
    /// Tokens that it tells apart; 0 where the model does not say.
    double vocabulary() const {
        return language_.info.language_model ? language_.info.language_model->vocabulary : 0;
    }
    /// The part of its file that nobody understands, in one sentence; empty: nothing.
    std::string not_understood() const;
    /// Heads of its attention; 0 where the model does not say.
    double heads() const { return language_.info.language_model ? language_.info.language_model->heads : 0; }
    /// Layers; 0 where the model does not say.
    double layers() const {
        return language_.info.language_model ? language_.info.language_model->layers : 0;
    }
    /// Width of the residual stream; 0 where the model does not say.
    double hidden() const {
        return language_.info.language_model ? language_.info.language_model->hidden : 0;
    }
    /// Part of the weights of products whose rows are no multiple of `block`.
    double broken_rows(std::int64_t block) const;
    std::optional<Precision> stored_weights() const { return stored_weights_; }
    /// The same where no activations are quantised for their products.
    std::optional<Precision> stored_alone() const { return stored_alone_; }
    /// Format of the cache where the checkpoint states it.
    std::optional<Precision> stored_cache() const { return stored_cache_; }
    /// Positions that caches of windowed layers keep at most, ascending; empty: every layer keeps all.
    const std::vector<std::int64_t>& windows() const { return windows_; }
    /// The language model at these sizes; kept for later calls when it is asked for again.
    std::shared_ptr<const BoundModel> bound(std::int64_t batch, std::int64_t sequence,
                                            std::int64_t past) const;
    /// The parts that run once per prompt before the language model (vision tower, projector).
    const std::vector<ModelPart>& before() const { return before_; }
    /// A part that runs before the language model, bound at a batch.
    std::shared_ptr<const BoundModel> bound_before(std::size_t part, std::int64_t batch) const;
    /// Tokens that the other parts add to the text of a prompt (image tokens).
    std::int64_t inserted_tokens() const { return inserted_; }

  private:
    /// Sizes that are kept, those of last use: of all that were asked for twice, the steps at which a serving
    /// engine is priced (EnginePrices) on several devices; of the others, which one device needs once, few.
    static constexpr std::size_t kMost = 192, kMostOnce = 4;
    struct Sizes {
        std::int64_t batch, sequence, past;
        bool operator==(const Sizes&) const = default;
    };
    struct Entry {
        Sizes sizes;
        std::shared_ptr<const BoundModel> model;
        bool again = false; ///< asked for twice
    };
    void keep(Entry entry) const;

    ImportedGraph language_;
    Bindings bindings_;
    const OperatorRegistry& operators_;
    std::string sequence_symbol_;
    std::vector<std::string> past_symbols_; ///< of the caches, all of one length
    std::vector<std::int64_t> windows_;
    std::string total_symbol_; ///< of a mask over cached and new tokens; empty: it has none of its own
    std::string branch_input_; ///< tells a merged decoder to read the cache; empty: there is none
    std::optional<Precision> stored_weights_;
    std::optional<Precision> stored_alone_, stored_cache_;
    std::vector<ModelPart> before_;
    std::vector<ImportedGraph> before_graphs_; ///< one per part before
    std::int64_t inserted_ = 0;
    mutable std::mutex mutex_;
    mutable std::vector<Entry> entries_;
    mutable std::vector<Sizes> asked_; ///< whatever is kept of them
    /// The first of each way to fuse: a step, a prompt and a piece of one, each for one sequence and for
    /// several. Others have their partitions.
    mutable std::vector<std::shared_ptr<const BoundModel>> unlike_;
    mutable std::vector<std::pair<std::int64_t, std::vector<std::shared_ptr<const BoundModel>>>>
        before_bound_;
};

/// The first of the device's stacks that opens GGUF files of such models (Runtime::gguf); empty for another
/// file, and where none does.
std::string stack_of_file(const HardwareDatabase& hardware, const Device& device,
                          const std::filesystem::path& file, GgufModels models);

/// The software stack for language models: what opens a GGUF file, where the device has it; else the device's
/// default where it is made for them or none of the device's stacks is, else the first that is
/// (Runtime::language_models), in the order of the device's file.
std::string language_runtime(const HardwareDatabase& hardware, const Device& device,
                             const std::filesystem::path& file = {});

/// The same for answers that nobody serves to many: where nothing was measured of such devices under that
/// stack, the first of the device's for language models under which something was, if there is one.
std::string measured_language_runtime(const Session& session, std::string_view hardware,
                                      const std::filesystem::path& file = {});

/// A request for floats of 16 bits or fewer of a model whose weights are stored as integers: that of these
/// integers, where the stack has kernels for them, since what it multiplies them in is its own choice.
/// Worked: an AWQ checkpoint in bf16 or fp8 is w4a16. Narrower floats ask for products of the checkpoint's
/// own where it has some: `stored` is then GenerationModel::stored_alone.
PrecisionConfig with_stored_weights(const Machine& machine, const PrecisionConfig& requested,
                                    std::optional<Precision> stored);

/// A request as language-model stacks execute it: integer formats that the stack offers for weights alone
/// quantise the weights and multiply in 16 bits; narrow floats keep 16-bit activations; bits per weight, of
/// the output projection and of the cache as the stack states them, unless the user gave the cache's.
/// `supported` is false when it has no such kernels.
ExecutedPrecision language_precision(const Machine& machine, const PrecisionConfig& requested,
                                     std::optional<Precision> kv_cache);

/// The result's estimate is that of the whole answer (its subgraphs those of a decode step in the middle),
/// Result::generation tells the phases apart. Conditions::devices = 0 takes the smallest power of two of
/// devices that holds the model.
class PreparedPrompt : public Prepared {
  public:
    PreparedPrompt(std::shared_ptr<const GenerationModel> model, std::int64_t batch, const Prompt& prompt);

    /// Facts of the pass over the prompt.
    std::shared_ptr<const ModelFacts> facts() const override;
    Result on(const Session& session, std::string_view device, const Conditions& conditions) const override;

  private:
    const std::shared_ptr<const GenerationModel> model_;
    const std::int64_t batch_;
    const Prompt prompt_;
};

// Caches of windowed layers as serving engines keep them, for graphs whose file keeps every position.

/// The graph with the caches of its windowed attention cut to their windows, as engines keep them (vLLM's
/// hybrid KV cache manager, llama.cpp's cache of sliding-window layers); null where every window is cut
/// already or there is none. A layer stays as it is where something else reads what its cache holds.
std::shared_ptr<const Graph> with_kept_windows(const Graph& graph);

/// The positions that a size of a cache stands for, and how many of them it keeps: "min(past, 1024)" is past
/// and 1024; a plain name is itself and 0.
struct CacheLength {
    std::string positions;
    std::int64_t window = 0;
};
CacheLength parse_cache_length(std::string_view symbol);

} // namespace archsim
