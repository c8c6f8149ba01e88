#pragma once
#include "archsim/core/export.hpp"
#include "archsim/ops/shaped_graph.hpp"

#include <string_view>

namespace archsim {

/// Takes the size of a symbolic dimension from "NAME=SIZE", like "sequence=384". `flag` names the origin in
/// messages. Throws UsageError unless the size is a whole number that is not negative.
ARCHSIM_API void give_dim(Bindings& bindings, std::string_view text, std::string_view flag);

/// Takes the values of a small input from "NAME=V,V,...", like "scales=1,1,2,2". Throws UsageError unless all
/// are whole numbers.
ARCHSIM_API void give_input(Bindings& bindings, std::string_view text, std::string_view flag);

} // namespace archsim
