#pragma once
#include "answers/sweep/sweep.hpp"

#include <span>
#include <string>

namespace archsim {

/// A digest of what the names of a request stand for: the graphs of the models, the devices with what they
/// extend and the hosts and software stacks that they run with, prices and uncertainties, and every file that
/// was laid over the database.
std::string content_of(const Session& session, const SweepRequest& request, std::span<const Model> models);

} // namespace archsim
