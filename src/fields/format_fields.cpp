// The formats of a question: of arithmetic, of storage, and whether fp32 products may be rounded.

#include "fields/field_places.hpp"
#include "result/format_parts.hpp"
#include "session/usual_precision.hpp"

#include <fmt/format.h>

namespace archsim {

/// The formats but for strict_fp32, which is a field of its own.
static PrecisionConfig scheme_of(const Question& question) {
    PrecisionConfig scheme = settled(question.conditions, question.workload).precision;
    scheme.strict_fp32 = false;
    return scheme;
}

/// "fp16", "w4a16", "mixed"; nothing for what has no name.
static std::optional<std::string> scheme_name(const PrecisionConfig& scheme) {
    for (const Precision p : kPrecisions)
        if (scheme == PrecisionConfig::uniform(p))
            return std::string(name_of(p));
    for (const std::string& name :
         {fmt::format("w{}a{}", bits_of(scheme.weights), bits_of(scheme.activations)), std::string("mixed")})
        if (PrecisionConfig::parse(name) == scheme)
            return name;
    return std::nullopt;
}

/// The same where weights alone are stored otherwise: the name of the rest.
static std::optional<std::string> name_but_for_weights(PrecisionConfig scheme) {
    const PrecisionConfig whole = PrecisionConfig::uniform(scheme.compute);
    scheme.weights = whole.weights;
    return scheme == whole ? std::optional(std::string(name_of(whole.compute))) : std::nullopt;
}

static std::vector<std::string> precision_text(const PrecisionConfig& scheme) {
    if (const auto name = scheme_name(scheme))
        return {*name};
    if (const auto name = name_but_for_weights(scheme))
        return {*name};
    return {in_parts(scheme)};
}

/// Assigns formats and keeps what is a field of its own.
static void assign(const PrecisionConfig& scheme, Question& question) {
    AskedPrecision& precision = question.conditions.precision;
    const bool strict = precision.strict_fp32;
    precision = scheme;
    precision.strict_fp32 = strict;
    question.conditions.format_of_device = false;
}

static std::vector<std::string> weights_text(const Question& question) {
    if (settled(question.conditions, question.workload).format_of_device) {
        const auto& weights = question.conditions.weights;
        return text_or_none(weights ? std::optional(std::string(name_of(*weights))) : std::nullopt);
    }
    const PrecisionConfig scheme = scheme_of(question);
    if (scheme_name(scheme) || !name_but_for_weights(scheme))
        return {};
    return {std::string(name_of(scheme.weights))};
}

static std::vector<std::string> cache_text(const Question& question) {
    const auto& cache = question.conditions.kv_cache;
    return text_or_none(cache ? std::optional(std::string(name_of(*cache))) : std::nullopt);
}

std::vector<QuestionField> format_fields() {
    return {
        {.key = "precision",
         .help =
             "fp32, bf16, fp16, fp8, int8, w4a16 ..., or usual: the fastest that is deployed on each device "
             "(default: usual; a file's own format; of answers to prompts the checkpoint's, else bf16)",
         .value = "FORMAT",
         .print =
             [](const Question& q) {
                 const bool of_device = settled(q.conditions, q.workload).format_of_device;
                 return of_device ? std::vector<std::string>{"usual"} : precision_text(scheme_of(q));
             },
         .parse = [](const std::string& text, const std::string& name,
                     Question& q) { ask_precision(q.conditions, text, name); },
         .usual =
             [](const Question& q) {
                 Question open{q.workload, {}};
                 open.conditions.precision.strict_fp32 = q.conditions.precision.strict_fp32;
                 return settled(open.conditions, open.workload).format_of_device
                            ? std::vector<std::string>{"usual"}
                            : precision_text(scheme_of(open));
             }},
        {.key = "activations",
         .help = "format of activations and arithmetic where it differs",
         .value = "FORMAT",
         .group = kSeveralGroup,
         .print = [](const Question&) { return std::vector<std::string>{}; }, // what --precision says
         .parse =
             [](const std::string& text, const std::string& name, Question& q) {
                 PrecisionConfig scheme = PrecisionConfig::uniform(format_named(text, name));
                 if (q.conditions.precision.named()) // whose weights stay as they are stored
                     scheme.weights = q.conditions.precision.weights;
                 if (const auto notation = PrecisionConfig::parse(
                         fmt::format("w{}a{}", bits_of(scheme.weights), bits_of(scheme.activations)));
                     notation && notation->weights == scheme.weights &&
                     notation->activations == scheme.activations)
                     scheme = *notation;
                 assign(scheme, q);
             }},
        {.key = "weights",
         .help = "storage of weights where it differs, e.g. int4",
         .value = "FORMAT",
         .group = kSeveralGroup,
         .print = weights_text,
         .parse = into(member_at(&Question::conditions, &Conditions::weights), format_named)},
        {.key = "kv_cache",
         .help = "storage of cached keys and values, e.g. fp8",
         .value = "FORMAT",
         .group = kSeveralGroup,
         .print = cache_text,
         .parse = into(member_at(&Question::conditions, &Conditions::kv_cache), format_named)},
        truth_field<Question>(
            {.key = "strict_fp32",
             .help = "fp32 products where the stack would round them to tf32 or bf16 unasked",
             .group = kFurtherGroup},
            member_at(&Question::conditions, &Conditions::precision, &AskedPrecision::strict_fp32)),
    };
}

} // namespace archsim
