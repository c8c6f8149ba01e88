#include "session/generation/step.hpp"

#include "estimate/algebra.hpp"

#include "core/data_dir.hpp"
#include "estimate/batch_pieces.hpp"
#include "estimate/intervals.hpp"
#include "estimate/price.hpp"
#include "hardware/uncertainty.hpp"
#include "session/server/server.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace archsim {

/// One time is one kind of row: what was measured of inferences must not move a pass that is a decoding step
/// beside what was measured of those.
void StepRunner::use(std::shared_ptr<const Machine> machine) {
    machine_ = std::move(machine);
    unmeasured_ = machine_;
    if (machine_->uncertainty && !machine_->uncertainty->given().empty()) {
        auto without = std::make_shared<Machine>(*machine_);
        without->uncertainty = nullptr;
        unmeasured_ = std::move(without);
    }
}

void StepRunner::share(double tensor, double experts) {
    sharing_ = Sharing(tensor);
    sharing_.experts = experts;
    const Device& device = *machine_->device;
    if (device.node_devices > 0 && device.network_bandwidth.known() &&
        sharing_.devices() > device.node_devices) {
        sharing_.node = device.node_devices;
        sharing_.network = machine_->rate(Resource::link_bytes) / device.network_bandwidth.value;
    }
    if (sharing_.devices() == machine_->devices)
        return;
    auto grouped = std::make_shared<Machine>(*machine_);
    grouped->devices = sharing_.devices();
    use(std::move(grouped));
}

void StepRunner::ignore_capacity() {
    auto unlimited = std::make_shared<Machine>(*machine_);
    unlimited->memory_capacity_bytes = 0;
    use(std::move(unlimited));
}

std::shared_ptr<const Partition> StepRunner::partition(const BoundModel& bound) const {
    return bound.partition(machine_->runtime->fusion_on(machine_->device->family));
}

std::shared_ptr<const NetworkWork> StepRunner::work(std::shared_ptr<const BoundModel> bound) const {
    auto counts = bound->work(machine_->runtime->fusion_on(machine_->device->family), precision_,
                              {machine_->runtime->rules, machine_->device->generation}, sharing_);
    // The counts point into the bound graph, which the model's short list of sizes may drop at any time.
    const NetworkWork* of = counts.get();
    using Held = std::pair<std::shared_ptr<const BoundModel>, std::shared_ptr<const NetworkWork>>;
    return {std::make_shared<const Held>(std::move(bound), std::move(counts)), of};
}

std::shared_ptr<const NetworkWork> StepRunner::work(std::int64_t batch, std::int64_t sequence,
                                                    std::int64_t past) const {
    return work(model_.bound(batch, sequence, past));
}

Estimate StepRunner::price(const NetworkWork& work, bool keep_subgraphs) const {
    return estimate(work, *unmeasured_, {allow_unknown_, keep_subgraphs});
}

Estimate StepRunner::price(const NetworkWork& work, BatchCounts& counted) const {
    return estimate(work, *unmeasured_, {allow_unknown_, false}, counted);
}

PromptPasses StepRunner::prompt_passes(std::int64_t batch, std::int64_t tokens, std::int64_t compiled) const {
    const auto param = [&](Parameter p, std::int64_t absent) {
        return static_cast<std::int64_t>(machine_->param(p, static_cast<double>(absent)));
    };
    std::int64_t padded = std::min(param(Parameter::shortest_prompt, tokens), std::max(tokens, compiled));
    while (padded < tokens)
        padded *= 2;
    PromptPasses passes{.tokens = padded};
    if (machine_->param(Parameter::static_context, 0) > 0)
        passes.tokens = std::min(param(Parameter::microbatch_rows, padded), std::max(padded, compiled));
    passes.batch = std::min(batch, param(Parameter::prompts_per_pass, batch));
    const auto times = [](std::int64_t all, std::int64_t part) {
        return std::ceil(static_cast<double>(all) / static_cast<double>(part));
    };
    passes.times = times(batch, passes.batch) * times(padded, passes.tokens);
    return passes;
}

std::shared_ptr<const BoundModel> StepRunner::prompt_pass(const PromptPasses& passes,
                                                          std::int64_t compiled) const {
    // Chunks of a prompt attend to the cache that was compiled for all of it; a prompt in one pass to itself.
    const bool chunks = machine_->param(Parameter::static_context, 0) > 0 &&
                        machine_->parameters.fact(Parameter::microbatch_rows).known();
    return model_.bound(passes.batch, passes.tokens,
                        chunks ? std::max<std::int64_t>(0, compiled - passes.tokens) : 0);
}

std::shared_ptr<const BoundModel> StepRunner::prompt_pass(std::int64_t batch, std::int64_t tokens,
                                                          std::int64_t compiled) const {
    return prompt_pass(prompt_passes(batch, tokens, compiled), compiled);
}

/// A delta rule over more than one block of a prompt.
static bool goes_in_blocks(const SubgraphWork& s) {
    return s.kind == OpKind::attention && s.anchor != nullptr && s.anchor->serial_steps > 1;
}

