#pragma once
// A language model that answers a prompt, as a workload.

#include "session/generation/language_model.hpp"
#include "session/prepared.hpp"

namespace archsim {

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

} // namespace archsim
