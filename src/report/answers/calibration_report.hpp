#pragma once
// A calibration for people and for programs.

#include "archsim/core/export.hpp"
#include "archsim/extend/renderer.hpp"
#include "compare/calibration.hpp"

#include <string>

namespace archsim {

ARCHSIM_API Report describe(const Calibration& calibration, PlainView view = {},
                            Format format = Format::text);
/// {"schema": "archsim.calibrate_device/1", "subject", "parameters": [...], "errors": {"before", "training",
/// "left_out"}, "rows": [...]}
ARCHSIM_API std::string to_json(const Calibration& calibration, PlainView view = {});

} // namespace archsim
