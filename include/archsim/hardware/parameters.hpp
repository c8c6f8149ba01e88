#pragma once
// Parameters of the latency model that a software stack (or one device's own fit) sets. The table is the one
// place that names them: a database key that is not listed here is a finding.

#include "archsim/core/provenance.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace archsim {

// row(kernel, cost, ...) for each kernel that a row of the table lists; the preprocessor scans a list once
// for each.
#define ARCHSIM_EACH_KERNEL(row, cost, unit, low, high, prices, kind, role, doc, kernel, ...)                \
    row(kernel, cost, unit, low, high, prices, kind, role, doc)                                              \
        __VA_OPT__(ARCHSIM_NEXT_KERNEL ARCHSIM_PARENTHESES(row, cost, unit, low, high, prices, kind, role,   \
                                                           doc, __VA_ARGS__))
#define ARCHSIM_NEXT_KERNEL() ARCHSIM_EACH_KERNEL
#define ARCHSIM_PARENTHESES ()
#define ARCHSIM_SCAN(...) ARCHSIM_SCAN9(ARCHSIM_SCAN9(ARCHSIM_SCAN9(__VA_ARGS__)))
#define ARCHSIM_SCAN9(...) ARCHSIM_SCAN3(ARCHSIM_SCAN3(ARCHSIM_SCAN3(__VA_ARGS__)))
#define ARCHSIM_SCAN3(...) __VA_ARGS__

enum class Parameter : std::uint16_t {
#define ARCHSIM_PARAMETER(id, unit, low, high, prices, kind, role, doc) id,
#define ARCHSIM_ROW(kernel, cost, unit, low, high, prices, kind, role, doc) kernel##_##cost,
#define ARCHSIM_KERNEL_COST(...) ARCHSIM_SCAN(ARCHSIM_EACH_KERNEL(ARCHSIM_ROW, __VA_ARGS__))
#include "archsim/hardware/parameters.def"
#undef ARCHSIM_PARAMETER
#undef ARCHSIM_ROW
    count_
};
inline constexpr std::size_t kParameterCount = static_cast<std::size_t>(Parameter::count_);

/// Which part of a time a parameter prices: that part's evidence is what is known of its parameters.
enum class Priced : std::uint8_t { arithmetic, memory, overhead };
/// Whether a fit may vary it: what is structural is a property of a stack's code, to be looked up.
enum class ParameterKind : std::uint8_t { fitted, structural };
/// Who pays, for questions that change a part of a machine.
enum class ParameterRole : std::uint8_t {
    work,        ///< the device, while it works
    start,       ///< the device, for starting: a fixed cost per inference, kernel, layer or parallel region
    fallback,    ///< the host, for operators that the device does not take
    host,        ///< the host, for its own part of every inference
    memory_rate, ///< nobody: it is part of the rate of the external memory
    cache_rate   ///< nobody: it is part of the rate of an on-chip memory
};

/// The row of a parameter.
struct ParameterInfo {
    std::string_view name, unit;
    double low, high; ///< physical bounds, also the bounds of a fit
    Priced prices;
    ParameterKind kind;
    ParameterRole role;
    std::string_view doc;
    std::string_view kernel; ///< row of a stack's "kernels" that states it; empty: its "parameters" do
    std::string_view key;    ///< there
};
inline constexpr std::array<ParameterInfo, kParameterCount> kParameterInfos = {{
#define ARCHSIM_PARAMETER(id, unit, low, high, prices, kind, role, doc)                                      \
    {#id, unit, low, high, Priced::prices, ParameterKind::kind, ParameterRole::role, doc, {}, #id},
#define ARCHSIM_ROW(kernel, cost, unit, low, high, prices, kind, role, doc)                                  \
    {#kernel "_" #cost,   unit, low,     high, Priced::prices, ParameterKind::kind,                          \
     ParameterRole::role, doc,  #kernel, #cost},
#include "archsim/hardware/parameters.def"
#undef ARCHSIM_PARAMETER
#undef ARCHSIM_ROW
#undef ARCHSIM_KERNEL_COST
#undef ARCHSIM_EACH_KERNEL
#undef ARCHSIM_NEXT_KERNEL
#undef ARCHSIM_PARENTHESES
#undef ARCHSIM_SCAN
#undef ARCHSIM_SCAN9
#undef ARCHSIM_SCAN3
}};
constexpr const ParameterInfo& info_of(Parameter p) {
    return kParameterInfos[static_cast<std::size_t>(p)];
}
/// By its name, which is a key of the database; nothing where no parameter has it.
constexpr std::optional<Parameter> parse_parameter(std::string_view name) {
    for (std::size_t i = 0; i < kParameterCount; ++i)
        if (kParameterInfos[i].name == name)
            return static_cast<Parameter>(i);
    return std::nullopt;
}
/// By its key in a row of "kernels" ("lookup", "cycles"), or among a stack's "parameters" ("", "sync_time").
constexpr std::optional<Parameter> parameter_of(std::string_view kernel, std::string_view key) {
    for (std::size_t i = 0; i < kParameterCount; ++i)
        if (kParameterInfos[i].kernel == kernel && kParameterInfos[i].key == key)
            return static_cast<Parameter>(i);
    return std::nullopt;
}

/// Resolved parameters of one (device, runtime): device fit > runtime value of its generation > runtime
/// default > what the family assumes.
struct ParameterSet {
    std::array<Fact, kParameterCount> facts{};
    /// The parameter with its source; unknown where the stack has no such mechanism.
    const Fact& fact(Parameter p) const { return facts[static_cast<std::size_t>(p)]; }
    /// Value, or `neutral` where the stack has no such mechanism.
    double get(Parameter p, double neutral) const { return fact(p).value_or(neutral); }
};

} // namespace archsim
