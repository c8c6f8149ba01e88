#include "answers/sizing/sizing_fields.hpp"

#include "core/lists.hpp"
#include "core/parse_number.hpp"
#include "fields/field_places.hpp"

#include <utility>

namespace archsim {

constexpr const char* kMoneyGroup = "Energy and money";

static std::vector<std::string> number_or_none(double value, const char* unit = "") {
    return value > 0 ? std::vector{fmt::format("{}{}", value, unit)} : std::vector<std::string>{};
}

/// "20USD/h", "4000USD/month", or 20 an hour.
static void give_budget(const std::string& text, const std::string& name, SizingRequest& request) {
    const auto rate = parse_usd_per_hour(text), usd = rate ? rate : parse_usd(text);
    if (!usd || *usd <= 0)
        throw UsageError(fmt::format("{}: expected US dollars an hour or a month (20USD/h, 4000USD/month; no "
                                     "other currency is converted), got \"{}\"",
                                     name, text));
    request.budget_usd_per_hour = *usd;
}

static std::vector<SizingField> user_fields() {
    constexpr std::int64_t kMostUsers = 1 << 30;
    return {{.key = "users",
             .kind = FieldKind::whole,
             .help = "people who use it, each asking every --think-time",
             .value = "N",
             .low = 1,
             .high = kMostUsers,
             .print = [](const SizingRequest& r) { return number_or_none(static_cast<double>(r.users)); },
             .parse = into_whole(member_at(&SizingRequest::users), 1, kMostUsers)},
            {.key = "think_time",
             .help = "from one question of a user to the next, 60s",
             .value = "TIME",
             .fallback = "what reading the answer takes, 238 words a minute",
             .print =
                 [](const SizingRequest& r) {
                     return r.think_s ? std::vector{fmt::format("{}s", *r.think_s)}
                                      : std::vector<std::string>{};
                 },
             .parse = into(member_at(&SizingRequest::think_s),
                           [](const std::string& text, const std::string& name) {
                               return seconds_of(text, name, true);
                           })}};
}

static std::vector<SizingField> bound_fields() {
    constexpr std::int64_t kMostDevices = 1 << 20;
    return {
        {.key = "confidence",
         .kind = FieldKind::real,
         .help = "probability with which the limits must hold",
         .value = "SHARE",
         .fallback = fmt::format("{}", SizingRequest{}.confidence),
         .group = kFurtherGroup,
         .print = [](const SizingRequest& r) { return number_or_none(r.confidence); },
         .parse =
             [](const std::string& text, const std::string& name, SizingRequest& r) {
                 const auto share = parse_factor(text);
                 if (!share || !(*share > 0 && *share < 1))
                     throw UsageError(fmt::format(
                         "{}: expected a share above 0 and below 1 (0.9, 90%), got \"{}\"", name, text));
                 r.confidence = *share;
             }},
        {.key = "budget",
         .help = "the most that it may cost, 20USD/h or 4000USD/month",
         .value = "USD/h",
         .group = kMoneyGroup,
         .print = [](const SizingRequest& r) { return number_or_none(r.budget_usd_per_hour, "USD/h"); },
         .parse = give_budget},
        truth_field<SizingRequest>({.key = "pairs",
                                    .help = "also prompts on one kind of device and answers on another",
                                    .group = kFurtherGroup},
                                   member_at(&SizingRequest::pairs)),
        {.key = "max_devices",
         .kind = FieldKind::whole,
         .help = "the most devices of one service",
         .value = "N",
         .fallback = fmt::format("{}", SizingRequest{}.most_devices),
         .group = kFurtherGroup,
         .low = 1,
         .high = kMostDevices,
         .print = [](const SizingRequest& r) { return number_or_none(static_cast<double>(r.most_devices)); },
         .parse = into_whole(member_at(&SizingRequest::most_devices), 1, kMostDevices)}};
}

const FieldTable<SizingRequest>& sizing_fields() {
    static const FieldTable<SizingRequest> all = [] {
        FieldTable<SizingRequest> rows = user_fields();
        for (const Field<ServiceLevel>& limit : level_fields())
            rows.push_back({.key = limit.key,
                            .help = limit.help,
                            .value = limit.value,
                            .print = [&limit](const SizingRequest& r) { return limit.print(r.level); },
                            .parse = [&limit](const std::string& text, const std::string& name,
                                              SizingRequest& r) { limit.parse(text, name, r.level); }});
        append(rows, bound_fields());
        return with_flags(std::move(rows));
    }();
    return all;
}

SizingTexts::SizingTexts(Spelling spelling) : FieldTexts(sizing_fields(), "a sizing", spelling) {}

SizingRequest SizingTexts::request(const ServingTexts& load) const {
    SizingRequest request;
    put_into(request);
    if (request.users > 0)
        for (const char* other : {"rate", "concurrency"})
            if (load.has(other))
                throw UsageError(fmt::format("{} excludes {}", named("users"),
                                             find_serving_field(other)->spelled(spelling())));
    if (request.think_s && request.users == 0)
        throw UsageError(fmt::format("{}: say how many ask, with {}", named("think_time"), named("users")));
    for (const std::string_view key : kNotSized)
        if (load.has(key))
            throw UsageError(fmt::format("{}: not of a sizing", key));
    request.serving = load.request(std::move(request.serving));
    return request;
}

} // namespace archsim
