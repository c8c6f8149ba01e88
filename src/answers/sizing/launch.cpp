#include "answers/sizing/launch.hpp"

#include "archsim/core/finding.hpp"
#include "core/lists.hpp"
#include "core/text.hpp"
#include "fields/question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace archsim {

namespace {

/// What Kubernetes calls a vendor's devices: kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/.
struct DevicePlugin {
    std::string_view vendor, resource;
};
constexpr std::array kPlugins = {DevicePlugin{"NVIDIA", "nvidia.com/gpu"},
                                 DevicePlugin{"AMD", "amd.com/gpu"}};

/// Words of a command.
struct Words : std::vector<std::string> {
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

struct Launch {
    const SizingAnswer& answer;
    const SizedDevice& device;
    std::string checkpoint;
    std::vector<std::string> remarks = {};

    const Parallelism& way() const { return device.layout->run.parallelism; }
    const EngineLimits& engine() const { return device.layout->engine; }
    /// Positions of the longest sequence; 0 where the load says no more than a mean.
    std::int64_t longest() const {
        const RequestPlan& load = answer.request.serving.load;
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

    void add_context(Words& words, const char* flag) {
        if (longest() > 0)
            words.flag(flag, longest());
        else
            remarks.push_back(
                fmt::format("without {} sequences are as long as the model allows; --lengths or "
                            "--trace says how long yours are",
                            flag));
    }

    /// The flag for the format, or what the checkpoint must be.
    void add_format(Words& words, bool quantises) {
        const std::string& format = device.precision;
        if (format == "bf16" || format == "fp16")
            words.flag("--dtype", format == "bf16" ? "bfloat16" : "float16");
        else if (format == "fp8" && quantises)
            words.flag("--quantization", "fp8");
        else
            needs_checkpoint();
    }
    void needs_checkpoint() {
        remarks.push_back(fmt::format("{} must be a checkpoint in {}", checkpoint, device.precision));
    }

    Words vllm() {
        Words w{{"vllm", "serve", checkpoint}};
        w.count("--tensor-parallel-size", way().tensor);
        w.count("--pipeline-parallel-size", way().pipeline);
        if (way().experts > 1) {
            w.count("--data-parallel-size", way().groups());
            w.flag("--enable-expert-parallel");
        }
        add_format(w, true);
        w.flag("--max-num-seqs", engine().sequences);
        w.flag("--max-num-batched-tokens", engine().step_tokens);
        if (engine().captured_tokens > 0) // else vLLM's own
            w.flag("--max-cudagraph-capture-size", engine().captured_tokens);
        add_context(w, "--max-model-len");
        return w;
    }

    Words sglang() {
        Words w{{"python", "-m", "sglang.launch_server"}};
        w.flag("--model-path", checkpoint);
        w.count("--tp-size", way().stage_devices());
        w.count("--pp-size", way().pipeline);
        if (way().experts > 1) {
            w.flag("--ep-size", way().experts);
            if (way().groups() > 1) {
                w.flag("--dp-size", way().groups());
                w.flag("--enable-dp-attention");
            }
        }
        add_format(w, true);
        w.flag("--max-running-requests", engine().sequences);
        w.flag("--chunked-prefill-size", engine().step_tokens);
        add_context(w, "--context-length");
        return w;
    }

    Words trtllm() {
        Words w{{"trtllm-serve", checkpoint}};
        w.count("--tp_size", way().stage_devices());
        w.count("--pp_size", way().pipeline);
        if (way().experts > 1)
            w.flag("--ep_size", way().experts);
        if (way().groups() > 1) {
            w.flag("--extra_llm_api_options", "options.yaml");
            remarks.emplace_back("options.yaml has the line enable_attention_dp: true");
        }
        if (device.precision != "bf16" && device.precision != "fp16")
            needs_checkpoint();
        w.flag("--max_batch_size", engine().sequences);
        w.flag("--max_num_tokens", engine().step_tokens);
        add_context(w, "--max_seq_len");
        return w;
    }
};

std::string command_text(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool wraps = i > 0 && words[i].starts_with("--");
        text += (i == 0 ? "" : wraps ? " \\\n    " : " ") + shell_quoted(words[i]);
    }
    return text;
}

std::string resource_of(const Session& session, const SizedDevice& device) {
    const std::string vendor = session.hardware().device(device.hardware).device->vendor;
    for (const DevicePlugin& plugin : kPlugins)
        if (plugin.vendor == vendor)
            return std::string(plugin.resource);
    throw UsageError(
        fmt::format("--emit kubernetes: no device plugin for vLLM on {} is known", device.hardware));
}

} // namespace

std::string launch_stack(const Session& session, LaunchTarget target) {
    const std::string id = target == LaunchTarget::sglang   ? "sglang"
                           : target == LaunchTarget::trtllm ? "trt-llm"
                                                            : "vllm";
    const auto known = session.hardware().runtime_ids();
    return contains(known, id) ? id : "";
}

std::string checkpoint_of(const Session& session, std::string_view model) {
    const CatalogueEntry* entry = session.catalogue().find(model);
    if (!entry)
        return std::string(model);
    // The first of its names that has an owner is that of its checkpoint.
    for (const std::string& alias : entry->aliases)
        if (std::ranges::count(alias, '/') == 1)
            return alias;
    return entry->name;
}

std::string launch_text(const Session& session, const SizingAnswer& answer, const SizedDevice& device,
                        LaunchTarget target, std::string_view checkpoint) {
    if (!device.layout)
        throw UsageError(fmt::format("--emit: {} has no layout: {}", device.hardware, device.reason));
    Launch launch{answer, device, one_line(std::string(checkpoint))}; // a name, and no line of a script
    const Parallelism& way = launch.way();
    const Words words = target == LaunchTarget::sglang   ? launch.sglang()
                        : target == LaunchTarget::trtllm ? launch.trtllm()
                                                         : launch.vllm();
    std::string text =
        fmt::format("# {} on {} x {}: {}, the limits hold with {:.0f} % (sized for {})\n",
                    one_line(answer.model), way.devices(), one_line(device.hardware), to_string(way),
                    std::floor(100 * device.layout->probability), device.runtime);
    for (const std::string& remark : launch.remarks)
        text += "# " + remark + "\n";
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
