#pragma once
// Models made of several graphs: encoder and decoder, vision tower and language model, the two sides of CLIP.

#include "archsim/core/export.hpp"
#include "archsim/run/session.hpp"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace archsim {

/// Every part of a catalogue entry bound at one batch. Immutable; safe to share between threads.
class ARCHSIM_API MultiPartModel {
  public:
    /// One part, bound.
    struct Part {
        ModelPart description;
        std::shared_ptr<const BoundModel> model;
    };

    /// Sizes: the part's own defaults, then those of the whole entry, then the user's, then what the entry
    /// fixes for the part (a decoder's single token).
    MultiPartModel(const Session& session, const CatalogueEntry& entry, std::int64_t batch,
                   const Bindings& bindings = {});

    /// The parts in the order they run.
    const std::vector<Part>& parts() const { return parts_; }
    /// Of all parts: work times executions; a weight that several parts share (same name, type and shape)
    /// once.
    std::shared_ptr<const ModelFacts> facts() const { return facts_; }

    /// One result for the whole model with one per part in Result::parts. Parts run one after another: times
    /// and energies add up with their repeats; weights of all parts are in memory at once. The whole has the
    /// status of the first part that fails. Never throws for a device.
    Result run(const Session& session, std::string_view hardware, const RunOptions& options) const;

  private:
    std::vector<Part> parts_;
    std::shared_ptr<const ModelFacts> facts_;
    std::vector<std::vector<TensorId>>
        repeated_weights_; ///< per part: weights that an earlier part holds already
};

} // namespace archsim
