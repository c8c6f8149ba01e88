// Where and how a workload runs: devices, stack, scenario, scope, and what is changed about them.

#include "archsim/core/finding.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"
#include "fields/field_places.hpp"
#include "hardware/parameter_site.hpp"
#include "session/varied_part.hpp"

#include <cmath>
#include <fmt/ranges.h>

namespace archsim {

constexpr std::int64_t kMostDevices = 1'000'000;

static std::vector<std::string> fusion_text(const Question& question) {
    const auto& policy = question.conditions.fusion;
    if (!policy)
        return {};
    std::vector<std::string_view> names;
    for (const FusionChoice& one : kFusionChoices)
        if ((*policy).*one.member)
            names.push_back(one.name);
    return {names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ","))};
}

static void give_fusion(const std::string& text, const std::string& name, Question& question) {
    FusionPolicy policy = FusionPolicy::unfused();
    for (const FusionChoice& one : kFusionChoices)
        policy.*one.member = false;
    for (const std::string& piece : text == "nothing" ? std::vector<std::string>{} : split(text, ',')) {
        bool known = false;
        for (const FusionChoice& one : kFusionChoices)
            if (one.name == piece)
                known = policy.*one.member = true;
        if (!known)
            throw UsageError(fmt::format("{}: \"{}\" is nothing that a stack joins", name, piece));
    }
    question.conditions.fusion = policy;
}

constexpr std::string_view kPowerLimit = "power_limit_w";

static std::vector<std::string> change_texts(const Question& question) {
    std::vector<std::string> texts;
    const auto add = [&](std::string_view name, double factor) {
        texts.push_back(fmt::format("{}={}", name, number_text(factor)));
    };
    const DeviceChanges& structure = question.conditions.structure;
    for (std::size_t i = 0; i < kStructureCount; ++i)
        if (const auto part = static_cast<Structure>(i); structure[part] != 1)
            add(name_of(part), structure[part]);
    const MachineChanges& changes = question.conditions.changes;
    for (std::size_t i = 0; i < kLeverCount; ++i)
        if (const auto lever = static_cast<Lever>(i); changes[lever] != 1)
            add(info_of(lever).name, changes[lever]);
    for (const auto& [parameter, factor] : changes.parameters)
        add(info_of(parameter).name, factor);
    if (changes.power_limit_w)
        add(kPowerLimit, *changes.power_limit_w);
    return texts;
}

static void give_change(const std::string& text, const std::string& name, Question& question) {
    const auto sides = split_assignment(text);
    if (!sides)
        throw UsageError(fmt::format("{}: \"{}\" is not of the form NAME=FACTOR", name, text));
    const auto factor = parse_factor(sides->second);
    if (!factor || *factor <= 0)
        throw UsageError(fmt::format("{} {}: \"{}\" is not a number above 0, such as 0.5 or 2x", name,
                                     sides->first, sides->second));
    Conditions& conditions = question.conditions;
    if (const auto parameter = parse_parameter(sides->first))
        conditions.changes.parameters.emplace_back(*parameter, *factor);
    else if (sides->first == kPowerLimit)
        conditions.changes.power_limit_w = *factor;
    else
        varied_part(sides->first, name + ": ").of(conditions) = *factor;
}

/// "PARAMETER:DEVICE:RUNTIME:GENERATION=VALUE", the middle ones empty where a statement has none.
static std::vector<std::string> override_texts(const Question& question) {
    std::vector<std::string> texts;
    if (question.conditions.overrides)
        for (const ParameterOverride& one : *question.conditions.overrides)
            texts.push_back(fmt::format("{}:{}:{}:{}={}", info_of(one.site.parameter).name, one.site.device,
                                        one.site.runtime, one.site.generation, number_text(one.value)));
    return texts;
}

static void give_override(const std::string& text, const std::string& name, Question& question) {
    const auto sides = split_assignment(text);
    const std::vector<std::string> site = split(sides ? sides->first : std::string_view(), ':');
    const auto parameter = site.size() == 4 ? parse_parameter(site[0]) : std::nullopt;
    const auto value = sides ? parse_real(sides->second) : std::nullopt;
    if (!parameter || !value)
        throw UsageError(fmt::format(
            "{}: \"{}\" is not of the form PARAMETER:DEVICE:RUNTIME:GENERATION=VALUE", name, text));
    auto all = question.conditions.overrides
                   ? std::make_shared<ParameterOverrides>(*question.conditions.overrides)
                   : std::make_shared<ParameterOverrides>();
    all->push_back({{site[1], site[2], site[3], *parameter}, *value});
    question.conditions.overrides = std::move(all);
}

