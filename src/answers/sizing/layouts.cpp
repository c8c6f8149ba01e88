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
constexpr double kRounded = 1e-9; // of a number that has three digits already

std::string devices_text(const SizedDevice& d) {
    const std::int64_t devices = d.layout->devices();
    return fmt::format("{} device{} ({})", devices, devices == 1 ? "" : "s",
                       to_string(d.layout->run.parallelism));
}

} // namespace

namespace {

/// "a budget of 141 USD/h": of three digits, rounded up so that it is enough.
std::string budget_text(double usd) {
    const double digit = std::pow(10, std::floor(std::log10(usd)) - 2);
    return fmt::format("a budget of {:g} USD/h", digit * std::ceil(usd / digit - kRounded));
}

/// What makes a device hold that does not: each change sized anew with every limit that was asked for.
class Remedies {
  public:
    Remedies(const SizingBasis& basis, const SizedDevice& miss) : basis_(basis), miss_(miss) {}

    /// Whether the change is enough; where it is too dear it may be named with the budget that it needs.
    bool helps(const std::string& change, const SizingRequest& request, const Conditions& conditions) {
        const SizingBasis own{basis_.session, basis_.model, request,
                              basis_.cost,    basis_.heads, basis_.experts};
        const SizedDevice sized = size_device(own, miss_.hardware, {&conditions, 1});
        if (!sized.holds || (sized.precision == miss_.precision && &request == &basis_.request))
            return false;
        if (sized.within_budget)
            said_ = fmt::format("{} holds on {}", change, devices_text(sized));
        else if (said_.empty() && sized.layout->usd_per_hour)
            said_ = fmt::format("{} and {} hold on {}", change, budget_text(*sized.layout->usd_per_hour),
                                devices_text(sized));
        return sized.within_budget;
    }
    /// The first that was enough, else the first with a budget; empty: none.
    const std::string& said() const { return said_; }

  private:
    const SizingBasis& basis_;
    const SizedDevice& miss_;
    std::string said_;
};

bool shorter_prompt_helps(Remedies& remedies, const SizingBasis& basis, const SizedDevice& miss,
                          const Conditions& conditions) {
    const RequestPlan& load = basis.request.serving.load;
    const SizingPressure& over = miss.layout ? miss.layout->pressure : miss.nearest;
    if ((over.limit != SizingLimit::time_to_first && over.limit != SizingLimit::end_to_end) ||
        !load.lengths.empty() || load.trace != nullptr)
        return false;
    double prompt = load.prompt_tokens / std::max(1.0, over.ratio);
    for (int i = 0; i < kPrompts; ++i) {
        prompt *= kShorter;
        SizingRequest shorter = basis.request;
        // Two digits are enough for a hint.
        const double digit = std::pow(10, std::floor(std::log10(std::max(1.0, prompt))) - 1);
        const double tokens = std::max(1.0, digit * std::floor(prompt / digit));
        shorter.serving.load.prompt_tokens = tokens;
        if (remedies.helps(fmt::format("a prompt of {:.0f} tokens", tokens), shorter, conditions))
            return true;
    }
    return false;
}

} // namespace

std::string remedy(const SizingBasis& basis, const SizedDevice& miss, const Conditions& conditions) {
    if (miss.layout && miss.holds)
        return miss.layout->usd_per_hour
                   ? budget_text(*miss.layout->usd_per_hour)
                   : fmt::format("a price to hold against the budget (--price {}=USD/h)", miss.hardware);
    Remedies remedies(basis, miss);
    SizingRequest more = basis.request;
    more.most_devices = SizingRequest{}.most_devices;
    if (basis.request.most_devices < more.most_devices &&
        remedies.helps(fmt::format("--max-devices {}", more.most_devices), more, conditions))
        return remedies.said();
    for (const char* format : kNarrower) {
        Conditions narrower = conditions;
        narrower.precision = precision_named(format);
        if (remedies.helps(fmt::format("--precision {}", format), basis.request, narrower))
            return remedies.said();
    }
    if (shorter_prompt_helps(remedies, basis, miss, conditions) || !miss.layout)
        return remedies.said();
    SizingRequest surer = basis.request;
    surer.confidence = miss.layout->probability;
    remedies.helps(fmt::format("--confidence {:g}", surer.confidence), surer, conditions);
    return remedies.said();
}

} // namespace archsim
