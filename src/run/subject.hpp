#pragma once
// A model ready for any device: one graph, several parts, or a language model that answers a prompt.

#include "archsim/run/generation.hpp"
#include "archsim/run/session.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace archsim {

struct Subject {
    std::shared_ptr<const ModelFacts> facts;
    std::function<Result(const std::string& hardware, const RunOptions& options)> run;
    /// The same on a machine at hand, for searches; empty for what needs several machines or graphs.
    std::function<Result(const std::string& hardware, std::shared_ptr<const Machine> machine,
                         const RunOptions& options)>
        run_on;
};

/// `session` must outlive the subject. Throws InputError for unknown models.
Subject make_subject(const Session& session, const std::string& model, std::int64_t batch,
                     const Bindings& bindings,
                     const std::optional<GenerationRequest>& generation = std::nullopt);

/// The same model at several batches, imported once and kept.
class SubjectAtBatches {
  public:
    SubjectAtBatches(const Session& session, std::string model, Bindings bindings)
        : session_(session), name_(std::move(model)), bindings_(std::move(bindings)) {}
    const Subject& at(std::int64_t batch);
    const Session& session() const { return session_; }

  private:
    const Session& session_;
    const std::string name_;
    const Bindings bindings_;
    std::optional<Model> model_;
    std::map<std::int64_t, Subject> known_;
};

} // namespace archsim
