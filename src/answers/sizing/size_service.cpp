#include "answers/sizing/size_service.hpp"

#include "answers/sizing/layouts.hpp"
#include "archsim/core/finding.hpp"
#include "core/in_parallel.hpp"
#include "core/lists.hpp"
#include "map/sharding.hpp"
#include "result/cost_terms.hpp"
#include "result/format_parts.hpp"
#include "session/generation/language_model.hpp"
#include "session/prepared.hpp"
#include "session/usual_precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>

namespace archsim {

constexpr double kSecondsPerHour = 3600;

static void check(const SizingRequest& r) {
    if (!(r.serving.load.rate_per_s > 0) == !(r.serving.plan.concurrency > 0) ||
        (r.users > 0 && r.serving.load.trace != nullptr))
        throw UsageError("a size needs one load: requests per second (--rate), users (--users), requests in "
                         "flight (--concurrency) or a recording (--trace)");
    if (!(r.confidence > 0 && r.confidence < 1))
        throw UsageError(fmt::format("--confidence {:g}: a share above 0 and below 1", r.confidence));
    check_cost_options(r.cost);
}

/// Where no limit is given, those of MLPerf Inference for Llama 2 70B in the server scenario (mlcommons.org,
/// from 4.0): 200 ms a token is as fast as people read.
constexpr ServiceLevel kUsualLevel = {2, 0.2, 0};

/// With what a load says of itself: the rate of a recording, and mean lengths where they are listed.
static SizingRequest settled_load(SizingRequest r) {
    RequestPlan& load = r.serving.load;
    double prompt = 0, output = 0, count = 0;
    const auto add = [&](std::int64_t in, std::int64_t out) {
        prompt += static_cast<double>(in);
        output += static_cast<double>(out);
        ++count;
    };
    if (load.trace != nullptr) {
        const std::vector<TraceRequest>& recorded = load.trace->requests;
        for (const TraceRequest& one : recorded)
            add(one.prompt_tokens, one.output_tokens);
        const double lasts = recorded.empty() ? 0 : recorded.back().arrival_s;
        if (r.serving.plan.concurrency == 0 && load.rate_per_s <= 0 && lasts > 0)
            load.rate_per_s = (count - 1) / lasts;
        if (load.count <= 0 || load.count > static_cast<std::int64_t>(recorded.size()))
            load.count = static_cast<std::int64_t>(recorded.size());
    } else {
        for (const auto& [in, out] : load.lengths)
            add(in, out);
    }
    if (count > 0) {
        load.prompt_tokens = prompt / count;
        load.output_tokens = output / count;
    }
    if (r.users > 0) {
        r.think_s = r.think_s.value_or(reading_time(load.output_tokens));
        if (*r.think_s > 0)
            load.rate_per_s = static_cast<double>(r.users) / *r.think_s;
        else
            r.serving.plan.concurrency = r.users;
    }
    return r;
}

/// The best of those that hold, by a number that is least; absent where it is for nobody.
template <class Number>
static std::optional<std::size_t> least(
    const std::vector<SizedDevice>& devices, Number&& number,
    const std::function<bool(const SizedDevice&)>& counts = [](const SizedDevice&) { return true; }) {
    std::optional<std::size_t> best;
    std::optional<double> lowest;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const SizedDevice& d = devices[i];
        const std::optional<double> own =
            d.layout && d.holds && d.within_budget && d.doubt.empty() && counts(d) ? number(*d.layout)
                                                                                   : std::nullopt;
        if (own && (!lowest || *own < *lowest)) {
            lowest = own;
            best = i;
        }
    }
    return best;
}

/// The smallest miss: of what holds with too little confidence or for too much money the likeliest or
/// cheapest, else of what one request alone comes nearest with.
static std::optional<std::size_t> nearest_of(const SizingAnswer& answer) {
    std::optional<std::size_t> best;
    const auto rank = [&](const SizedDevice& d) {
        const double budget = answer.request.budget_usd_per_hour;
        if (d.layout && d.holds && d.layout->usd_per_hour)
            return std::pair(0, *d.layout->usd_per_hour / std::max(budget, 1e-9));
        if (d.layout)
            return std::pair(1, -d.layout->probability);
        return d.nearest.ratio > 0 ? std::pair(2, d.nearest.ratio) : std::pair(3, 0.0);
    };
    for (std::size_t i = 0; i < answer.devices.size(); ++i)
        if (rank(answer.devices[i]).first < 3 && answer.devices[i].doubt.empty() &&
            (!best || rank(answer.devices[i]) < rank(answer.devices[*best])))
            best = i;
    return best;
}

std::optional<double> SizedLayout::usd_per_month() const {
    return usd_per_hour ? std::optional(kHoursPerMonth * *usd_per_hour) : std::nullopt;
}

/// Grams per million tokens of which there are so many a second, by their share of the joules.
static double grams_per_million(const SizedLayout& layout, double joules_per_million) {
    const double watts = layout.run.summary.watts;
    return watts > 0 ? joules_per_million * layout.carbon_g_per_hour / (watts * kSecondsPerHour) : 0;
}

double SizedLayout::carbon_g_per_million_output() const {
    return grams_per_million(*this, run.summary.joules_per_million_output);
}

double SizedLayout::carbon_g_per_million_prompt() const {
    return grams_per_million(*this, run.summary.joules_per_million_prompt);
}

