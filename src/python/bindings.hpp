#pragma once
// What the files of the extension module share.

#include "archsim/run/workload.hpp"

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <string>

/// Conditions from keyword arguments; throws UsageError for names that do not exist.
archsim::Conditions conditions(const std::string& precision, const std::string& stack,
                               const std::string& scenario, const std::string& scope, int devices);

/// The prompt that keyword arguments ask for; none where neither is given. Throws UsageError below one token.
std::optional<archsim::Prompt> prompt(std::optional<std::int64_t> tokens,
                                      std::optional<std::int64_t> generate);

/// Adds the class DesignSpace.
void bind_design_space(pybind11::module_& m);
/// Adds the answers of the other tools, and what saves results.
void bind_answers(pybind11::module_& m);
