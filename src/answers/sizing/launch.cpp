#include "answers/sizing/launch.hpp"

#include "archsim/core/finding.hpp"
#include "core/lists.hpp"
#include "core/text.hpp"
#include "fields/question.hpp"
#include "fields/serving_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace archsim {

/// Kubernetes' name for a vendor's devices: kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/.
struct DevicePlugin {
    std::string_view vendor, resource;
};
constexpr std::array kPlugins = {DevicePlugin{"NVIDIA", "nvidia.com/gpu"},
                                 DevicePlugin{"AMD", "amd.com/gpu"}};

/// Words of a command.
struct CommandWords : std::vector<std::string> {
    template <class... Value>
    void flag(std::string_view name, const Value&... value) {
        emplace_back(name);
        (push_back(fmt::format("{}", value)), ...);
    }
    /// Only where it is not what the engine does anyway.
    void count(std::string_view name, std::int64_t value) {
        if (value > 1)
            flag(name, value);
    }
};

enum LaunchEngine : std::size_t { kVllm, kSglang, kTrtllm };
constexpr std::array<std::string_view, 3> kEngineNames = {"vLLM", "SGLang", "TensorRT-LLM"};

/// Fields that say what clients send, how fast the host is, how good drafts are or what power costs: no
/// engine is told.
constexpr std::array<std::string_view, 22> kOfClients = {
    "rate",          "arrivals",      "burstiness", "concurrency",      "requests",       "warm_up",
    "prompt_tokens", "output_tokens", "shape",      "length_range",     "lengths",        "trace",
    "seed",          "request_time",  "prefix_hit", "distinct_prompts", "system_prompts", "system_tokens",
    "accepted",      "draft_cost",    "pue",        "grid_intensity"};

/// How engines are told a field of a server: "--flag", with the field's value, "--flag VALUE", or
/// "section.line VALUE" of a file of options; "#--flag", to which the user must add something; "=": it is
/// what the engine does, or other flags say it. A field without a row, and an engine without a text, has no
/// option.
struct Setting {
    std::string_view field;
    std::array<std::string_view, 3> options;
};
constexpr std::array kSettings = {
    Setting{"max_sequences", {"--max-num-seqs", "--max-running-requests", "--max_batch_size"}},
    Setting{"step_tokens", {"--max-num-batched-tokens", "--chunked-prefill-size", "--max_num_tokens"}},
    Setting{"captured_tokens", {"--max-cudagraph-capture-size", "", ""}},
    Setting{
        "memory_share",
        {"--gpu-memory-utilization", "--mem-fraction-static", "kv_cache_config.free_gpu_memory_fraction"}},
    Setting{"block_tokens", {"--block-size", "--page-size", "kv_cache_config.tokens_per_block"}},
    Setting{"whole_prompts", {"--no-enable-chunked-prefill", "=", "="}},
    Setting{"whole_graph",
            {R"(--compilation-config {"cudagraph_mode": "FULL_DECODE_ONLY", "splitting_ops": []})", "", ""}},
    Setting{
        "no_prefix_cache",
        {"--no-enable-prefix-caching", "--disable-radix-cache", "kv_cache_config.enable_block_reuse false"}},
    Setting{"wait_tokens", {"", "", "batch_wait_max_tokens_ratio"}},
    Setting{"wait_steps", {"", "", "batch_wait_timeout_iters"}},
    Setting{"poll_steps", {"", "--scheduler-recv-interval", ""}},
    Setting{"drafted",
            {"#--speculative-config", "#--speculative-algorithm with --speculative-num-draft-tokens",
             "#speculative_config"}},
};

/// The engines' names for a format of cached keys and values; empty: they have none. Wide ones are the
/// model's.
struct CacheFormat {
    Precision format;
    std::array<std::string_view, 3> name;
};
constexpr std::array<std::string_view, 3> kWideCache = {"bfloat16", "bfloat16", "bfloat16"};
constexpr std::array kNarrowCaches = {CacheFormat{Precision::fp8, {"fp8", "fp8_e4m3", "fp8"}},
                                      CacheFormat{Precision::fp4, {"nvfp4", "fp4_e2m1", "nvfp4"}}};

class Launch {
  public:
    Launch(const SizingAnswer& answer, const SizedDevice& device, LaunchEngine engine, std::string checkpoint)
        : answer_(answer), device_(device), engine_(engine), checkpoint_(std::move(checkpoint)) {}

    const Parallelism& way() const { return device_.layout->run.parallelism; }
    /// Remarks on what no flag of the command says.
    const std::vector<std::string>& remarks() const { return remarks_; }

    CommandWords command() {
        if (checkpoint_.find('/') == std::string::npos)
            remark("no repository of {} is known: put the id or folder of yours in its place", checkpoint_);
        CommandWords w = engine_ == kSglang ? sglang() : engine_ == kTrtllm ? trtllm() : vllm();
        add_weights(w);
        add_cache(w);
        for (const ServingField& field : serving_fields())
            add_field(w, field);
        if (engine_ == kTrtllm && limits().chunked) // else it is not
            w.flag("--enable_chunked_prefill");
        constexpr std::array kLongest = {"--max-model-len", "--context-length", "--max_seq_len"};
        add_context(w, kLongest[engine_]);
        add_conditions();
        if (!options_.empty())
            w.flag("--extra_llm_api_options", "options.yaml");
        for (const auto& [key, value] : options_)
            remark("options.yaml has the line {}: {}{}", key, value, value.starts_with("{") ? "}" : "");
        return w;
    }

