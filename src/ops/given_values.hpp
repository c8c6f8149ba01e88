#pragma once

#include "archsim/ops/shaped_graph.hpp"

#include <functional>
#include <span>

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

/// The names that the expression is made of, each once, in order; empty for what is a name by itself.
std::vector<std::string> names_in_expression(std::string_view text);

/// The name of which a leading dimension says how many items there are: itself, or the one in its expression
/// ("batch" of "2*batch"); empty where that is not one.
std::string leading_name(const std::string& symbol);

/// The value of the expression with the sizes that `size_of` knows; nothing where one is unknown, where the
/// result is negative or too large, and for what is a name by itself.
std::optional<std::int64_t>
evaluate_expression(std::string_view text,
                    const std::function<std::optional<std::int64_t>(const std::string&)>& size_of);

} // namespace archsim
