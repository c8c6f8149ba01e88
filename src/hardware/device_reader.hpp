#pragma once
// A device's JSON document -> Device.

#include "archsim/hardware/device.hpp"

#include "hardware/json_reader.hpp"

namespace archsim {

/// Reads a device whose "extends" is already merged. Problems go to `findings`; null when one of them is an
/// error.
std::shared_ptr<const Device> read_device(const nlohmann::json& document, const std::string& file,
                                          std::vector<Finding>& findings);

/// Reads {"fp16": 4096, ...} under `key` into `rates`.
void read_rates(ObjectReader& owner, std::string_view key, std::array<Fact, kPrecisionCount>& rates);

/// Reads the block named like the device's family.
void read_family(ObjectReader& document, Device& device);

} // namespace archsim
