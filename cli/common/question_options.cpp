// The flags that say what is asked: model, sizes, formats, conditions, prompts and devices.

#include "archsim/ops/given_values.hpp"
#include "archsim/run/given.hpp"
#include "common/allowed_budget.hpp"
#include "common/model_files.hpp"
#include "common/tool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace archsim::cli {

namespace {

constexpr int kMostCounts = 64;                  ///< of --devices
constexpr std::int64_t kMostDevices = 1'000'000; ///< of one count
constexpr const char* kGenerationGroup = "Language models and several devices";

std::int64_t parse_integer(const std::string& text, const std::string& flag) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        throw UsageError(fmt::format("{}: \"{}\" is not a whole number; a model stands before the flags, or "
                                     "after --model",
                                     flag, text));
    return value;
}

} // namespace

void WorkloadOptions::add_to(Flags& flags, BatchFlag batch) {
    flags.add_option("--precision", precision,
                     "fp32, bf16, fp16, fp8, int8, int4, w4a16 ... (default: a file's own format, fp32 of "
                     "catalogue models, bf16 of answers to prompts)");
    if (batch == BatchFlag::present)
        flags.add_option("--batch-size", batch_size, "items per inference")
            .within(1, kLargestBatch)
            .show_default();
    if (batch == BatchFlag::several)
        flags.add_option("--batch-size", batches,
                         "items per inference; of several sizes an answer each (default: 1)");
    flags.add_option("--runtime", runtimes, "software stack(s) instead of the device's default");
    add_sizes_to(flags);
}

void WorkloadOptions::add_sizes_to(Flags& flags) {
    flags
        .add_flag("--strict-fp32", strict_fp32,
                  "fp32 products where the stack would round them to tf32 or bf16 unasked")
        .in_group("Further conditions");
    add_size_flags(flags, dims, inputs, input_shapes);
    const char* generators = "Image and video generators";
    flags.add_option("--steps", steps, "denoising steps (default: the model's)")
        .within(1, 1'000'000)
        .in_group(generators);
    flags.add_option("--image-size", image_size, "pixels of each image: 1024, or 1024x768 (width x height)")
        .in_group(generators);
    flags.add_option("--frames", frames, "frames of a video").within(1, 1'000'000).in_group(generators);
    add_run_flags(flags, scenario, scope, overlays, allow_unknown);
    flags
        .add_option(
            "--measured", measured,
            "what you measured, \"resnet50 int8 on Hailo-8 = 3.1ms\", or a file of such lines (repeatable): "
            "estimates of the same device and stack follow it")
        .in_group("Further conditions");
}

void add_size_flags(Flags& flags, std::vector<std::string>& dims, std::vector<std::string>& inputs,
                    std::vector<std::string>& input_shapes) {
    const char* further = "Further conditions";
    flags.add_option("--dim", dims, "size of a symbolic dimension, NAME=VALUE (repeatable)");
    flags
        .add_option("--input", inputs,
                    "values of a small input that decides shapes, NAME=1,3,224 (repeatable)")
        .in_group(further);
    flags.add_option("--input-shape", input_shapes, "whole shape of an input, NAME=1,3,224,224 (repeatable)")
        .in_group(further);
}

void add_run_flags(Flags& flags, std::string& scenario, std::string& scope,
                   std::vector<std::string>& overlays, bool& allow_unknown) {
    const char* further = "Further conditions";
    flags.add_option("--scenario", scenario, "latency: one stream; throughput: saturated")
        .one_of({"latency", "throughput"})
        .show_default();
    flags.add_option("--scope", scope, "kernel: device time; end_to_end: with transfers and host work")
        .one_of({"kernel", "end_to_end"})
        .show_default();
    flags.add_option("--hardware-db", overlays, "folder(s) of device files that take precedence")
        .in_group(further);
    flags
        .add_flag("--allow-unknown", allow_unknown, "estimate although a part of the model is not understood")
        .in_group(further);
}

std::vector<std::int64_t> WorkloadOptions::batch_sizes() const {
    std::vector<std::int64_t> sizes;
    for (const std::string& text : batches) {
        sizes.push_back(parse_integer(text, "--batch-size"));
        if (sizes.back() < 1 || sizes.back() > kLargestBatch)
            throw UsageError(
                fmt::format("--batch-size: {} is not between 1 and {}", sizes.back(), kLargestBatch));
    }
    return sizes.empty() ? std::vector{batch_size} : sizes;
}

