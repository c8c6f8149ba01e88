#pragma once
// One name for layers that differ in their numbers: "/encoder/layer.*/attention/self/MatMul".

#include <string>
#include <vector>

namespace archsim {

/// The names with a star for each number that differs; the first name where they differ in more than numbers.
std::string common_name(const std::vector<std::string>& names);

/// The name with a star for every number: equal for names that differ in numbers alone.
std::string name_shape(const std::string& name);

/// Its last `most` characters after "...", where it is longer.
std::string shortened_name(const std::string& name, std::size_t most);

} // namespace archsim
