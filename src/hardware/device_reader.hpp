#pragma once
// A device's JSON document -> Device.

#include "archsim/hardware/device.hpp"

#include "hardware/json_reader.hpp"

namespace archsim {

/// What could be read of a device, whatever is wrong with the rest.
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

} // namespace archsim
