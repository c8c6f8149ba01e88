#include "hardware/parameter_site.hpp"

#include "core/text.hpp"

#include <fmt/format.h>

namespace archsim {

static auto entry_of(auto& runtime, Parameter parameter) {
    return std::ranges::find(runtime.parameters, parameter, &ParameterEntry::parameter);
}

static auto fit_of(auto& device, Parameter parameter, const std::string& runtime) {
    return std::ranges::find_if(device.fitted, [&](const FittedParameter& fit) {
        return fit.name == info_of(parameter).name && same_ignoring_case(fit.runtime, runtime);
    });
}

static auto generation_of(auto& entry, const std::string& generation) {
    return std::ranges::find_if(entry.by_generation,
                                [&](const auto& pair) { return same_ignoring_case(pair.first, generation); });
}

/// A value that stands in keeps its provenance: the sensitivity of an estimate to a fitted value is not a
/// new source.
static void replace(Fact& fact, double value) {
    fact.value = value;
    if (fact.source == nullptr)
        fact.source = std::make_shared<const Source>(Source{SourceKind::fitted, "a fit under way"});
}

std::string place_in_stack(Parameter parameter) {
    const ParameterInfo& info = info_of(parameter);
    return info.kernel.empty() ? fmt::format("/parameters/{}", info.key)
                               : fmt::format("/kernels/{}/{}", info.kernel, info.key);
}

std::string to_string(const ParameterSite& site) {
    const std::string_view name = info_of(site.parameter).name;
    if (!site.device.empty())
        return site.runtime.empty() ? fmt::format("{} of {}", name, site.device)
                                    : fmt::format("{} of {} with {}", name, site.device, site.runtime);
    return site.generation.empty() ? fmt::format("{} of {}", name, site.runtime)
                                   : fmt::format("{} of {} on {}", name, site.runtime, site.generation);
}

bool holds_on(std::string_view key, const Device& device) {
    return same_ignoring_case(key, device.generation) ||
           (!key.empty() && device.interconnect_type.starts_with(key));
}

std::optional<ParameterSite> site_of(const Device& device, const Runtime& runtime, Parameter parameter) {
    for (const std::string& stack : {runtime.id, std::string()})
        if (fit_of(device, parameter, stack) != device.fitted.end())
            return ParameterSite{device.id, stack, {}, parameter};
    const auto entry = entry_of(runtime, parameter);
    if (entry == runtime.parameters.end())
        return std::nullopt;
    const auto& keys = entry->by_generation;
    const auto own = std::find_if(keys.rbegin(), keys.rend(),
                                  [&](const auto& key) { return holds_on(key.first, device); });
    if (own != keys.rend())
        return ParameterSite{{}, runtime.id, own->first, parameter};
    if (entry->value.known())
        return ParameterSite{{}, runtime.id, {}, parameter};
    return std::nullopt;
}

const Fact* stated_at(const Device& device, const Runtime& runtime, const ParameterSite& site) {
    if (!site.device.empty()) {
        const auto fit = fit_of(device, site.parameter, site.runtime);
        return fit == device.fitted.end() ? nullptr : &fit->fact;
    }
    const auto entry = entry_of(runtime, site.parameter);
    if (entry == runtime.parameters.end())
        return nullptr;
    if (site.generation.empty())
        return entry->value.known() ? &entry->value : nullptr;
    const auto own = generation_of(*entry, site.generation);
    return own == entry->by_generation.end() ? nullptr : &own->second;
}

void apply(const ParameterOverrides& overrides, Device& device, Runtime& runtime) {
    for (const auto& [site, value] : overrides) {
        if (!site.device.empty()) {
            if (site.device != device.id)
                continue;
            auto fit = fit_of(device, site.parameter, site.runtime);
            if (fit == device.fitted.end()) {
                device.fitted.push_back({std::string(info_of(site.parameter).name), Fact{}, site.runtime});
                fit = std::prev(device.fitted.end());
            }
            replace(fit->fact, value);
            continue;
        }
        if (site.runtime != runtime.id)
            continue;
        auto entry = entry_of(runtime, site.parameter);
        if (entry == runtime.parameters.end()) {
            runtime.parameters.push_back({site.parameter, Fact{}, {}});
            entry = std::prev(runtime.parameters.end());
        }
        if (site.generation.empty()) {
            replace(entry->value, value);
            continue;
        }
        auto own = generation_of(*entry, site.generation);
        if (own == entry->by_generation.end()) {
            entry->by_generation.emplace_back(site.generation, Fact{});
            own = std::prev(entry->by_generation.end());
        }
        replace(own->second, value);
    }
}

} // namespace archsim
