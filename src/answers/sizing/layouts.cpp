#include "answers/sizing/layouts.hpp"

#include "result/cost_terms.hpp"
#include "result/format_parts.hpp"

#include <array>
#include <cmath>
#include <fmt/format.h>

namespace archsim {

// Devices of a node where its file does not say: the PCIe slots of the usual server, a host of TPUs.
constexpr std::int64_t kUsualNode = 8;
constexpr std::int64_t kMostNodes = 8;

static bool divides(std::int64_t tensor, double heads) {
    return heads <= 0 || std::fmod(heads, static_cast<double>(tensor)) == 0;
}

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

std::optional<double> hourly_price(const Device& device, double each, double engines,
                                   const CostOptions& options, std::string* basis, std::string* market) {
    const bool rent = options.tenure != Tenure::buy;
    const std::optional<Price>& stated = rent ? device.cloud_price : device.list_price;
    const GivenPrice* const given = given_price(device, rent, options);
    const auto rented = rent ? rental(device, each, engines, Share::none, options) : std::nullopt;
    const bool known = stated && stated->amount.known();
    if (market != nullptr)
        *market = given == nullptr && known ? stated->market : "";
    if (basis != nullptr)
        *basis = given != nullptr ? "--price"
                 : rented         ? rental_text(device, *rented, each * engines)
                 : known          ? stated->date
                 : stated ? fmt::format("not {}: {} ({})", rent ? "rented" : "sold", stated->amount.note,
                                        stated->date)
                          : "";
    if (rented)
        return rented->usd_per_hour;
    if (rent || (given == nullptr && !known))
        return std::nullopt;
    return each * engines *
           ((given != nullptr ? given->amount : stated->amount.value) +
            (device.server_price ? device.server_price->amount.value : 0)) /
           (options.years * kHoursPerYear);
}

// Formats of servers, the widest that helps first.
constexpr std::array kNarrower = {"fp8", "int8", "w4a16"};
// A limit that is missed is tried as long as what is waited, and by so much longer up to twice that.
constexpr double kLonger = 1.25;
constexpr int kLimits = 4;
constexpr std::int64_t kMoreDevices = 4; // times as many
constexpr double kRounded = 1e-9;        // of a number that has three digits already

static std::string devices_text(const SizedDevice& d) {
    const std::int64_t devices = d.layout->devices();
    return fmt::format("{} device{} ({})", devices, devices == 1 ? "" : "s",
                       to_string(d.layout->run.parallelism));
}

/// "a budget of 141 USD/h": of three digits, rounded up so that it is enough.
static std::string budget_text(double usd) {
    const double digit = std::pow(10, std::floor(std::log10(usd)) - 2);
    return fmt::format("a budget of {:g} USD/h", digit * std::ceil(usd / digit - kRounded));
}

/// Changes that make a device hold which does not: each change sized anew with every limit that was asked
/// for.
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

/// A limit of two digits as a flag has it: "--ttft-p99 1.9s".
struct LongerLimit {
    SizingLimit limit;
    const char* flag;
    double ServiceLevel::*seconds;
};
constexpr LongerLimit kLongerLimits[] = {
    {SizingLimit::time_to_first, "--ttft-p99", &ServiceLevel::time_to_first_s},
    {SizingLimit::time_per_token, "--tpot-p99", &ServiceLevel::time_per_token_s},
    {SizingLimit::end_to_end, "--e2e-p99", &ServiceLevel::end_to_end_s}};

static bool longer_limit_helps(Remedies& remedies, const SizingBasis& basis, const SizedDevice& miss,
                               const Conditions& conditions) {
    const SizingPressure& over = miss.layout ? miss.layout->pressure : miss.nearest;
    for (const LongerLimit& longer : kLongerLimits) {
        double seconds = basis.request.level.*longer.seconds * std::max(1.0, over.ratio);
        for (int i = 0; longer.limit == over.limit && i < kLimits; ++i, seconds *= kLonger) {
            SizingRequest later = basis.request;
            const double digit = std::pow(10, std::floor(std::log10(seconds)) - 1);
            later.level.*longer.seconds = digit * std::ceil(seconds / digit - kRounded);
            if (remedies.helps(fmt::format("{} {:g}ms", longer.flag, 1e3 * later.level.*longer.seconds),
                               later, conditions))
                return true;
        }
    }
    return false;
}

std::string remedy(const SizingBasis& basis, const SizedDevice& miss, const Conditions& conditions) {
    if (miss.layout && miss.holds)
        return miss.layout->usd_per_hour
                   ? budget_text(*miss.layout->usd_per_hour)
                   : fmt::format("a price to hold against the budget (--price {}=USD/h)", miss.hardware);
    Remedies remedies(basis, miss);
    const auto helps = [&](const std::string& change, const SizingRequest& request) {
        return remedies.helps(change, request, conditions);
    };
    SizingRequest more = basis.request, surer = basis.request;
    more.most_devices = std::max(SizingRequest{}.most_devices, kMoreDevices * more.most_devices);
    // One request alone may be too slow, which no count of devices mends.
    const bool few = basis.request.most_devices < SizingRequest{}.most_devices;
    if ((few || (!miss.layout && miss.nearest.ratio <= 1)) &&
        helps(fmt::format("--max-devices {}", more.most_devices), more))
        return remedies.said();
    for (const char* format : kNarrower) {
        Conditions narrower = conditions;
        narrower.precision = precision_named(format);
        if (remedies.helps(fmt::format("--precision {}", format), basis.request, narrower))
            return remedies.said();
    }
    if (longer_limit_helps(remedies, basis, miss, conditions) || !miss.layout)
        return remedies.said();
    surer.confidence = miss.layout->probability;
    helps(fmt::format("--confidence {:g}", surer.confidence), surer);
    return remedies.said();
}

} // namespace archsim
