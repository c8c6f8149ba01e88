#include "answers/sizing/layouts.hpp"

#include "result/format_parts.hpp"

#include <array>
#include <cmath>
#include <fmt/format.h>

namespace archsim {

namespace {

// Devices of a node where its file does not say: the PCIe slots of the usual server, a host of TPUs.
constexpr std::int64_t kUsualNode = 8;
constexpr std::int64_t kMostNodes = 8;

bool divides(std::int64_t tensor, double heads) {
    return heads <= 0 || std::fmod(heads, static_cast<double>(tensor)) == 0;
}

} // namespace

std::vector<Parallelism> engine_ways(const Device& device, const ServerMemory& stack, double heads,
                                     bool experts) {
    std::vector<Parallelism> ways = {{}};
    if (!(device.link_bandwidth.known() && device.link_bandwidth.value > 0))
        return ways;
    const std::int64_t node = device.node_devices > 0
                                  ? std::min(kUsualNode, static_cast<std::int64_t>(device.node_devices))
                                  : kUsualNode;
    for (std::int64_t stages = 2; stack.by_layers && stages <= node; stages *= 2)
        ways.push_back(shared_by(stack, stages));
    if (stack.by_layers)
        return ways;
    std::int64_t widest = 1;
    for (std::int64_t tensor = 2; tensor <= node; tensor *= 2) {
        if (divides(tensor, heads)) {
            ways.push_back({.tensor = tensor});
            widest = tensor;
        }
        if (experts)
            ways.push_back({.experts = tensor});
    }
    for (std::int64_t nodes = 2; nodes <= kMostNodes; nodes *= 2)
        ways.push_back({.tensor = widest, .pipeline = nodes});
    return ways;
}

std::optional<double> hourly_price(const Device& device, double devices, const CostOptions& options,
                                   std::string* basis, std::string* market) {
    const bool rent = options.tenure != Tenure::buy;
    const std::optional<Price>& stated = rent ? device.cloud_price : device.list_price;
    std::optional<double> each;
    std::string text, where;
    if (stated && stated->amount.known()) {
        each = stated->amount.value;
        where = stated->market;
        text =
            stated->instance.empty() ? stated->date : fmt::format("{}, {}", stated->instance, stated->date);
    } else if (stated)
        text = fmt::format("not {}: {} ({})", rent ? "rented" : "sold", stated->amount.note, stated->date);
    for (const GivenPrice& given : options.prices)
        if (given.hardware == device.id && given.hourly == rent) {
            each = given.amount;
            text = "--price";
            where.clear();
        }
    if (basis != nullptr)
        *basis = text;
    if (market != nullptr)
        *market = where;
    if (!each)
        return std::nullopt;
    if (rent)
        return devices * *each;
    return devices * (*each + (device.server_price ? device.server_price->amount.value : 0)) /
           (options.years * kHoursPerYear);
}

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
        const SizedDevice sized = size_device(basis, miss.hardware, {&narrower, 1});
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
        const SizedDevice sized = size_device(own, miss.hardware, {&conditions, 1});
        if (sized.holds && sized.within_budget)
            return fmt::format("a prompt of {:.0f} tokens holds on {}", shorter.serving.load.prompt_tokens,
                               devices_text(sized));
    }
    if (miss.layout)
        return fmt::format("--confidence {:.2f}", miss.layout->probability);
    return "";
}

} // namespace archsim
