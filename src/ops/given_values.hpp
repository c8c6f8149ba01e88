#pragma once
#include "archsim/ops/shaped_graph.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// Takes the size of a symbolic dimension from "NAME=SIZE", like "sequence=384". `flag` names the origin in
/// messages. Throws UsageError unless the size is a whole number that is not negative.
void give_dim(Bindings& bindings, std::string_view text, std::string_view flag);

/// Takes the values of a small input from "NAME=V,V,...", like "scales=1,1,2,2". Throws UsageError unless all
/// are whole numbers.
void give_input(Bindings& bindings, std::string_view text, std::string_view flag);

/// Takes the whole shape of an input from "NAME=1,3,224,224". Throws UsageError unless all are whole numbers
/// that are not negative.
void give_shape(Bindings& bindings, std::string_view text, std::string_view flag);

/// The flags that findings about missing sizes ask for, with sizes at which the model binds: "--dim H=224",
/// "--input-shape x=1,3,224,224". Quoted for a shell, each once.
std::vector<std::string> sizes_wanted(std::span<const Finding> findings);

} // namespace archsim