double reading_time(double tokens) {
    constexpr double kWordsPerSecond = 238.0 / 60, kTokensPerWord = 4.0 / 3;
    return tokens / (kWordsPerSecond * kTokensPerWord);
}

std::int64_t sized_requests(const SizingRequest& r) {
    constexpr double kAnswers = 5, kFewest = 1000, kMost = 50000, kEach = 8, kFewestOfUsers = 200;
    if (r.serving.plan.concurrency > 0)
        return static_cast<std::int64_t>(
            std::max(kFewestOfUsers, kEach * static_cast<double>(r.serving.plan.concurrency)));
    const double answer_s =
        r.level.end_to_end_s > 0
            ? r.level.end_to_end_s
            : r.level.time_to_first_s + r.level.time_per_token_s * r.serving.load.output_tokens;
    return static_cast<std::int64_t>(
        std::clamp(kAnswers * r.serving.load.rate_per_s * answer_s, kFewest, kMost));
}

SizingAnswer size_service(const Session& session, const Model& model, std::span<const std::string> hardware,
                          std::span<const Conditions> formats, const SizingRequest& request,
                          const std::function<void(std::size_t, std::size_t)>& progress) {
    SizingAnswer answer;
    answer.model = model.name();
    answer.title = model.info.title.empty() ? model.name() : model.info.title;
    answer.hardware.assign(hardware.begin(), hardware.end());
    if (!model.prepared)
        throw UsageError("a size needs a model that Session::load returned");
    const auto language = model.prepared->language(model, request.serving.sizes);
    for (const Conditions& format : formats)
        answer.formats.push_back(settled(format, {.model = model, .prompt = Prompt{}}));
    if (formats.size() == 1 && !formats.front().precision.named())
        answer.open = formats.front();
    // Who names a checkpoint that is quantised asks about that one.
    if (answer.open && !model.info.products && !language->stored_weights())
        for (const char* narrower : {"fp8", "w4a16"})
            ask_precision(answer.formats.emplace_back(formats.front()), narrower);
    answer.request = settled_load(request);
    answer.usual_level = !request.level.any();
    if (answer.usual_level)
        answer.request.level = kUsualLevel;
    check(answer.request);
    if (answer.request.serving.load.count <= 0)
        answer.request.serving.load.count = sized_requests(answer.request);
    answer.request.serving.find_capacity = false;

    std::vector<std::shared_ptr<const Device>> known;
    for (const std::string& name : hardware)
        if (const DeviceChoice choice = session.hardware().device(name); choice.one.empty())
            known.push_back(choice.device);
        else
            throw UsageError(
                fmt::format("\"{}\": how many devices is what is asked for; name {}", name, choice.one));
    for (const Conditions& format : formats) // a name that no stack has is no fault of a device
        if (!format.stack.empty())
            session.hardware().runtime(format.stack);
    SizingBasis basis{session, model, answer.request,
                      on_one_basis(known, with_known_prices(request.cost, known, session.hardware()))};
    if (basis.cost.tenure == Tenure::cheaper) // nobody has a price
        basis.cost.tenure = Tenure::rent;
    answer.basis = basis.cost.tenure;
    answer.unused_prices = unused_prices(known, basis.cost);
    answer.quantised = language->stored_weights() || model.info.products;
    answer.stored_cache = language->stored_cache();
    const auto bound = language->bound(1, 1, 1);
    basis.experts = has_experts(bound->graph());
    if (const auto& lm = bound->model().info.language_model)
        basis.heads = lm->heads;

    // In the formats that were asked for, each for itself; else in that of several which takes the fewest.
    const bool any = answer.formats.size() > formats.size();
    std::vector<const Conditions*> chosen(hardware.size() * formats.size(), answer.formats.data());
    answer.devices.resize(chosen.size());
    std::atomic<std::size_t> done = 0;
    in_parallel(chosen.size(), all_threads(), [&](std::size_t i) {
        chosen[i] = &answer.formats[i % formats.size()];
        answer.devices[i] = size_device(
            basis, hardware[i / formats.size()],
            any ? std::span<const Conditions>(answer.formats) : std::span(chosen[i], 1), &chosen[i]);
        if (progress)
            progress(++done, chosen.size());
    });
    std::map<std::string, int> markets; // of devices that hold
    for (const SizedDevice& d : answer.devices)
        if (d.holds && d.within_budget && !d.market.empty())
            ++markets[d.market];
    const auto most = std::ranges::max_element(markets, {}, [](const auto& one) { return one.second; });
    const auto comparable = [&](const SizedDevice& d) {
        return markets.empty() || d.market.empty() || d.market == most->first;
    };
    const auto price = [](const SizedLayout& l) { return l.usd_per_hour; };
    answer.cheapest = least(answer.devices, price, comparable);
    answer.elsewhere = least(answer.devices, price);
    if (answer.elsewhere && comparable(answer.devices[*answer.elsewhere]))
        answer.elsewhere.reset();
    answer.greenest =
        least(answer.devices, [](const SizedLayout& l) { return std::optional(l.carbon_g_per_hour); });
    answer.fewest = least(
        answer.devices, [](const SizedLayout& l) { return std::optional(static_cast<double>(l.devices())); });
    if (request.pairs)
        size_pairs(basis, chosen, answer);
    if (!answer.fewest) {
        answer.nearest = nearest_of(answer);
        if (answer.nearest)
            answer.remedy = remedy(basis, answer.devices[*answer.nearest], *chosen[*answer.nearest]);
    }
    return answer;
}

} // namespace archsim
