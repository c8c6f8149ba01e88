// Names of enumerations, and look-ups by name that every part of the module shares.

#include "archsim/hardware/device.hpp"
#include "archsim/hardware/events.hpp"

#include "core/text.hpp"
#include "hardware/parameter_table.hpp"

namespace archsim {

constexpr std::string_view kEngineClasses[] = {"matrix", "vector", "special"};

std::string_view name_of(EngineClass kind) {
    return name_in(kEngineClasses, kind);
}

std::optional<EngineClass> parse_engine_class(std::string_view text) {
    for (const std::string_view& name : kEngineClasses)
        if (name == text)
            return static_cast<EngineClass>(&name - kEngineClasses);
    return std::nullopt;
}

const ParameterInfo& info_of(Parameter p) {
    return kParameterInfos[static_cast<std::size_t>(p)];
}

std::optional<Parameter> parse_parameter(std::string_view name) {
    for (std::size_t i = 0; i < kParameterInfos.size(); ++i)
        if (kParameterInfos[i].name == name)
            return static_cast<Parameter>(i);
    return std::nullopt;
}

std::string_view name_of(Event event) {
    static constexpr std::string_view kNames[] = {
        "mac",           "vector_op",    "special_op",         "instruction",      "register_byte",
        "l1_byte",       "l2_byte",      "llc_byte",           "dram_byte",        "coherence",
        "scheduling",    "systolic_hop", "weight_load_byte",   "accumulator_byte", "domain_token",
        "streamer_byte", "routing_byte", "configuration_byte", "host_link_byte",   "host_busy_second"};
    return name_in(kNames, event);
}

} // namespace archsim
