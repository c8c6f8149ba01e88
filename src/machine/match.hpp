#pragma once
// Which device of the database a name that the hardware gives itself stands for.

#include "archsim/hardware/device.hpp"
#include "machine/processor.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

using Devices = std::vector<std::shared_ptr<const Device>>;

struct Match {
    std::shared_ptr<const Device> device; ///< null: none is like it
    bool same = false;                    ///< the very product; otherwise one of its generation
    std::string reason;
};

/// By name; among several the one with most words in common.
std::shared_ptr<const Device> find_by_name(std::string_view name, Family family, const Devices& devices);
/// By name, then by generation: in a virtual machine the largest, otherwise the one nearest in cores.
Match match_processor(const ProcessorSeen& seen, std::string_view board, const Devices& devices);

} // namespace archsim
