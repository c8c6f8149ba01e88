#pragma once
// A calibration for people and for programs.

#include "archsim/extend/renderer.hpp"
#include "fit/parameters/calibrate.hpp"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace archsim {

Report describe(const Calibration& calibration, PlainView view = {}, Format format = Format::text);
/// {"schema": "archsim.calibrate_device/1", "subject", "parameters": [...], "errors": {"before", "training",
/// "left_out"}, "rows": [...]}
std::string to_json(const Calibration& calibration, PlainView view = {});
nlohmann::ordered_json calibrate_device_schema();

} // namespace archsim
