#pragma once
// What a sweep found, in sentences, and how its points are called.

#include "answers/sweep/sweep_report.hpp"

#include <string>
#include <vector>

namespace archsim {

/// "1.22x": a factor on a part of a device.
std::string factor_text(double factor);
/// "TPU-v4, bandwidth 1.22x, batch 8, bf16"; what is as the device states it (1x) is left out.
std::string point_label(const SweepRow& row, const std::vector<SweepAxis>& axes);
/// "resnet50: fastest TPU-v4, bandwidth 1.22x, batch 1, bf16: 191 us; least energy ...", a line per model,
/// then the part that matters most and the size of the front.
std::vector<std::string> sweep_lines(const SweepSummary& summary);

} // namespace archsim
