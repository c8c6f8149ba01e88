#pragma once
// The parts of a configuration, each read by one function.

#include "checkpoint/fields.hpp"
#include "checkpoint/model_types.hpp"

namespace archsim::checkpoint {

/// Ending of the field that holds a number per layer where they differ; the plain field then holds the
/// largest.
inline constexpr std::string_view kPerLayer = "_of_layers";

/// The object that describes a decoder, in the form that the readers take: `attn_config`, `ffn_config` and
/// `ssm_cfg` dissolved, lists of one number per layer replaced by the number where all are equal, and the
/// defaults of the class of its model_type where the file leaves them out. A list that is none per layer
/// counts with its first number and leaves a finding naming `file`.
nlohmann::json in_one_form(const nlohmann::json& text, const std::string& file,
                           std::vector<Finding>& findings);

/// Adds the fields of an object that the class of its model_type fills in.
void fill_in(nlohmann::json& object);

/// Throws InputError that says what `document` describes and what to give instead, where it is no decoder.
/// `text` is its part that would be read, `type` that part's model_type.
void refuse_other_kinds(const nlohmann::json& document, const nlohmann::json& text, const std::string& type,
                        const std::string& file);

enum class HeadKind : std::uint8_t { generates, scores, embeds };
HeadKind head_of(std::string_view architecture);

/// Whether every layer keeps a state and none attends (Mamba).
bool states_alone(Fields& f);
/// The mixer that most layers have; layer patterns change single fields of it.
TokenMixer read_mixer(Fields& f, const Implied& implied, std::int64_t hidden);
/// A layer's feed-forward halves: with experts where the model has them, and without.
struct FeedForwards {
    FeedForward dense, experts;
};
FeedForwards read_feed_forwards(Fields& f, const Implied& implied);
std::vector<bool> read_expert_layers(Fields& f, std::size_t layers);
/// A mixer with a state instead of a cache, and a gated short convolution.
TokenMixer read_recurrent_mixer(Fields& f, std::int64_t hidden);
TokenMixer read_convolution_mixer(Fields& f, std::int64_t hidden);
/// The window of each layer: by list, pattern, period, or the default of the class.
std::vector<LayerWindow> read_windows(Fields& f, const Implied& implied, std::size_t layers,
                                      std::vector<Finding>& findings);
/// The layers from whichever pattern the configuration states.
std::vector<DecoderLayer> read_layers(Fields& f, const Implied& implied, std::size_t count,
                                      const TokenMixer& mixer, const FeedForwards& feed_forwards,
                                      std::vector<Finding>& findings);
/// quantization_config, of any of the methods in use.
void read_quantization(Fields& config, Decoder& decoder);
/// Weights of a vision tower and of its projector.
void read_vision(Fields& config, Decoder& decoder);
/// Whether a configuration is one of a generator, and what its head gives where it is none.
void read_head(Fields& f, Fields& top, Decoder& decoder);
/// Multi-token heads.
void read_prediction(Fields& f, Decoder& decoder);

/// config.json as a decoder.
Decoder read_config(const nlohmann::json& document, const std::string& file, const Budget& budget = {});

} // namespace archsim::checkpoint
