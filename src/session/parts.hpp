#pragma once
// Models made of several graphs that run one after another: encoder and decoder, vision tower and language
// model, the two sides of CLIP.

#include "session/bound_model.hpp"
#include "session/prepared.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace archsim {

// Image and video generators on several devices that divide the tokens of the denoiser.

/// Sequence parallelism (Jacobs et al., DeepSpeed Ulysses, arXiv:2309.14509, as xDiT runs it,
/// arXiv:2411.01738): every device has all weights and 1/n of the tokens of image and prompt. Before
/// attention queries, keys and values are exchanged for all tokens of 1/n of the heads, after it the results
/// are sent back: each device sends (n - 1)/n of its four tensors, and waits. Text encoders and the decoder
/// run whole, on every device alike. Worked: 8 devices and 4608 tokens of 3072 channels in 16 bits: 4 x 7/8 x
/// 576 x 3072 x 2 B = 12.4 MB for each attention.
class DividedDenoisers {
  public:
    /// `bindings` of the whole model.
    DividedDenoisers(const Model& model, std::int64_t batch, const Bindings& bindings,
                     const OperatorRegistry& operators);

    /// Whether the model is a generator.
    bool any() const { return generator_; }
    /// Seconds in which the host makes pictures of 8 bits a channel of what a batch gives, after the device.
    double pictures_s() const;
    /// A part on the devices of `conditions`, all of them together; where the denoiser divides no tokens (a
    /// U-Net) every layer is shared instead. Never throws for a device.
    Result run(const Session& session, const std::shared_ptr<const BoundModel>& whole,
               const std::string& part, std::string_view device, const Conditions& conditions) const;

  private:
    using Denoisers = std::map<std::string, std::shared_ptr<const BoundModel>>; ///< by name of the part
    const Denoisers& on(std::int64_t devices) const;

    CatalogueEntry info_;
    Bindings bindings_;
    std::int64_t batch_;
    const OperatorRegistry& operators_;
    Budget budget_;
    bool generator_ = false;
    mutable std::mutex mutex_;
    mutable std::map<std::int64_t, Denoisers> made_;
};

/// Every part bound at one batch. One result for the whole model with one per part in Result::parts; weights
/// of all parts are in memory at once, one that several share (same name, type and shape) counts once.
class PreparedParts : public Prepared {
  public:
    PreparedParts(const Model& model, std::int64_t batch, const Bindings& bindings,
                  const OperatorRegistry& operators);

    /// The facts of all parts: work times executions.
    std::shared_ptr<const ModelFacts> facts() const override { return facts_; }
    Result on(const Session& session, std::string_view device, const Conditions& conditions) const override;

  private:
    struct Part {
        ModelPart description;
        std::shared_ptr<const BoundModel> model;
        std::vector<TensorId> held_already; ///< weights that an earlier part brought
    };
    std::vector<Part> parts_;
    DividedDenoisers divided_; ///< of an image generator
    std::shared_ptr<const ModelFacts> facts_;
};

} // namespace archsim