bool StepRunner::in_blocks(const NetworkWork& work) {
    return std::ranges::any_of(work.subgraphs, goes_in_blocks);
}

double StepRunner::launches_of(const NetworkWork& work) const {
    const double quantising = machine_->param(Parameter::quantising_kernels, 0);
    double kernels = 0;
    bool experts = false;
    for (const SubgraphWork& s : work.subgraphs) {
        ++kernels;
        if (s.anchor == nullptr)
            continue;
        const auto products = std::ranges::count_if(s.anchor->contractions, &Contraction::weights_constant);
        const double quantises = bits_of(s.precision) < bits_of(precision_.activations) ? quantising : 0;
        // Kernels of a recurrence in blocks: those of gpu_attention.cpp, and a norm of the queries and of the
        // keys.
        constexpr double kBlockKernels = 8;
        constexpr double kTwice = 2; // what experts are given, and what their last product is
        if (s.kind == OpKind::matmul)
            kernels += s.anchor->serial_steps - 1;
        else if (goes_in_blocks(s))
            kernels += kBlockKernels - 1;
        experts = experts || products > 1;
        if (products > 1)
            kernels += kTwice * quantises;
        else if (products == 1)
            kernels += quantises;
    }
    return kernels * (experts ? machine_->param(Parameter::expert_launches, 1) : 1);
}

double StepRunner::launch_seconds(double launches, double tokens, bool prompts,
                                  const Capture& capture) const {
    const double captured = capture.tokens > 0 ? static_cast<double>(capture.tokens)
                                               : machine_->param(Parameter::captured_tokens, 0);
    if (prompts ? !capture.whole_graph && tokens <= captured
                : capture.whole_graph || captured <= 1 || tokens <= captured)
        return 0;
    return machine_->param(Parameter::uncaptured_launch, 0) *
           (capture.whole_graph ? machine_->param(Parameter::whole_graph_launch, 1) : 1) * launches;
}

Estimate StepRunner::prompt_part(std::int64_t batch, std::int64_t tokens, std::int64_t compiled,
                                 bool keep_subgraphs) const {
    const PromptPasses passes = prompt_passes(batch, tokens, compiled);
    const auto counts = work(prompt_pass(passes, compiled));
    Estimate e = price(*counts, keep_subgraphs);
    // The host launches ahead of the device: what is longer decides.
    const double rows = static_cast<double>(passes.batch) * static_cast<double>(passes.tokens);
    const double waits = launch_seconds(launches_of(*counts), rows, true, {}) - e.latency_s;
    return e.status == Status::ok ? waiting(std::move(e), waits, *machine_, Parameter::uncaptured_launch) : e;
}

Estimate StepRunner::prefill(std::int64_t batch, std::int64_t tokens, std::int64_t compiled,
                             bool keep_subgraphs) const {
    Estimate e = prompt_part(batch, tokens, compiled, keep_subgraphs);
    if (e.status != Status::ok)
        return e;
    add_intervals(*machine_, SpreadOf::prefill, e);
    const PromptPasses passes = prompt_passes(batch, tokens, compiled);
    // Passes over parts of a batch, as one answer for all of it.
    const double parts = static_cast<double>(batch) / e.batch;
    return with_batches(repeated(std::move(e), passes.times), parts);
}

std::int64_t StepRunner::context_read(std::int64_t past, std::int64_t compiled) const {
    if (machine_->param(Parameter::static_context, 0) <= 0)
        return past;
    const auto block = static_cast<std::int64_t>(
        machine_->param(Parameter::context_block, static_cast<double>(std::max<std::int64_t>(1, compiled))));
    const std::int64_t grown = (past / block + 1) * block; // room for the token that is made
    return std::max(past, std::min(grown, compiled) - 1);
}

Estimate StepRunner::decode(std::int64_t batch, std::int64_t past, std::int64_t compiled,
                            bool keep_subgraphs) const {
    Estimate e = price(*work(batch, 1, context_read(past, compiled)), keep_subgraphs);
    if (e.status != Status::ok)
        return e;
    const double waits = static_cast<double>(batch) * machine_->param(Parameter::sequence_time, 0);
    e = waiting(std::move(e), waits, *machine_, Parameter::sequence_time);
    add_intervals(*machine_, SpreadOf::decode, e);
    return e;
}

bool StepRunner::starts_on(double devices) const {
    const double heads = model_.heads();
    // Engines that fill a device with caches divide attention by whole heads (vLLM, SGLang, TensorRT-LLM).
    const bool whole = machine_->parameters.fact(Parameter::cache_memory_share).known();
    return !whole || heads <= 0 || std::fmod(heads, devices) == 0;
}

std::string StepRunner::unstarted(double devices) const {
    constexpr double kMost = 64;
    std::vector<int> ways;
    for (double n = 1; n <= kMost; ++n)
        if (starts_on(n))
            ways.push_back(static_cast<int>(n));
    return fmt::format(
        "{} attention heads do not divide among {:.0f} devices, and {} does not start; tp={} do, or "
        "pp={:.0f}",
        model_.heads(), devices, machine_->runtime->name, fmt::join(ways, ", "), devices);
}

