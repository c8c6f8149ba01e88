#pragma once
// A device's JSON document -> Device.

#include "archsim/hardware/database.hpp"
#include "archsim/hardware/device.hpp"
#include "hardware/json_reader.hpp"
#include "hardware/operator_rules.hpp"
#include "hardware/stated_facts.hpp"

namespace archsim {

/// The part of a device that could be read, whatever is wrong with the rest.
struct DeviceReading {
    std::shared_ptr<Device> device = std::make_shared<Device>();
    std::vector<Finding> findings;
    bool usable = false; ///< none of the findings is an error
};

/// Reads a device whose "extends" is already merged.
DeviceReading read_device_fields(const JsonValue& document, const std::string& file);

/// The device, for use. Problems go to `findings`; null when one of them is an
/// error.
std::shared_ptr<const Device> read_device(const JsonValue& document, const std::string& file,
                                          std::vector<Finding>& findings);

/// Reads {"fp16": 4096, ...} under `key` into `rates`.
void read_rates(ObjectReader& owner, std::string_view key, std::array<Fact, kPrecisionCount>& rates);

/// Problems go to `findings`; null when one of them is an error.
std::shared_ptr<const Runtime> read_runtime(const JsonValue& document, const std::string& file,
                                            std::vector<Finding>& findings);

std::vector<Deployment> read_deployments(const JsonValue& document, const std::string& file,
                                         std::vector<Finding>& findings);

/// The value under `key`, within the parameter's bounds and in the unit of the table of parameters.
Fact read_parameter_value(ObjectReader& block, std::string_view key, Parameter parameter);

/// Reports a key that names no parameter of the latency model, with the nearest one.
void report_unknown_parameter(ReadContext& context, std::string_view key, const JsonPlace& place);

std::shared_ptr<const OperatorRules> read_operator_rules(ObjectReader& block);

/// Operators that no row of the operator table describes, as they are named in these rules.
std::vector<std::string> unknown_operators(const OperatorRules& rules);

/// `base` with the members of `derived` on top. Objects merge member by member, quantities are replaced
/// whole, arrays of named objects (engines, memory, power modes) merge by name, null removes. Identity is not
/// inherited; nor are stated peaks when the engines or clocks change, since they describe the base. Sources
/// of the base are renamed "<base id>:<key>" so that the derived file's own keys cannot capture them.
JsonDocument extend_device(JsonDocument base, JsonDocument derived, const std::string& base_id);

/// Walks a document: quantities, and plain numbers inside objects that name a source.
std::vector<StatedFact> stated_facts(const JsonValue& document);

/// Equal to count_sources(stated_facts(document)), without writing down a text.
SourceCounts stated_sources(const JsonValue& document);

} // namespace archsim
