#include "answers/sweep/sweep_worker.hpp"

#include <utility>

namespace archsim {

namespace {

/// A structure of a thousand steps is a thousand devices, several of them as many as there are points.
constexpr std::size_t kMachines = 4096;

} // namespace

SweepShared::SweepShared(const Session& session, const SweepRequest& request, std::span<const Model> models,
                         std::span<const Bindings> sizes, unsigned threads)
    : session_(session), request_(request), models_(models), sizes_(sizes),
      kept_((threads + 1) * request.batches.size()) {}

std::shared_ptr<SweepShared::Slot> SweepShared::slot(std::size_t model, std::size_t batch) {
    const std::lock_guard lock(mutex_);
    for (const auto& known : slots_)
        if (known->model == model && known->batch == batch)
            return known;
    if (slots_.size() >= kept_)
        slots_.pop_back();
    auto& made = slots_.emplace_front(std::make_shared<Slot>());
    made->model = model;
    made->batch = batch;
    return made;
}

Result SweepShared::answer(std::size_t model, std::size_t batch, std::size_t hardware,
                           const Conditions& conditions) const {
    const Workload workload{models_[model], request_.batches[batch], sizes_[model], request_.prompt,
                            !request_.prompt};
    return session_.estimate(workload, request_.hardware[hardware], conditions);
}

std::shared_ptr<const BoundModel> SweepShared::bound(std::size_t model, std::size_t batch) {
    const auto place = slot(model, batch);
    const std::lock_guard lock(place->making);
    if (!place->bound)
        place->bound = smaller_of_another(model, request_.batches[batch]);
    if (!place->bound)
        place->bound = session_.bind(models_[model], request_.batches[batch], sizes_[model]);
    return place->bound;
}

/// The one that a larger batch of the sweep is cut into (BoundModel::smaller): bound and counted once for
/// both uses. Null where there is none.
std::shared_ptr<const BoundModel> SweepShared::smaller_of_another(std::size_t model, std::int64_t batch) {
    if (sizes_[model].dims.contains(batch_symbol(*models_[model].graph)))
        return nullptr; // the batch is given, whatever the sweep says
    for (std::size_t i = 0; i < request_.batches.size(); ++i)
        if (request_.batches[i] > batch && next_smaller_batch(request_.batches[i]) == batch)
            return bound(model, i)->smaller();
    return nullptr;
}

std::shared_ptr<const Machine> SweepShared::machine(const MachineKey& key, std::string& reason) {
    {
        const std::lock_guard lock(mutex_);
        if (const auto known = machines_.find(key); known != machines_.end())
            return known->second;
    }
    Conditions conditions = request_.conditions;
    conditions.structure = key.structure;
    try {
        auto made = session_.machine(request_.hardware[key.hardware], conditions);
        const std::lock_guard lock(mutex_);
        if (machines_.size() >= kMachines)
            machines_.clear();
        return machines_.try_emplace(key, std::move(made)).first->second;
    } catch (const Error& problem) {
        reason = problem.what();
        return nullptr;
    }
}

} // namespace archsim
