#pragma once
// A model ready for any device: one graph, several parts, or a language model that answers a prompt.

#include "archsim/run/generation.hpp"
#include "archsim/run/session.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace archsim {

struct Subject {
    std::shared_ptr<const ModelFacts> facts;
    std::function<Result(const std::string& hardware, const RunOptions& options)> run;
};

/// `session` must outlive the subject. Throws InputError for unknown models.
Subject make_subject(const Session& session, const std::string& model, std::int64_t batch,
                     const Bindings& bindings,
                     const std::optional<GenerationRequest>& generation = std::nullopt);

} // namespace archsim
