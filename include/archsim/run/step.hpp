#pragma once
// One step of a serving engine: what simulators that have a scheduler of their own ask for.

#include "archsim/core/export.hpp"
#include "archsim/run/serve.hpp"

#include <memory>
#include <span>

namespace archsim {

/// Time and energy of one step of an engine, all its devices together.
struct EngineStep {
    double seconds = 0, joules = 0;
    double low_s = 0, high_s = 0; ///< 90 % interval of the time
};

/// A model on a device under a stack, shared as one engine, that prices any batch: the very function that
/// run_serving() prices its own steps by. Safe to use from several threads. It keeps what it needs: session
/// and model may be gone. Copies share their prices.
/// @code
/// const Session session;
/// const StepEngine engine(session, session.load("qwen3-8b"), "H100");
/// const std::vector<StepRequest> batch = {{1, 1000}, {1, 3000}, {512, 0}}; // two generate, one prompt
/// const EngineStep step = engine.step(batch);
/// assert(step.seconds > 0.005 && step.seconds < 0.1 && step.joules > 0);
/// @endcode
class ARCHSIM_API StepEngine {
  public:
    /// The engine of a request to run_serving(): its parallelism, its compilation and its drafted tokens
    /// count; lengths say what must fit beside the weights. Throws InputError with the reason for a device
    /// that cannot serve the model, UsageError for a model without a cache of keys and values.
    StepEngine(const Session& session, const Model& model, std::string_view device,
               const Conditions& conditions = {}, const ServingRequest& request = {});

    /// A step over these sequences, as StepLoad::of() tells prompts from those that generate. The first
    /// steps of a size estimate the sizes around it (milliseconds), later ones are read between them
    /// (microseconds). Throws UsageError for an empty step or counts that cannot be, InputError where a size
    /// cannot be estimated.
    EngineStep step(std::span<const StepRequest> requests) const;
    /// Bytes for caches, over all devices of the engine.
    double cache_room_bytes() const;
    /// Cache of one sequence of that many positions, over all devices of the engine.
    double cache_bytes(double positions) const;
    /// How the devices share the model.
    const Parallelism& parallelism() const;

  private:
    struct State;
    std::shared_ptr<State> state_;
};

} // namespace archsim
