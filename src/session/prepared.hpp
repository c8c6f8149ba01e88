#pragma once
// A workload ready for any device: one graph, several parts, or a language model that answers a prompt.

#include "archsim/run/session.hpp"
#include "session/bound_model.hpp"

#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace archsim {

/// Bound and counted once, run on any number of devices. Immutable; safe to share between threads.
class Prepared {
  public:
    virtual ~Prepared() = default;
    /// See Session::facts.
    virtual std::shared_ptr<const ModelFacts> facts() const = 0;
    /// Never throws for a device.
    virtual Result on(const Session& session, std::string_view device,
                      const Conditions& conditions) const = 0;
    /// The graph, for searches that bring their own machines; null for what needs several.
    virtual std::shared_ptr<const BoundModel> graph() const { return nullptr; }

    const std::shared_ptr<const Workload>& workload() const { return workload_; }
    /// Keeps what was prepared; of the model its own format alone, since it keeps this.
    void keep(const Workload& workload) {
        auto kept = std::make_shared<Workload>(workload);
        kept->model = Model{};
        kept->model.info.format = workload.model.info.format;
        workload_ = std::move(kept);
    }

  private:
    std::shared_ptr<const Workload> workload_;
};

class GenerationModel;

/// True where both leave every size the same.
inline bool same_sizes(const Bindings& a, const Bindings& b) {
    const auto all = [](const Bindings& x) {
        return std::tie(x.dims, x.input_shapes, x.input_values, x.input_real_values, x.input_sequences,
                        x.batch_size);
    };
    return all(a) == all(b);
}

/// The workloads that a Model was prepared for already, the latest first.
class PreparedWorkloads {
  public:
    /// `operators` null: the standard ones.
    explicit PreparedWorkloads(std::shared_ptr<const OperatorRegistry> operators);

    const OperatorRegistry& operators() const;
    /// The language model at sizes besides batch and lengths; kept.
    std::shared_ptr<const GenerationModel> language(const Model& model, const Bindings& sizes);
    /// The workload as prepared before, or by `make`, which gets the graphs of those before it.
    template <class Make>
    std::shared_ptr<const Prepared> get(const Workload& workload, const Make& make) {
        const std::lock_guard lock(mutex_);
        for (const Entry& known : entries_)
            if (known.batch == workload.batch && known.prompt == workload.prompt &&
                same_sizes(known.sizes, workload.sizes))
                return known.prepared;
        std::vector<std::shared_ptr<const BoundModel>> earlier;
        for (const Entry& known : entries_)
            if (auto graph = known.prepared->graph())
                earlier.push_back(std::move(graph));
        const std::shared_ptr<Prepared> made = make(earlier);
        made->keep(workload);
        if (entries_.size() >= kMost)
            entries_.pop_back();
        entries_.push_front({workload.batch, workload.sizes, workload.prompt, made});
        return made;
    }

  private:
    static constexpr std::size_t kMost = 64;
    struct Entry {
        std::int64_t batch;
        Bindings sizes;
        std::optional<Prompt> prompt;
        std::shared_ptr<const Prepared> prepared;
    };
    const std::shared_ptr<const OperatorRegistry> operators_;
    std::mutex mutex_;
    std::list<Entry> entries_;
    std::mutex languages_mutex_;
    std::list<std::pair<Bindings, std::shared_ptr<const GenerationModel>>> languages_;
};

/// Throws InputError for sizes that the model cannot take, UsageError for a prompt to a model that takes
/// none.
std::shared_ptr<const Prepared> prepare(const Workload& workload);

/// Names of the workload's sizes and inputs that its model does not have; what was given for them would be
/// dropped. The message says which names there are.
struct UnknownName {
    std::string name, message;
};
std::vector<UnknownName> unknown_names(const Workload& workload);

/// Throws UsageError for the first name that the model does not have.
void refuse_unknown_names(const Workload& workload);
/// The workload of one of several models that share sizes: without what this one does not have. Throws
/// UsageError for a name that none of them has.
Workload of_shared_sizes(Workload workload, std::span<const Model> models);

} // namespace archsim
