#pragma once
// Words and tables that the sheets of devices and software stacks share.

#include "answers/hardware/hardware_list.hpp"
#include "archsim/extend/renderer.hpp"
#include "hardware/stated_facts.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

std::string joined(const std::vector<std::string>& names, std::string_view separator = ", ");
/// "3 datasheet, 12 assumed": the kinds that there are.
std::string counts_text(const SourceCounts& sources);
/// "/dram/bandwidth" -> {"dram", "bandwidth"}
std::vector<std::string> pointer_steps(const std::string& pointer);
/// Every number with its source; `field` turns a JSON pointer into words.
Table fact_table(const std::vector<StatedFact>& facts,
                 const std::function<std::string(const std::string& pointer)>& field);

/// "168 devices: 50 GPU, 29 CPU, ...", the fastest and the widest of them, and the share of sourced numbers.
std::vector<std::string> verdict_lines(const HardwareList& list);
/// "H100: 1979 TOPS int8, 989 TFLOPS fp16, 80.0 GB at 3.35 TB/s, 700 W.", and what is assumed.
std::vector<std::string> verdict_lines(const DeviceSheet& sheet);
/// "tensorrt serves 20 devices and is the default of 18.", and what is assumed.
std::vector<std::string> verdict_lines(const RuntimeSheet& sheet);
/// "Sound: 168 devices and 40 software stacks, no findings."
std::vector<std::string> verdict_lines(const HardwareCheck& check);

} // namespace archsim
