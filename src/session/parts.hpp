#pragma once
// Models made of several graphs that run one after another: encoder and decoder, vision tower and language
// model, the two sides of CLIP.

#include "session/divided_denoisers.hpp"
#include "session/prepared.hpp"

#include <vector>

namespace archsim {

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
