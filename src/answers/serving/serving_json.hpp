#pragma once
// What documents of servers share: how devices share a model.

#include "archsim/serving/serving_result.hpp"
#include "fields/json_members.hpp"

namespace archsim {

/// Of one engine.
Members<Parallelism> engine_parallelism_members();
/// With the engines beside each other.
Members<Parallelism> parallelism_members();

} // namespace archsim
