#pragma once
// The catalogue of shipped models: models/catalogue/*.json.

#include "archsim/core/export.hpp"
#include "archsim/core/precision.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// Figures that others published, to hold ours against.
struct PublishedFigures {
    double parameters = 0, gmacs = 0; ///< 0 = not published
    /// Relative room of the published figure: its rounding, or a stated difference of definition.
    double parameters_tolerance = 0, gmacs_tolerance = 0.002;
    std::map<std::string, std::int64_t> dims; ///< sizes the MACs belong to
    std::string source;
};

/// A stage of a multi-part model (encoder and decoder, vision tower and language model, text encoder and
/// denoiser).
struct ModelPart {
    std::string name, model;
    double repeat = 1;
    std::map<std::string, std::int64_t> dims;
    std::vector<std::string> times; ///< sizes that multiply `repeat`: "steps" of a denoiser
};

/// Configuration of an autoregressive language model.
struct LanguageModel {
    double layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_size = 0, vocabulary = 0, max_context = 0;
    double experts = 0, active_experts = 0; ///< 0: dense
};

/// A model of the catalogue, with the figures that were published for it.
struct CatalogueEntry {
    std::string name, title, family, task, kind, source;
    std::vector<std::string> aliases;
    std::filesystem::path file;               ///< absolute; empty for a model made of parts only
    std::map<std::string, std::int64_t> dims; ///< defaults of symbolic dimensions
    std::vector<std::string> buffers;         ///< name patterns of initialisers that are not learned
    double not_exported_parameters = 0;       ///< published, but absent from the inference graph
    std::string macs_formula;
    std::optional<PublishedFigures> published;
    std::vector<ModelPart> parts;
    std::optional<LanguageModel> language_model;
    std::optional<PrecisionConfig> format;   ///< of a user's own file: that of its numbers
    std::optional<PrecisionConfig> products; ///< of a checkpoint that quantises activations too
};

/// The models that come with the library. Names are read at once, an entry when somebody asks for it; safe to
/// use from several threads.
class Catalogue {
  public:
    /// Without models.
    Catalogue();
    /// Copies share what was read. Lists every file of `folder`/catalogue; throws InputError naming the file
    /// and place of a mistake, of one inside an entry where that is first asked for.
    explicit Catalogue(const std::filesystem::path& folder);

    /// Whether no model is listed.
    ARCHSIM_PRIVATE bool empty() const;
    ARCHSIM_API const std::vector<CatalogueEntry>& entries() const; ///< sorted by name
    /// By name or alias, case-insensitive; null when there is none.
    ARCHSIM_API const CatalogueEntry* find(std::string_view name) const;
    /// Names closest to `name`.
    ARCHSIM_PRIVATE std::vector<std::string> nearest(std::string_view name) const;

  private:
    struct State;
    std::shared_ptr<State> state_;
};

} // namespace archsim