  private:
    const EngineLimits& limits() const { return device_.layout->engine; }
    template <class... Value>
    void remark(fmt::format_string<const Value&...> text, const Value&... values) {
        remarks_.push_back(fmt::format(text, values...));
    }

    CommandWords vllm() const {
        CommandWords w{{"vllm", "serve", checkpoint_}};
        w.count("--tensor-parallel-size", way().tensor);
        w.count("--pipeline-parallel-size", way().pipeline);
        if (way().experts > 1) {
            w.count("--data-parallel-size", way().groups());
            w.flag("--enable-expert-parallel");
        }
        return w;
    }

    CommandWords sglang() const {
        CommandWords w{{"python", "-m", "sglang.launch_server"}};
        w.flag("--model-path", checkpoint_);
        w.count("--tp-size", way().stage_devices());
        w.count("--pp-size", way().pipeline);
        if (way().experts > 1) {
            w.flag("--ep-size", way().experts);
            if (way().groups() > 1) {
                w.flag("--dp-size", way().groups());
                w.flag("--enable-dp-attention");
            }
        }
        return w;
    }

    CommandWords trtllm() {
        CommandWords w{{"trtllm-serve", checkpoint_}};
        w.count("--tp_size", way().stage_devices());
        w.count("--pp_size", way().pipeline);
        if (way().experts > 1)
            w.flag("--ep_size", way().experts);
        if (way().groups() > 1)
            add_option(w, "enable_attention_dp", "true");
        return w;
    }

    /// A flag, or a line of the file of options.
    void add_option(CommandWords& w, std::string_view option, std::string_view value) {
        if (const std::size_t space = option.find(' '); space != std::string_view::npos) {
            value = option.substr(space + 1);
            option = option.substr(0, space);
        }
        if (option.starts_with("--"))
            return value.empty() ? w.flag(option) : w.flag(option, value);
        const std::size_t dot = option.find('.');
        std::string& line = options_[std::string(option.substr(0, dot))];
        if (dot == std::string_view::npos)
            line = value;
        else
            line += fmt::format("{}{}: {}", line.empty() ? "{" : ", ", option.substr(dot + 1), value);
    }

    /// The flag for the format of weights, or what the checkpoint must be. One that states its own is run so.
    void add_weights(CommandWords& w) {
        if (answer_.quantised)
            return;
        const Precision weights = device_.layout->formats.weights;
        if (bits_of(weights) == bits_of(Precision::fp16)) {
            if (engine_ != kTrtllm)
                w.flag("--dtype", weights == Precision::bf16 ? "bfloat16" : "float16");
        } else if (weights == Precision::fp8 && engine_ != kTrtllm) {
            w.flag("--quantization", "fp8");
        } else {
            remark("{} must be a checkpoint in {}", checkpoint_, device_.precision);
            other_checkpoint_ = true;
        }
    }

    /// Where the checkpoint says nothing of its cache, engines keep it in the model's own type.
    void add_cache(CommandWords& w) {
        const Precision cache = device_.layout->formats.kv_cache;
        constexpr std::array kOption = {"--kv-cache-dtype", "--kv-cache-dtype", "kv_cache_config.dtype"};
        if (bits_of(cache) >= bits_of(Precision::fp16)) {
            if (answer_.stored_cache || other_checkpoint_)
                add_option(w, kOption[engine_], kWideCache[engine_]);
            return;
        }
        for (const CacheFormat& narrow : kNarrowCaches)
            if (narrow.format == cache)
                return add_option(w, kOption[engine_], narrow.name[engine_]);
        remark("a cache in {}: {} has none", name_of(cache), kEngineNames[engine_]);
    }

    /// The value asked of a server, or the one that its stack decides.
    std::string value_of(const ServingField& field) const {
        if (field.key == "max_sequences")
            return fmt::format("{}", limits().sequences);
        if (field.key == "step_tokens") // SGLang: -1 leaves prompts whole
            return fmt::format("{}", engine_ == kSglang && !limits().chunked ? -1 : limits().step_tokens);
        const std::vector<std::string> texts = field.print(answer_.request.serving);
        return texts.empty() ? "" : texts.front();
    }

