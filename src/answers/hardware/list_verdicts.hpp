#pragma once
// The first lines of what lists and checks rather than compares: how much there is, what stands out in it,
// and what it rests on.

#include "answers/hardware/hardware_list.hpp"

#include <string>
#include <vector>

namespace archsim {

/// "168 devices: 50 GPU, 29 CPU, ...", the fastest and the widest of them, and the share of sourced numbers.
std::vector<std::string> verdict_lines(const HardwareList& list);
/// "H100: 1979 TOPS int8, 989 TFLOPS fp16, 80.0 GB at 3.35 TB/s, 700 W.", and what is assumed.
std::vector<std::string> verdict_lines(const DeviceSheet& sheet);
/// "tensorrt serves 20 devices and is the default of 18.", and what is assumed.
std::vector<std::string> verdict_lines(const RuntimeSheet& sheet);
/// "Sound: 168 devices and 40 software stacks, no findings."
std::vector<std::string> verdict_lines(const HardwareCheck& check);

} // namespace archsim
