#pragma once
// What a stack's server does unless its options say otherwise: hardware_db/servers.json.

#include "archsim/map/machine.hpp"
#include "archsim/serving/simulation.hpp"

#include <filesystem>

namespace archsim {

/// The plan with what it leaves open (ServingRequest::plan) as `file` has it for the machine's stack and
/// memory: a step and a batch of ServingPlan's own, and no time of a request, where it has nothing. Throws
/// InputError for a file that is not as it should be.
ServingPlan with_server_defaults(ServingPlan plan, const Machine& machine, const std::filesystem::path& file);

} // namespace archsim
