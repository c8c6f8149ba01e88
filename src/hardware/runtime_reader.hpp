#pragma once
// JSON documents of software stacks and deployments -> Runtime, Deployment.

#include "archsim/hardware/database.hpp"

#include "hardware/json_reader.hpp"

namespace archsim {

/// Problems go to `findings`; null when one of them is an error.
std::shared_ptr<const Runtime> read_runtime(const JsonValue& document, const std::string& file,
                                            std::vector<Finding>& findings);

std::vector<Deployment> read_deployments(const JsonValue& document, const std::string& file,
                                         std::vector<Finding>& findings);

/// The value under `key`, within the parameter's bounds and in the unit of the table of parameters.
Fact read_parameter_value(ObjectReader& block, std::string_view key, Parameter parameter);

/// Reports a key that names no parameter of the latency model, with the nearest one.
void report_unknown_parameter(ReadContext& context, std::string_view key, const JsonPlace& place);

} // namespace archsim
