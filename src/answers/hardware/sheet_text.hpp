#pragma once
// Words and tables that the sheets of devices and software stacks share.

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

} // namespace archsim
