#pragma once
// The command that measures what an estimate says, in the software stack that it names.

#include "archsim/compare/result.hpp"
#include "measurements/types.hpp"

namespace archsim {

/// The stack's command (Runtime::check) for the model, sizes, prompt, format and cores of an estimate; or why
/// there is none. Of a model of several parts: ask for each part.
CheckCommand check_command(const Result& result);

} // namespace archsim