Estimate StepRunner::with_sampling(Estimate step, double sequences, bool sampled) const {
    if (!sampled || step.status != Status::ok)
        return step;
    const double power_w = step.power_w;
    const double logits = sequences * model_.vocabulary();
    return lengthened(std::move(step), logits * machine_->param(Parameter::sampling_time, 0), power_w);
}

/// Files of 4-bit blocks hold matrices whose rows are no multiple of a block in a wider format: on average
/// more bits a weight, and tables as wide as the residual stream too. Worked: of Qwen2.5-72B 28 % of the
/// weights read rows of 29,568, 115.5 times 256: 4.85 bits become 5.17, 44.3 GB 47.1.
static void store_in_blocks(const GenerationModel& model, const Machine& machine, PrecisionConfig& config) {
    const ServerMemory files = server_memory(machine, 0, data_table("servers.json"));
    const auto hidden = static_cast<std::int64_t>(model.hidden());
    if (files.row_weights == 0 || config.weight_bits_overhead <= 0)
        return;
    const double bits = bits_of(config.weights) + config.weight_bits_overhead;
    config.weight_bits_overhead += bits * (files.other_rows - 1) * model.broken_rows(files.row_weights);
    if (hidden % files.row_weights != 0) {
        config.head_bits *= files.other_rows;
        config.table_bits *= files.other_rows;
    }
}

std::optional<StepRunner> make_runner(const Session& session, const GenerationModel& model, Result& result,
                                      Users users) {
    Conditions own = result.conditions;
    // Steps of one batch follow each other; serving many requests is priced as larger batches.
    own.scenario = Scenario::latency;
    // Cache, fit and rate all rest on the whole of the model.
    if (std::string why = model.not_understood(); !why.empty() && !own.allow_unknown) {
        result.estimate.status = Status::incomplete;
        result.estimate.reason = std::move(why);
        return std::nullopt;
    }
    try {
        const DeviceChoice choice = session.hardware().device(result.hardware);
        result.device = choice.device; // known even where the stack does not run on it
        result.power_mode = choice.power_mode;
        if (own.stack.empty())
            own.stack = users == Users::one
                            ? measured_language_runtime(session, result.hardware, model.file())
                            : language_runtime(session.hardware(), *choice.device, model.file());
        result.machine = session.machine(result.hardware, own);
        result.device = result.machine->device;
        result.runtime = result.machine->runtime;
        result.power_mode = result.machine->mode_name();
        // The scheme as it was named: a cache asked for beside it changes the cache, not what is multiplied.
        const bool narrow = bits_of(own.precision.compute) < bits_of(Precision::fp16);
        const PrecisionConfig meant = with_stored_weights(
            *result.machine, own.precision, narrow ? model.stored_alone() : model.stored_weights());
        ExecutedPrecision executed =
            language_precision(*result.machine, meant, own.kv_cache ? own.kv_cache : model.stored_cache());
        if (executed.note.empty() && narrow && meant.compute != own.precision.compute)
            executed.note = fmt::format("multiplies in {}: the checkpoint quantised its weights alone, to {}",
                                        name_of(executed.config.compute), name_of(meant.weights));
        result.estimate.precision_note = executed.note;
        if (executed.config.weights == Precision::int4)
            store_in_blocks(model, *result.machine, executed.config);
        const Runtime& stack = *result.runtime;
        if (!stack.language_models && stack.fallback == Fallback::host && !stack.fusion.attention &&
            is_integer(executed.config.compute)) {
            executed.supported = false;
            executed.note =
                fmt::format("{} multiplies integers alone and leaves attention, with its cache, to the "
                            "host: nobody serves language models so",
                            stack.name);
        }
        if (executed.supported)
            return StepRunner(model, result.machine, executed.config, own.allow_unknown);
        result.estimate.reason = executed.note;
    } catch (const Error& problem) {
        result.estimate.reason = problem.what();
    }
    result.estimate.status = Status::unsupported;
    return std::nullopt;
}

double stage_hops(const Machine& machine, const Parallelism& way, double rows, double hidden) {
    constexpr double kActivationBytes = 2; // 16 bits, whatever products take
    const Device& device = *machine.device;
    const auto stage_devices = static_cast<double>(way.stage_devices()),
               stages = static_cast<double>(way.pipeline);
    const bool apart = device.node_devices > 0 && device.network_bandwidth.known() && stages > 1 &&
                       stage_devices >= device.node_devices;
    const double link = apart ? device.network_bandwidth.value : machine.rate(Resource::link_bytes);
    const double rate = link * machine.param(Parameter::link_efficiency, 1);
    // Every chip of a stage sends its part.
    const double bytes = kActivationBytes * rows * hidden / stage_devices;
    return (stages - 1) * (machine.param(Parameter::link_latency, 0) + (rate > 0 ? bytes / rate : 0));
}

} // namespace archsim
