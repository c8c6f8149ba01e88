#include "hardware/device_reader.hpp"
#include "hardware/parameter_site.hpp"

#include "core/text.hpp"

#include <fmt/format.h>

namespace archsim {

using D = PhysicalDimension;

static void read_fusion(ObjectReader& block, FusionPolicy& fusion) {
    for (const FusionChoice& choice : kFusionChoices)
        fusion.*choice.member = block.flag(choice.name, fusion.*choice.member);
}

/// Choices of all families, and under "by_family" those in which one differs.
static void read_fusion(ObjectReader& block, Runtime& runtime) {
    read_fusion(block, runtime.fusion);
    block.object("by_family", [&](ObjectReader& families) {
        families.members([&](std::string_view name, const JsonPlace&) {
            FusionPolicy policy = runtime.fusion;
            families.object(name, [&](ObjectReader& own) { read_fusion(own, policy); });
            if (const auto family = stated_family(families, name, name))
                runtime.fusion_by_family.emplace(*family, policy);
        });
    });
}

/// {"value", "unit", "source", "by_generation": {"ada": {"value", "unit", "source"}}}; without "value" the
/// parameter holds only for the generations listed.
static void read_parameter(ObjectReader& block, std::string_view kernel, std::string_view key,
                           Runtime& runtime) {
    const auto parameter = parameter_of(kernel, key);
    if (!parameter) {
        report_unknown_parameter(block.context(),
                                 kernel.empty() ? std::string(key) : fmt::format("{}_{}", kernel, key),
                                 block.place_of(key));
        return;
    }
    ParameterEntry entry{.parameter = *parameter};
    const JsonValue& value = *block.member(key);
    if (!value.is_object() || value.contains("value") || !value.contains("by_generation"))
        entry.value = read_parameter_value(block, key, *parameter);
    if (value.is_object() && value.contains("by_generation"))
        block.object(key, [&](ObjectReader& inner) {
            for (const std::string_view known : {"value", "unit", "n", "error", "date", "before"})
                inner.member(known);
            inner.object("by_generation", [&](ObjectReader& table) {
                table.members([&](std::string_view generation, const JsonPlace&) {
                    const Fact fact = read_parameter_value(table, generation, *parameter);
                    if (fact.known())
                        entry.by_generation.emplace_back(generation, fact);
                });
            });
        });
    runtime.parameters.push_back(std::move(entry));
}

static std::vector<Precision> read_precisions(ObjectReader& document, std::string_view key) {
    std::vector<Precision> result;
    for (const std::string& name : document.texts(key)) {
        if (const auto precision = parse_precision(name))
            result.push_back(*precision);
        else
            document.refuse(key, FindingKind::unknown_name,
                            fmt::format("\"{}\" is not a numeric format", name),
                            "use fp32, fp16, bf16, int8 and the like");
    }
    return result;
}

/// {"products": "bf16", "convolutions": "bf16", "stored": "bf16", "source": "S1"}; "stored" is fp32 where
/// absent
static Fp32Mathematics read_fp32(ObjectReader& block) {
    const auto format = [&](std::string_view key, Need need) {
        const std::string name = block.text(key, need);
        if (name.empty())
            return Precision::fp32;
        if (const auto precision = parse_precision(name))
            return *precision;
        block.refuse(key, FindingKind::unknown_name, fmt::format("\"{}\" is not a numeric format", name),
                     "use fp32, tf32 or bf16");
        return Precision::fp32;
    };
    return {.products = format("products", Need::required),
            .convolutions = format("convolutions", Need::required),
            .stored = format("stored", Need::optional),
            .source = block.source_or_none()};
}

/// Exponents 1 and infinity, which JSON cannot spell.
enum class Combining : std::uint8_t { added, overlapped };

static Fact read_exponent(ObjectReader& document) {
    const JsonValue* value = document.member("combine_exponent");
    const JsonValue* word = value == nullptr ? nullptr : value->find("value");
    if (word != nullptr && word->is_text()) {
        Fact fact;
        document.object("combine_exponent", [&](ObjectReader& block) {
            block.member("unit");
            block.member("before");
            fact.value = block.choice<Combining>("value") == Combining::added
                             ? 1.0
                             : std::numeric_limits<double>::infinity();
            fact.source = block.source_or_none();
        });
        return fact;
    }
    return document.quantity("combine_exponent", D::one, {1, 1e9});
}

static MeasuredAs read_measured_as(ObjectReader& block) {
    MeasuredAs rule{.stack = block.text("stack", Need::required)};
    const double until = block.number("until", {1990, 2100});
    rule.until = std::isnan(until) ? 0 : static_cast<int>(until);
    rule.variant = block.text("variant");
    rule.noted = block.text("noted");
    rule.since = block.text("since");
    rule.before = block.text("before");
    rule.except = block.text("except");
    return rule;
}

static CheckTemplate read_check(ObjectReader& block) {
    CheckTemplate check{.command = block.text("command"), .why_not = block.text("why_not")};
    block.object("precision", [&](ObjectReader& words) {
        words.members([&](std::string_view format, const JsonPlace&) {
            check.precision.emplace(format, words.text(format));
        });
    });
    check.reads = block.text("reads");
    check.note = block.text("note");
    check.cite = block.text("cite");
    if (check.command.empty() == check.why_not.empty())
        block.context().report(FindingKind::malformed_file, Severity::error, block.place(),
                               "this must be either a command or a reason why there is none",
                               "give \"command\" or \"why_not\"");
    return check;
}

static void read_runtime_body(ObjectReader& document, Runtime& runtime) {
    runtime.base = document.text("extends");
    document.each("measured_as",
                  [&](ObjectReader& rule) { runtime.measured_as.push_back(read_measured_as(rule)); });
    runtime.id = document.text("id", Need::required);
    runtime.name = document.text("name");
    if (runtime.name.empty())
        runtime.name = runtime.id;
    runtime.description = document.text("description");
    runtime.aliases = document.texts("aliases");
    for (const std::string& name : document.texts("families"))
        if (const auto family = stated_family(document, "families", name))
            runtime.families.push_back(*family);
    runtime.vendors = document.texts("vendors");
    runtime.generations = document.texts("generations");
    document.object("fusion", [&](ObjectReader& block) { read_fusion(block, runtime); });
    runtime.combine_exponent = read_exponent(document);
    document.object("fp32_mathematics", [&](ObjectReader& block) { runtime.fp32 = read_fp32(block); });
    runtime.weight_prefetch = document.choice<WeightPrefetch>("weight_prefetch");
    runtime.streams_weights = document.flag("streams_weights", true);
    runtime.graph_capture = document.flag("graph_capture", false);
    runtime.autocast = document.flag("autocast", false);
    runtime.independent_streams = document.flag("independent_streams", false);
    runtime.language_models = document.flag("language_models", false);
    runtime.gguf = document.choice<GgufModels>("gguf");
    runtime.precisions = read_precisions(document, "precisions");
    runtime.weight_only = read_precisions(document, "weight_only");
    runtime.unusual = read_precisions(document, "unusual");
    runtime.instruction_sets = document.texts("instruction_sets");
    if (document.has("convolution_instruction_sets"))
        runtime.convolution_instruction_sets = document.texts("convolution_instruction_sets");
    document.object("parameters", [&](ObjectReader& block) {
        block.members(
            [&](std::string_view key, const JsonPlace&) { read_parameter(block, {}, key, runtime); });
    });
    document.object("kernels", [&](ObjectReader& kernels) {
        kernels.members([&](std::string_view kernel, const JsonPlace&) {
            kernels.object(kernel, [&](ObjectReader& row) {
                row.members([&](std::string_view key, const JsonPlace&) {
                    read_parameter(row, kernel, key, runtime);
                });
            });
        });
    });
    document.object("operators", [&](ObjectReader& block) { runtime.rules = read_operator_rules(block); });
    runtime.integer_operators = document.texts("integer_operators");
    runtime.one_thread_operators = document.texts("one_thread_operators");
    runtime.fallback = document.choice<Fallback>("fallback");
    runtime.compile_per_operator = document.quantity("compile_per_operator", D::time, {0, 1e4});
    runtime.compile_base = document.quantity("compile_base", D::time, {0, 1e5});
    document.object("compiled_before", [&](ObjectReader& block) {
        CompiledBefore& before = runtime.compiled_before.emplace();
        before.tool = block.text("tool", Need::required);
        before.generations = block.texts("generations");
        block.text("source");
        before.build = {0, block.source_or_none()};
    });
    document.object("check", [&](ObjectReader& block) { runtime.check = read_check(block); });
    runtime.notes = document.texts("notes");
}

Fact read_parameter_value(ObjectReader& block, std::string_view key, Parameter parameter) {
    const ParameterInfo& info = info_of(parameter);
    const Unit& unit = *find_unit(info.unit);
    Fact fact = block.quantity(key, unit.dimension, {info.low * unit.factor, info.high * unit.factor});
    fact.value /= unit.factor;
    return fact;
}

void report_unknown_parameter(ReadContext& context, std::string_view key, const JsonPlace& place) {
    std::vector<std::string> known;
    for (std::size_t i = 0; i < kParameterCount; ++i)
        known.emplace_back(info_of(static_cast<Parameter>(i)).name);
    const auto elsewhere = parse_parameter(key);
    const auto nearest = nearest_names(key, known, 1);
    context.report(
        FindingKind::unknown_key, Severity::warning, place,
        fmt::format("\"{}\" is not a parameter of the latency model{}", key, elsewhere ? " here" : ""),
        elsewhere         ? fmt::format("a stack states it at {}", place_in_stack(*elsewhere))
        : nearest.empty() ? std::string("archsim/hardware/parameters.def lists them")
                          : fmt::format("is \"{}\" meant?", nearest.front()));
}

std::shared_ptr<const Runtime> read_runtime(const JsonValue& document, const std::string& file,
                                            std::vector<Finding>& findings) {
    auto runtime = std::make_shared<Runtime>();
    runtime->file = file;
    ReadContext context =
        read_document(document, file, [&](ObjectReader& reader) { read_runtime_body(reader, *runtime); });
    const bool usable = std::ranges::none_of(context.findings, &Finding::is_error);
    findings.insert(findings.end(), context.findings.begin(), context.findings.end());
    if (!usable)
        return nullptr;
    runtime->findings = std::move(context.findings);
    return runtime;
}

std::vector<Deployment> read_deployments(const JsonValue& document, const std::string& file,
                                         std::vector<Finding>& findings) {
    ReadContext context{.file = file};
    std::vector<Deployment> result;
    ObjectReader reader(context, document, JsonPlace{});
    reader.text("$schema");
    reader.each("deployments", [&](ObjectReader& entry) {
        Deployment deployment{.id = entry.text("id", Need::required),
                              .title = entry.text("title"),
                              .description = entry.text("description"),
                              .hardware = entry.texts("hardware")};
        if (!deployment.id.empty())
            result.push_back(std::move(deployment));
    });
    reader.finish();
    findings.insert(findings.end(), context.findings.begin(), context.findings.end());
    return result;
}

} // namespace archsim
