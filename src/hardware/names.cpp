// Names of enumerations, and look-ups by name that every part of the module shares.

#include "archsim/hardware/device.hpp"
#include "archsim/hardware/events.hpp"

#include "core/text.hpp"
#include "hardware/parameter_table.hpp"

namespace archsim {

const ParameterInfo& info_of(Parameter p) {
    return kParameterInfos[static_cast<std::size_t>(p)];
}

std::optional<Parameter> parse_parameter(std::string_view name) {
    for (std::size_t i = 0; i < kParameterInfos.size(); ++i)
        if (kParameterInfos[i].name == name)
            return static_cast<Parameter>(i);
    return std::nullopt;
}

} // namespace archsim
