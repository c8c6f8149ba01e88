// Names of enumerations, and look-ups by name that every part of the module shares.

#include "archsim/hardware/device.hpp"
#include "hardware/parameter_table.hpp"

namespace archsim {

namespace {

constexpr std::array<std::string_view, 3> kEngineClassNames = {"matrix", "vector", "special"};

} // namespace

std::string_view name_of(EngineClass kind) {
    return kEngineClassNames[static_cast<std::size_t>(kind)];
}

std::optional<EngineClass> parse_engine_class(std::string_view text) {
    for (std::size_t i = 0; i < kEngineClassNames.size(); ++i)
        if (kEngineClassNames[i] == text)
            return static_cast<EngineClass>(i);
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

} // namespace archsim
