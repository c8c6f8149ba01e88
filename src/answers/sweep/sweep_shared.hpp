#pragma once
// What the threads of a sweep share: models bound to batches, and devices made ready.

#include "answers/sweep/sweep.hpp"
#include "archsim/hardware/device_changes.hpp"
#include "session/bound_model.hpp"

#include <compare>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

namespace archsim {

/// A device of the request with its structure changed.
struct MachineKey {
    std::size_t hardware = 0;
    DeviceChanges structure;
    auto operator<=>(const MachineKey&) const = default;
};

class SweepShared {
  public:
    /// `sizes` are those of each model. Keeps as many bound models as `threads` threads are at. The arguments
    /// must outlive it.
    SweepShared(const Session& session, const SweepRequest& request, std::span<const Model> models,
                std::span<const Bindings> sizes, unsigned threads);

    /// The sweep that is asked for.
    const SweepRequest& request() const { return request_; }
    /// Whether points of the model are passes over one graph, which have much in common.
    bool one_graph(std::size_t model) const { return !request_.prompt && models_[model].parts.empty(); }
    /// A point of any other model: one of several parts, or one that answers a prompt.
    Result answer(std::size_t model, std::size_t batch, std::size_t hardware,
                  const Conditions& conditions) const;
    /// What the model is called.
    const std::string& model_name(std::size_t model) const { return models_[model].info.name; }
    /// The model at a batch, both as indices into the request.
    std::shared_ptr<const BoundModel> bound(std::size_t model, std::size_t batch);
    /// The device as the database states it but for its structure; null with a reason where it cannot be
    /// made.
    std::shared_ptr<const Machine> machine(const MachineKey& key, std::string& reason);

  private:
    struct Slot {
        std::size_t model, batch;
        std::mutex making; ///< others who want this one wait, and nobody else does
        std::shared_ptr<const BoundModel> bound;
    };
    std::shared_ptr<Slot> slot(std::size_t model, std::size_t batch);
    std::shared_ptr<const BoundModel> smaller_of_another(std::size_t model, std::int64_t batch);

    const Session& session_;
    const SweepRequest& request_;
    const std::span<const Model> models_;
    const std::span<const Bindings> sizes_;
    const std::size_t kept_;
    std::mutex mutex_;                       ///< of both collections
    std::list<std::shared_ptr<Slot>> slots_; ///< latest first
    std::map<MachineKey, std::shared_ptr<const Machine>> machines_;
};

/// A digest of what the names of a request stand for: the graphs of the models, the devices with what they
/// extend and the hosts and software stacks that they run with, prices and uncertainties, and every file that
/// was laid over the database.
std::string content_of(const Session& session, const SweepRequest& request, std::span<const Model> models);

} // namespace archsim