static std::vector<std::string> device_text(const Question& question) {
    const double devices = question.conditions.devices;
    return {devices == 0 ? "auto" : number_text(devices)};
}

static void give_devices(const std::string& text, const std::string& name, Question& question) {
    if (text == "auto") {
        question.conditions.devices = 0;
        return;
    }
    const auto count = parse_whole(text);
    if (!count)
        throw UsageError(fmt::format("{}: \"{}\" is not a whole number, nor auto", name, text));
    if (*count < 1 || *count > kMostDevices)
        throw UsageError(
            fmt::format("{}: {} is not between 1 and {}; or give auto", name, text, kMostDevices));
    question.conditions.devices = static_cast<double>(*count);
}

/// The number of the rate, where a period is written shorter so and read as the same; else nothing.
static std::optional<std::string> rate_number(double every_s) {
    std::string number = fmt::format("{:.15g}", 1 / every_s);
    const bool same = 1 / plain_number<double>(number).value_or(0) == every_s;
    return same && number.size() <= number_text(every_s).size() ? std::optional(std::move(number))
                                                                : std::nullopt;
}

/// Seconds of "30fps" or "10s".
static std::optional<double> period_of(std::string_view text) {
    const bool plain = plain_number<double>(text).has_value();
    const auto rate = plain ? std::nullopt : parse_rate(text), seconds = parse_seconds(text);
    const double period = rate ? 1 / *rate : seconds.value_or(0);
    return period > 0 && std::isfinite(period) ? std::optional(period) : std::nullopt;
}

static void give_period(std::optional<double> seconds, std::string_view wanted, const std::string& text,
                        const std::string& name, Question& question) {
    if (!seconds || !(*seconds > 0) || !std::isfinite(*seconds))
        throw UsageError(fmt::format("{}: expected {}, got \"{}\"", name, wanted, text));
    if (question.conditions.duty.every_s > 0)
        throw UsageError("--every and --fps say the same: give one");
    question.conditions.duty.every_s = *seconds;
}

static std::vector<std::string> companion_texts(const Question& question) {
    std::vector<std::string> texts;
    for (const Companion& c : question.conditions.duty.with) {
        const auto rate = rate_number(c.every_s);
        texts.push_back(fmt::format("{}@{}", c.model, rate ? *rate + "fps" : number_text(c.every_s) + "s"));
    }
    return texts;
}

static void give_companion(const std::string& text, const std::string& name, Question& question) {
    const std::size_t at = text.rfind('@');
    const auto period = at == std::string::npos ? std::nullopt : period_of(text.substr(at + 1));
    if (at == 0 || !period)
        throw UsageError(fmt::format(
            "{}: expected a model and how often it runs (yolov8n@10fps, whisper-tiny@30s), got \"{}\"", name,
            text));
    question.conditions.duty.with.push_back({text.substr(0, at), *period});
}

static std::vector<std::string> battery_text(const Question& question) {
    const Duty& duty = question.conditions.duty;
    if (duty.battery_wh <= 0)
        return {};
    const std::string volts = duty.cell_volts == kCellVolts ? "" : "@" + number_text(duty.cell_volts) + "V";
    return {number_text(duty.battery_wh) + "Wh" + volts};
}

static void give_battery(const std::string& text, const std::string& name, Question& question) {
    const auto battery = parse_battery(text, kCellVolts);
    if (!battery)
        throw UsageError(fmt::format(
            "{}: expected what it holds, with a unit (10Wh, 5000mAh, 225mAh@3V, 10kJ), got \"{}\"", name,
            text));
    question.conditions.duty.battery_wh = battery->watt_hours;
    question.conditions.duty.cell_volts = battery->volts;
}

