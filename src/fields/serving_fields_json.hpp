#pragma once
// A request to a server as JSON, from the rows of its fields.

#include "archsim/run/serve.hpp"
#include "fields/json_members.hpp"

namespace archsim {

/// Every field by its key, but for those whose value is the content of a file: {"rate": 2, "prompt_tokens":
/// null, ...}. Null: what a new request has.
Members<ServingRequest> server_members();

} // namespace archsim