Bindings WorkloadOptions::bindings() const {
    Bindings result;
    for (const std::string& text : dims)
        give_dim(result, text, "--dim");
    for (const std::string& text : inputs)
        give_input(result, text, "--input");
    for (const std::string& text : input_shapes)
        give_shape(result, text, "--input-shape");
    const auto give = [&](const char* flag, const char* name, std::int64_t size) {
        if (!result.dims.emplace(name, size).second)
            throw UsageError(fmt::format("{}: --dim gives {}, too", flag, name));
    };
    if (steps > 0)
        give("--steps", "steps", steps);
    if (frames > 0)
        give("--frames", "frames", frames);
    if (!image_size.empty()) {
        const std::size_t cross = image_size.find('x');
        const std::int64_t width = parse_integer(image_size.substr(0, cross), "--image-size");
        const std::int64_t height =
            cross == std::string::npos ? width : parse_integer(image_size.substr(cross + 1), "--image-size");
        constexpr std::int64_t kMostPixels = 1 << 16;
        if (std::min(width, height) < 1 || std::max(width, height) > kMostPixels)
            throw UsageError(
                fmt::format("--image-size: {} is no size from 1 to {} pixels", image_size, kMostPixels));
        give("--image-size", "height", height);
        give("--image-size", "width", width);
    }
    return result;
}

Workload WorkloadOptions::workload() const {
    Workload workload;
    workload.batch = batch_size;
    workload.sizes = bindings();
    return workload;
}

Conditions WorkloadOptions::conditions_of_every_stack() const {
    Conditions conditions;
    conditions.usual_precision = precision.empty();
    if (!precision.empty())
        conditions.precision = precision_named(precision, "--precision");
    conditions.precision.strict_fp32 = strict_fp32;
    conditions.scenario = scenario_named(scenario, "--scenario");
    conditions.scope = scope_named(scope, "--scope");
    conditions.allow_unknown = allow_unknown;
    return conditions;
}

Conditions WorkloadOptions::conditions() const {
    if (runtimes.size() > 1)
        throw UsageError("--runtime: give one software stack");
    Conditions conditions = conditions_of_every_stack();
    if (!runtimes.empty())
        conditions.stack = runtimes.front();
    return conditions;
}

Session WorkloadOptions::open(const std::string& device) const {
    SessionOptions options;
    options.hardware_overlays.assign(overlays.begin(), overlays.end());
    options.budget = allowed_budget();
    Session session(options);
    if (!measured.empty())
        session.given(read_given(measured, session, device, "--measured"));
    return session;
}

void GenerationOptions::add_formats_to(Flags& flags) {
    flags.add_option("--weights", weights, "storage of weights where it differs, e.g. int4")
        .in_group(kGenerationGroup);
    flags.add_option("--activations", activations, "format of activations and arithmetic where it differs")
        .in_group(kGenerationGroup);
    flags.add_option("--kv-cache", kv_cache, "storage of cached keys and values, e.g. fp8")
        .in_group(kGenerationGroup);
}

void GenerationOptions::add_to(Flags& flags, DeviceCounts counts) {
    flags.add_option("--prompt-tokens", prompt_tokens, "answer a prompt of N tokens")
        .within(1, 1 << 22)
        .in_group(kGenerationGroup);
    flags.add_option("--generate-tokens", generate_tokens, "with M tokens, one step each")
        .within(1, 1 << 22)
        .in_group(kGenerationGroup);
    flags
        .add_option("--context", context,
                    "with a prompt: positions that caches and static shapes are made for (default: prompt "
                    "and answer)")
        .within(1, 1 << 24)
        .in_group(kGenerationGroup);
    flags
        .add_option(
            "--sampling", sampling,
            "with a prompt: how tokens are chosen, the likeliest or one of the likeliest (stacks that "
            "order the vocabulary for it take longer)")
        .one_of({"greedy", "top-p"})
        .in_group(kGenerationGroup);
    add_formats_to(flags);
    const bool several = counts == DeviceCounts::several;
    flags
        .add_option("--devices", devices,
                    fmt::format("devices that share every layer (tensor parallelism){}, or auto: as many as "
                                "needed (default: 1)",
                                several ? ", a row for each count: 1 2 4 8" : ""))
        .expects(1, several ? kMostCounts : 1)
        .in_group(kGenerationGroup);
    flags
        .add_option("--parallel", parallel,
                    "with a prompt: how devices share the model, such as tp=4,pp=2,dp=2,ep=8, in place of "
                    "--devices")
        .in_group(kGenerationGroup);
}