/// How often a device works, for whom else, and on what battery.
static std::vector<QuestionField> duty_fields() {
    const auto every = [](const Question& q) -> std::vector<std::string> {
        const double every_s = q.conditions.duty.every_s;
        return every_s > 0 && !rate_number(every_s) ? std::vector{number_text(every_s) + "s"}
                                                    : std::vector<std::string>{};
    };
    const auto fps = [](const Question& q) {
        const double every_s = q.conditions.duty.every_s;
        return text_or_none(every_s > 0 ? rate_number(every_s) : std::nullopt);
    };
    return {{.key = "every",
             .flag = "--every",
             .help = "one inference in so long (1s), idle between; a limit on speed",
             .value = "TIME",
             .of = FieldOf::duty,
             .print = every,
             .parse =
                 [](const std::string& text, const std::string& name, Question& q) {
                     give_period(parse_seconds(text), "a time with a unit (500ms, 10s, 1h)", text, name, q);
                 }},
            {.key = "fps",
             .flag = "--fps",
             .kind = FieldKind::real,
             .help = "inferences a second, idle between: 10 is --every 100ms",
             .value = "RATE",
             .of = FieldOf::duty,
             .print = fps,
             .parse =
                 [](const std::string& text, const std::string& name, Question& q) {
                     give_period(1 / parse_rate(text).value_or(0), "a rate above 0 (30, 30fps, 30/s)", text,
                                 name, q);
                 }},
            {.key = "companions",
             .flag = "--with",
             .kind = FieldKind::texts,
             .help = "another network on the same device, and how often: resnet50@5fps, whisper-tiny@30s",
             .value = "MODEL@RATE",
             .of = FieldOf::duty,
             .print = companion_texts,
             .parse = give_companion},
            {.key = "battery",
             .flag = "--battery",
             .help = "hours on a battery with --every: 10Wh, 5000mAh, 225mAh@3V, 10kJ",
             .value = "CAPACITY",
             .group = "Energy, memory and money",
             .of = FieldOf::duty,
             .print = battery_text,
             .parse = give_battery},
            {.key = "idle_power",
             .flag = "--idle-power",
             .help = "what each device draws between inferences, with --every: 10uW",
             .value = "POWER",
             .group = "Energy, memory and money",
             .of = FieldOf::duty,
             .print =
                 [](const Question& q) {
                     const double idle_w = q.conditions.duty.idle_w;
                     return text_or_none(idle_w > 0 ? std::optional(number_text(idle_w) + "W")
                                                    : std::nullopt);
                 },
             .parse =
                 [](const std::string& text, const std::string& name, Question& q) {
                     const auto watts = parse_watts(text);
                     if (!watts || !(*watts > 0) || !std::isfinite(*watts))
                         throw UsageError(fmt::format(
                             "{}: expected a power with a unit (10uW, 2.5mW), got \"{}\"", name, text));
                     q.conditions.duty.idle_w = *watts;
                 }}};
}

std::vector<QuestionField> condition_fields() {
    const auto of = [](auto member) { return member_at(&Question::conditions, member); };
    std::vector<QuestionField> fields = {
        {.key = "runtime",
         .aliases = {"stack"},
         .help = "software stack instead of the device's default",
         .value = "STACK",
         .print =
             [](const Question& q) {
                 return text_or_none(q.conditions.stack.empty() ? std::nullopt
                                                                : std::optional(q.conditions.stack));
             },
         .parse = into(of(&Conditions::stack), [](const std::string& text, const auto&) { return text; })},
        named_field<Question>({.key = "scenario", .help = "latency: one stream; throughput: saturated"},
                              of(&Conditions::scenario)),
        named_field<Question>(
            {.key = "scope", .help = "kernel: device time; end_to_end: with transfers and host work"},
            of(&Conditions::scope)),
        {.key = "devices",
         .aliases = {"device_count"},
         .kind = FieldKind::whole,
         .help =
             "devices that share the model as its stack does (llama.cpp: by layers; others: every layer), or "
             "auto: as many as needed",
         .value = "N",
         .fallback = "1",
         .group = kSeveralGroup,
         .of = FieldOf::answer,
         .low = 1,
         .high = kMostDevices,
         .print = device_text,
         .parse = give_devices},
        truth_field<Question>({.key = "allow_unknown",
                               .help = "estimate although a part of the model is not understood",
                               .group = kFurtherGroup},
                              of(&Conditions::allow_unknown)),
        truth_field<Question>(
            {.key = "ideal_mapping",
             .help = "the stack keeps on chip whatever fits, also where its compiler is known not to",
             .group = kFurtherGroup},
            of(&Conditions::ideal_mapping)),
        {.key = "changes",
         .of_tools = false,
         .kind = FieldKind::reals,
         .help = "factors on parts, rates and costs of the device, NAME=0.5x",
         .print = change_texts,
         .parse = give_change},
        {.key = "fusion",
         .of_tools = false,
         .help = "what the stack joins into one kernel, NAME,NAME or nothing, instead of its own choice",
         .print = fusion_text,
         .parse = give_fusion},
        {.key = "overrides",
         .of_tools = false,
         .kind = FieldKind::texts,
         .help = "parameters to take instead of stated ones, PARAMETER:DEVICE:RUNTIME:GENERATION=VALUE",
         .print = override_texts,
         .parse = give_override},
    };
    append(fields, duty_fields());
    return fields;
}

} // namespace archsim