    void add_field(CommandWords& w, const ServingField& field) {
        const std::string value = value_of(field);
        if (value.empty() || contains(kOfClients, field.key))
            return;
        // A block that holds a whole sequence is a reservation: both fields are one number.
        const RequestPlan& load = answer_.request.serving.load;
        const bool reserved =
            static_cast<double>(limits().block_tokens) >= load.prompt_tokens + load.output_tokens;
        if (field.key == (reserved ? "block_tokens" : "reserved_context"))
            return;
        const auto* const row = std::ranges::find(kSettings, field.key, &Setting::field);
        const std::string_view option = row == kSettings.end() ? "" : row->options[engine_];
        const bool truth = field.kind == FieldKind::truth;
        if (option.empty() || option.starts_with("#"))
            remark("{}{}{}: {} {}", field.flag, truth ? "" : " ", truth ? "" : value, kEngineNames[engine_],
                   option.empty() ? std::string("has no option for it")
                                  : fmt::format("takes it by {}, with what drafts", option.substr(1)));
        else if (option != "=")
            add_option(w, option, truth ? "" : value);
    }

    /// Positions of the longest sequence; 0 where the load says no more than a mean.
    std::int64_t longest() const {
        const RequestPlan& load = answer_.request.serving.load;
        double most = load.shape == LengthShape::uniform
                          ? (load.prompt_tokens + load.output_tokens) * std::max(1.0, load.longest)
                          : 0;
        for (const auto& [prompt, output] : load.lengths)
            most = std::max(most, static_cast<double>(prompt + output));
        if (load.trace != nullptr)
            for (const TraceRequest& one : load.trace->requests)
                most = std::max(most, static_cast<double>(one.prompt_tokens + one.output_tokens));
        return static_cast<std::int64_t>(std::ceil(most));
    }

    void add_context(CommandWords& words, const char* flag) {
        if (longest() > 0)
            words.flag(flag, longest());
        else
            remark("without {} sequences are as long as the model allows; --lengths or --trace says how long "
                   "yours are",
                   flag);
    }

    /// Conditions that no engine can be told: a device that is changed, a stack that fuses otherwise.
    void add_conditions() {
        constexpr std::array<std::string_view, 5> kTold = {"precision", "activations", "weights", "kv_cache",
                                                           "runtime"};
        const Conditions conditions = answer_.formats.empty() ? Conditions{} : answer_.formats.front();
        for (const StatedField& stated : stated_fields({{}, conditions}))
            if (!contains(kTold, stated.field->key))
                remark("{} {}: sized so; the command starts what there is",
                       stated.field->flag.empty() ? stated.field->key : stated.field->flag,
                       fmt::format("{}", fmt::join(stated.texts, " ")));
    }

    const SizingAnswer& answer_;
    const SizedDevice& device_;
    LaunchEngine engine_;
    std::string checkpoint_;
    bool other_checkpoint_ = false;              ///< than the one that was named
    std::map<std::string, std::string> options_; ///< of a file, by key
    std::vector<std::string> remarks_;
};

static std::string command_text(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool wraps = i > 0 && words[i].starts_with("--");
        text += (i == 0 ? "" : wraps ? " \\\n    " : " ") + shell_quoted(words[i]);
    }
    return text;
}

static std::string resource_of(const Session& session, const SizedDevice& device) {
    const std::string vendor = session.hardware().device(device.hardware).device->vendor;
    for (const DevicePlugin& plugin : kPlugins)
        if (plugin.vendor == vendor)
            return std::string(plugin.resource);
    throw UsageError(
        fmt::format("--emit kubernetes: no device plugin for vLLM on {} is known", device.hardware));
}

std::string launch_stack(const Session& session, LaunchTarget target) {
    const std::string id = target == LaunchTarget::sglang   ? "sglang"
                           : target == LaunchTarget::trtllm ? "trt-llm"
                                                            : "vllm";
    return contains(session.hardware().runtime_ids(), id) ? id : "";
}

std::string launch_text(const Session& session, const SizingAnswer& answer, const SizedDevice& device,
                        LaunchTarget target, std::string_view checkpoint) {
    if (!device.layout)
        throw UsageError(fmt::format("--emit: {} has no layout: {}", device.hardware, device.reason));
    const LaunchEngine engine = target == LaunchTarget::sglang   ? kSglang
                                : target == LaunchTarget::trtllm ? kTrtllm
                                                                 : kVllm;
    Launch launch(answer, device, engine, one_line(std::string(checkpoint))); // a name, no line of a script
    const Parallelism& way = launch.way();
    const CommandWords words = launch.command();
    std::string text =
        fmt::format("# {} on {} x {}: {}, {}, the limits hold with {:.0f} % (sized for {})\n",
                    one_line(answer.model), way.devices(), one_line(device.hardware), to_string(way),
                    device.precision, std::floor(100 * device.layout->probability), device.runtime);
    for (const std::string& remark : launch.remarks())
        text += "# " + one_line(remark) + "\n";
    if (target == LaunchTarget::kubernetes) {
        return text + manifest({.model = answer.model,
                                .engine = words,
                                .resource = resource_of(session, device),
                                .engines = way.data,
                                .nodes = way.pipeline,
                                .node_devices = way.stage_devices()});
    }
    if (way.data > 1)
        text +=
            fmt::format("# {} engines like this one, each on {} devices, requests to the one with the fewest "
                        "tokens ahead\n",
                        way.data, way.engine_devices());
    return text + command_text(words) + "\n";
}

} // namespace archsim