Precision format_named(const std::string& text, const char* flag) {
    if (const auto parsed = parse_precision(text))
        return *parsed;
    throw UsageError(
        fmt::format("{}: \"{}\" is not a numeric format; use fp32, bf16, fp16, fp8, int8, int4 and the like",
                    flag, text));
}

void GenerationOptions::apply(Conditions& conditions) const {
    if (!activations.empty()) {
        const bool strict = conditions.precision.strict_fp32;
        conditions.precision = PrecisionConfig::uniform(format_named(activations, "--activations"));
        conditions.precision.strict_fp32 = strict;
        conditions.usual_precision = false;
    }
    if (!weights.empty())
        conditions.weights = conditions.precision.weights = format_named(weights, "--weights");
    if (!kv_cache.empty())
        conditions.kv_cache = format_named(kv_cache, "--kv-cache");
    conditions.devices = counts().front();
}

std::vector<double> GenerationOptions::counts() const {
    std::vector<double> all;
    for (const std::string& text : devices) {
        const std::int64_t count = text == "auto" ? 1 : parse_integer(text, "--devices");
        if (count < 1 || count > kMostDevices)
            throw UsageError(
                fmt::format("--devices: {} is not between 1 and {}; or give auto", count, kMostDevices));
        all.push_back(text == "auto" ? 0 : static_cast<double>(count));
    }
    return all;
}

void GenerationOptions::give(Workload& workload, Conditions& conditions) const {
    workload.prompt = prompt();
    apply(conditions);
    const std::vector<double> all = counts();
    if (!workload.prompt && std::find(all.begin(), all.end(), 0.0) != all.end())
        throw UsageError("--devices auto: only with --prompt-tokens or --generate-tokens");
}

void GenerationOptions::ask(WorkloadOptions& options, Workload& workload, Conditions& conditions) const {
    workload = options.workload();
    conditions = options.conditions();
    give(workload, conditions);
}

std::optional<Prompt> GenerationOptions::prompt() const {
    if (!asked()) {
        if (!parallel.empty())
            throw UsageError("--parallel: only with --prompt-tokens or --generate-tokens");
        if (sampling != "greedy")
            throw UsageError("--sampling: only with --prompt-tokens or --generate-tokens");
        if (context > 0)
            throw UsageError("--context: only with --prompt-tokens or --generate-tokens; the sizes of a "
                             "single pass are --dim sequence=N and --dim past_sequence=N");
        return std::nullopt;
    }
    Prompt prompt;
    prompt.sampled = sampling == "top-p";
    if (!parallel.empty()) {
        if (devices != std::vector<std::string>{"1"})
            throw UsageError("--parallel says how many devices there are: no --devices beside it");
        prompt.parallel = parse_parallelism(parallel);
    }
    if (prompt_tokens > 0)
        prompt.tokens = prompt_tokens;
    if (generate_tokens > 0)
        prompt.generate = generate_tokens;
    if (context > 0 && context < prompt.tokens + prompt.generate)
        throw UsageError(
            fmt::format("--context: {} positions do not hold a prompt of {} tokens and an answer "
                        "of {}",
                        context, prompt.tokens, prompt.generate));
    prompt.context = context;
    return prompt;
}

void ModelsOption::add_to(Flags& flags) {
    flags.add_option("MODEL", positional,
                     "catalogue name(s), .onnx, .tflite or .gguf files, checkpoints (config.json), folders "
                     "of .onnx files, or - for standard input");
    flags.add_option("--model", flag, "the same as a flag");
}

std::vector<std::string> ModelsOption::taken(const std::string& tool) const {
    std::vector<std::string> names = positional;
    names.insert(names.end(), flag.begin(), flag.end());
    if (names.empty())
        throw UsageError(fmt::format("name a model: {} MODEL", tool));
    for (const std::string& name : names) // "--precision fp16 int8": a second value where one is taken
        if (parse_precision(name) || name.find_first_not_of("0123456789") == std::string::npos)
            throw UsageError(fmt::format("\"{}\" is no model; the flag before it takes one value", name));
    return models_named(names);
}

void ModelOption::add_to(Flags& flags) {
    flags.add_option("MODEL", positional,
                     "catalogue name, .onnx, .tflite or .gguf file, checkpoint (config.json), or - for "
                     "standard input");
    flags.add_option("--model", flag, "the same as a flag");
}

std::string ModelOption::taken(const std::string& tool) const {
    if (flag.empty() == positional.empty())
        throw UsageError(positional.empty() ? fmt::format("name a model: {} MODEL", tool)
                                            : std::string("name the model once, as MODEL or with --model"));
    return model_named(flag.empty() ? positional : flag);
}

} // namespace archsim::cli
