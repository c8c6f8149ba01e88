// What the rows of parameters say together.

#include "hardware/parameter_site.hpp"
#include "hardware/uncertainty.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace archsim;

TEST_CASE("a parameter's row agrees with itself", "[hardware]") {
    for (std::size_t i = 0; i < kParameterCount; ++i) {
        const auto parameter = static_cast<Parameter>(i);
        const ParameterInfo& info = info_of(parameter);
        INFO(info.name);
        CHECK(parse_parameter(info.name) == parameter);
        CHECK(info.low < info.high);
        CHECK_FALSE(info.doc.empty());
        CHECK(parameter_of(info.kernel, info.key) == parameter);
        // Who pays for starting or on the host pays a fixed cost; a rate of a memory prices its traffic.
        if (info.role == ParameterRole::start || info.role == ParameterRole::host ||
            info.role == ParameterRole::fallback)
            CHECK(info.prices == Priced::overhead);
        if (info.role == ParameterRole::memory_rate || info.role == ParameterRole::cache_rate)
            CHECK(info.prices == Priced::memory);
        if (info.role != ParameterRole::work)
            CHECK(info.kind == ParameterKind::fitted);
        // A switch, a width in bits and a count of what somebody wrote are looked up, not fitted.
        if (info.unit == "bit" && info.name != "vector_bits")
            CHECK(info.kind == ParameterKind::structural);
    }
}

TEST_CASE("lists of parameters follow from their rows", "[hardware]") {
    const auto& starts = kParametersOf<ParameterRole::start>;
    CHECK(std::find(starts.begin(), starts.end(), Parameter::kernel_overhead) != starts.end());
    CHECK(std::find(starts.begin(), starts.end(), Parameter::host_time) == starts.end());
    std::size_t all = 0;
    for (const ParameterRole role :
         {ParameterRole::work, ParameterRole::start, ParameterRole::fallback, ParameterRole::host,
          ParameterRole::memory_rate, ParameterRole::cache_rate})
        all += parameters_with(role);
    CHECK(all == kParameterCount);
}

TEST_CASE("copies of the host and changes of layout are no arithmetic", "[hardware]") {
    CHECK(info_of(Parameter::host_copy_bandwidth).prices == Priced::overhead);
    CHECK(info_of(Parameter::relayout_share).prices == Priced::memory);
}
