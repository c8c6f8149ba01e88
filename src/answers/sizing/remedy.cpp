#include "answers/sizing/remedy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace archsim {

namespace {

// Formats of servers, the widest that helps first.
constexpr std::array kNarrower = {"fp8", "int8", "w4a16"};
// A prompt that is shortened by what it misses the limit by, and a fifth at a time more.
constexpr double kShorter = 0.8;
constexpr int kPrompts = 3;

std::string devices_text(const SizedDevice& d) {
    const std::int64_t devices = d.layout->devices();
    return fmt::format("{} device{} ({})", devices, devices == 1 ? "" : "s",
                       to_string(d.layout->run.parallelism));
}

} // namespace

std::string remedy(const SizingBasis& basis, const SizedDevice& miss, const Conditions& conditions) {
    if (miss.layout && miss.holds)
        return fmt::format("a budget of {:.3g} USD/h", miss.layout->usd_per_hour.value_or(0));
    for (const char* format : kNarrower) {
        Conditions narrower = conditions;
        narrower.precision = precision_named(format);
        const SizedDevice sized = size_device(basis, miss.hardware, narrower);
        if (sized.holds && sized.within_budget && sized.precision != miss.precision)
            return fmt::format("--precision {} holds on {}", format, devices_text(sized));
    }
    const SizingPressure& over = miss.layout ? miss.layout->pressure : miss.nearest;
    const bool of_prompt = over.limit == SizingLimit::time_to_first || over.limit == SizingLimit::end_to_end;
    double prompt = basis.request.serving.load.prompt_tokens / std::max(1.0, over.ratio);
    const RequestPlan& load = basis.request.serving.load;
    const bool one_length = load.lengths.empty() && load.trace == nullptr;
    for (int i = 0; i < kPrompts && of_prompt && one_length; ++i) {
        prompt *= kShorter;
        SizingRequest shorter = basis.request;
        // Two digits are enough for a hint.
        const double digit = std::pow(10, std::floor(std::log10(std::max(1.0, prompt))) - 1);
        shorter.serving.load.prompt_tokens = std::max(1.0, digit * std::floor(prompt / digit));
        SizingBasis own{basis.session,   basis.model, shorter,      basis.cost,
                        basis.deviation, basis.heads, basis.experts};
        const SizedDevice sized = size_device(own, miss.hardware, conditions);
        if (sized.holds && sized.within_budget)
            return fmt::format("a prompt of {:.0f} tokens holds on {}", shorter.serving.load.prompt_tokens,
                               devices_text(sized));
    }
    if (miss.layout)
        return fmt::format("--confidence {:.2f}", miss.layout->probability);
    return "";
}

} // namespace archsim
