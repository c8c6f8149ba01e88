// What starts a sized layout: every flag is a documented option of its engine, layouts are those of the
// answer.

#include "answers/sizing/launch.hpp"
#include "archsim/core/finding.hpp"
#include "checkpoint/gguf_maker.hpp"
#include "fields/serving_fields.hpp"
#include "session/named_format.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

using namespace archsim;
using archsim::test::shipped_session;

namespace {

/// One documented option of an engine: every flag of a launch is of these.
struct LaunchOption {
    LaunchTarget engine;
    std::string_view flag, url; ///< of the page that documents it
};
constexpr std::string_view
    kVllmPage = "https://docs.vllm.ai/en/latest/cli/serve/",
    kSglangPage = "https://docs.sglang.io/advanced_features/server_arguments.html",
    kTrtllmPage = "https://nvidia.github.io/TensorRT-LLM/commands/trtllm-serve/trtllm-serve.html";
constexpr LaunchTarget kVllm = LaunchTarget::vllm, kSglang = LaunchTarget::sglang,
                       kTrtllm = LaunchTarget::trtllm;

constexpr std::array kOptions = {
    LaunchOption{kVllm, "--tensor-parallel-size", kVllmPage},
    LaunchOption{kVllm, "--pipeline-parallel-size", kVllmPage},
    LaunchOption{kVllm, "--data-parallel-size", kVllmPage},
    LaunchOption{kVllm, "--enable-expert-parallel", kVllmPage},
    LaunchOption{kVllm, "--dtype", kVllmPage},
    LaunchOption{kVllm, "--quantization", kVllmPage},
    LaunchOption{kVllm, "--kv-cache-dtype", kVllmPage},
    LaunchOption{kVllm, "--max-num-seqs", kVllmPage},
    LaunchOption{kVllm, "--max-num-batched-tokens", kVllmPage},
    LaunchOption{kVllm, "--max-cudagraph-capture-size", kVllmPage},
    LaunchOption{kVllm, "--max-model-len", kVllmPage},
    LaunchOption{kVllm, "--gpu-memory-utilization", kVllmPage},
    LaunchOption{kVllm, "--block-size", kVllmPage},
    LaunchOption{kVllm, "--no-enable-chunked-prefill", kVllmPage},
    LaunchOption{kVllm, "--no-enable-prefix-caching", kVllmPage},
    LaunchOption{kVllm, "--compilation-config", kVllmPage},
    LaunchOption{kSglang, "--model-path", kSglangPage},
    LaunchOption{kSglang, "--tp-size", kSglangPage},
    LaunchOption{kSglang, "--pp-size", kSglangPage},
    LaunchOption{kSglang, "--dp-size", kSglangPage},
    LaunchOption{kSglang, "--enable-dp-attention", kSglangPage},
    LaunchOption{kSglang, "--ep-size", kSglangPage},
    LaunchOption{kSglang, "--dtype", kSglangPage},
    LaunchOption{kSglang, "--quantization", kSglangPage},
    LaunchOption{kSglang, "--kv-cache-dtype", kSglangPage},
    LaunchOption{kSglang, "--max-running-requests", kSglangPage},
    LaunchOption{kSglang, "--chunked-prefill-size", kSglangPage},
    LaunchOption{kSglang, "--context-length", kSglangPage},
    LaunchOption{kSglang, "--mem-fraction-static", kSglangPage},
    LaunchOption{kSglang, "--page-size", kSglangPage},
    LaunchOption{kSglang, "--disable-radix-cache", kSglangPage},
    LaunchOption{kSglang, "--scheduler-recv-interval", kSglangPage},
    LaunchOption{kTrtllm, "--tp_size", kTrtllmPage},
    LaunchOption{kTrtllm, "--pp_size", kTrtllmPage},
    LaunchOption{kTrtllm, "--ep_size", kTrtllmPage},
    LaunchOption{kTrtllm, "--max_batch_size", kTrtllmPage},
    LaunchOption{kTrtllm, "--max_num_tokens", kTrtllmPage},
    LaunchOption{kTrtllm, "--max_seq_len", kTrtllmPage},
    LaunchOption{kTrtllm, "--extra_llm_api_options", kTrtllmPage},
    LaunchOption{kTrtllm, "--enable_chunked_prefill", kTrtllmPage},
};

/// One documented field of an object of a manifest: "Pod" in a template of the others; "[]": items of a list,
/// "{}": keys of one's own.
struct ManifestField {
    std::string_view kind, path, url;
};
constexpr std::string_view
    kDeploymentFields =
        "https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/deployment-v1/",
    kPodFields = "https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/",
    kServiceFields = "https://kubernetes.io/docs/reference/kubernetes-api/service-resources/service-v1/",
    kSetFields = "https://lws.sigs.k8s.io/docs/reference/leaderworkerset.v1/";
constexpr std::string_view kDeploymentKind = "Deployment", kServiceKind = "Service",
                           kSetKind = "LeaderWorkerSet", kPodKind = "Pod";

// "[]": items of a list; "{}": keys of one's own.
constexpr std::array kManifestFields = {
    ManifestField{kDeploymentKind, "apiVersion", kDeploymentFields},
    ManifestField{kDeploymentKind, "kind", kDeploymentFields},
    ManifestField{kDeploymentKind, "metadata.name", kDeploymentFields},
    ManifestField{kDeploymentKind, "spec.replicas", kDeploymentFields},
    ManifestField{kDeploymentKind, "spec.selector.matchLabels.{}", kDeploymentFields},
    ManifestField{kServiceKind, "apiVersion", kServiceFields},
    ManifestField{kServiceKind, "kind", kServiceFields},
    ManifestField{kServiceKind, "metadata.name", kServiceFields},
    ManifestField{kServiceKind, "spec.selector.{}", kServiceFields},
    ManifestField{kServiceKind, "spec.ports.[].port", kServiceFields},
    ManifestField{kServiceKind, "spec.ports.[].targetPort", kServiceFields},
    ManifestField{kSetKind, "apiVersion", kSetFields},
    ManifestField{kSetKind, "kind", kSetFields},
    ManifestField{kSetKind, "metadata.name", kSetFields},
    ManifestField{kSetKind, "spec.replicas", kSetFields},
    ManifestField{kSetKind, "spec.leaderWorkerTemplate.size", kSetFields},
    ManifestField{kSetKind, "spec.leaderWorkerTemplate.restartPolicy", kSetFields},
    ManifestField{kPodKind, "metadata.labels.{}", kPodFields},
    ManifestField{kPodKind, "spec.containers.[].name", kPodFields},
    ManifestField{kPodKind, "spec.containers.[].image", kPodFields},
    ManifestField{kPodKind, "spec.containers.[].command.[]", kPodFields},
    ManifestField{kPodKind, "spec.containers.[].args.[]", kPodFields},
    ManifestField{kPodKind, "spec.containers.[].ports.[].containerPort", kPodFields},
    ManifestField{kPodKind, "spec.containers.[].readinessProbe.httpGet.path", kPodFields},
    ManifestField{kPodKind, "spec.containers.[].readinessProbe.httpGet.port", kPodFields},
    ManifestField{kPodKind, "spec.containers.[].resources.limits.{}", kPodFields},
    ManifestField{kPodKind, "spec.containers.[].volumeMounts.[].name", kPodFields},
    ManifestField{kPodKind, "spec.containers.[].volumeMounts.[].mountPath", kPodFields},
    ManifestField{kPodKind, "spec.volumes.[].name", kPodFields},
    ManifestField{kPodKind, "spec.volumes.[].emptyDir.medium", kPodFields},
};

constexpr std::array kEngines = {LaunchTarget::vllm, LaunchTarget::sglang, LaunchTarget::trtllm};

SizingAnswer answer_with(const Parallelism& way, const std::string& format) {
    SizingAnswer answer;
    answer.model = "qwen3-30b-a3b";
    answer.request.serving.load.prompt_tokens = 2000;
    answer.request.serving.load.output_tokens = 300;
    answer.request.serving.load.lengths = {{1000, 200}, {3000, 400}};
    SizedDevice& d = answer.devices.emplace_back();
    d.hardware = "H100";
    d.precision = format;
    d.runtime = "vLLM";
    d.layout.emplace();
    d.layout->run.parallelism = way;
    d.layout->formats = PrecisionConfig::uniform(*parse_precision(format));
    d.layout->probability = 0.95;
    return answer;
}

/// With a field of the server's request as that text says.
SizingAnswer answer_to(const ServingField& field) {
    SizingAnswer answer = answer_with({}, "bf16");
    const std::string text = !field.choices.empty()            ? field.choices.back()
                             : field.kind == FieldKind::truth  ? "true"
                             : field.kind == FieldKind::whole  ? "24"
                             : field.key == "length_range"     ? "0.5,2"
                             : field.key == "prompt_parallel"  ? "tp=2"
                             : field.key == "request_time"     ? "20ms"
                             : field.key == "reserved_context" ? "8192"
                                                               : "1";
    if (field.kind != FieldKind::file)
        field.put(field.key == "reserved_context" ? "8192" : text, field.key, answer.request.serving);
    SizedLayout& layout = *answer.devices.front().layout;
    const EngineLimits& asked = answer.request.serving.plan.engine;
    layout.engine = asked;
    layout.engine.sequences = asked.sequences > 0 ? asked.sequences : 256;
    layout.engine.step_tokens = asked.step_tokens > 0 ? asked.step_tokens : 8192;
    return answer;
}

std::string launched(const Parallelism& way, LaunchTarget target, const std::string& format = "bf16") {
    const SizingAnswer answer = answer_with(way, format);
    return launch_text(shipped_session(), answer, answer.devices.front(), target, "Qwen/Qwen3-30B-A3B");
}

/// Words of the command that start with two dashes.
std::vector<std::string> flags_of(const std::string& text) {
    std::vector<std::string> flags;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line.starts_with("#") ? "" : line);
        for (std::string word; words >> word;)
            if (word.starts_with("--"))
                flags.push_back(word);
    }
    return flags;
}

/// "Pod spec.containers.[].name" of every line that has a value, in the objects of a manifest.
std::vector<std::string> paths_of(const std::string& yaml, std::string& kind) {
    std::vector<std::string> paths;
    std::vector<std::pair<std::size_t, std::string>> open;
    std::istringstream lines(yaml);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("#"))
            continue;
        if (line == "---") {
            open.clear();
            continue;
        }
        std::size_t indent = line.find_first_not_of(' ');
        REQUIRE(indent != std::string::npos);
        while (!open.empty() && open.back().first >= indent)
            open.pop_back();
        std::string rest = line.substr(indent);
        if (rest.starts_with("- ")) {
            open.emplace_back(indent, "[]");
            rest = rest.substr(2);
            indent += 2;
        }
        const bool scalar = rest.starts_with("\"") || rest.find(':') == std::string::npos;
        const std::string key = scalar ? "" : rest.substr(0, rest.find(':'));
        if (!scalar)
            open.emplace_back(indent, key);
        if (key == "kind")
            kind = rest.substr(rest.find(':') + 2);
        if (!scalar && rest.ends_with(":"))
            continue;
        std::string path;
        for (const auto& [depth, name] : open)
            path += (path.empty() ? "" : ".") + name;
        std::string of = key == "apiVersion" ? "" : kind;
        for (const char* start : {"spec.template.", "spec.leaderWorkerTemplate.leaderTemplate.",
                                  "spec.leaderWorkerTemplate.workerTemplate."})
            if (path.starts_with(start)) {
                path = path.substr(std::string(start).size());
                of = "Pod";
            }
        if (!of.empty()) // apiVersion comes before the kind
            paths.push_back(of + " " + path);
        if (scalar || rest.find(':') != std::string::npos)
            while (!open.empty() && open.back().first >= indent && open.back().second != "[]")
                open.pop_back();
    }
    return paths;
}

/// A path with its own keys against one of the table: "{}" stands for the rest.
bool matches(const std::string& path, const std::string& known) {
    if (!known.ends_with("{}"))
        return path == known;
    const std::string start = known.substr(0, known.size() - 2);
    return path.starts_with(start);
}

} // namespace

TEST_CASE("every flag of every launch is in the table of documented options", "[sizing][launch]") {
    std::set<std::pair<LaunchTarget, std::string>> documented, used;
    for (const LaunchOption& option : kOptions) {
        CHECK(option.url.starts_with("https://"));
        CHECK(documented.emplace(option.engine, option.flag).second); // once
    }
    for (const LaunchTarget engine : kEngines)
        for (const Parallelism& way :
             {Parallelism{}, Parallelism{.tensor = 4, .data = 3}, Parallelism{.tensor = 8, .pipeline = 2},
              Parallelism{.experts = 8}, Parallelism{.tensor = 2, .data = 2, .experts = 8}})
            for (const char* format : {"bf16", "fp16", "fp8", "int8", "int4", "fp4"})
                for (const std::string& flag : flags_of(launched(way, engine, format))) {
                    INFO(flag);
                    CHECK(documented.count({engine, flag}) == 1);
                    used.emplace(engine, flag);
                }
    CHECK(used.size() >= 24);
}

TEST_CASE("a launch has the layout, the batch limits and the length of the answer", "[sizing][launch]") {
    const std::string vllm = launched({.tensor = 2, .data = 6}, LaunchTarget::vllm);
    CHECK_THAT(vllm, Catch::Contains("vllm serve Qwen/Qwen3-30B-A3B"));
    CHECK_THAT(vllm, Catch::Contains("--tensor-parallel-size 2"));
    CHECK_THAT(vllm, Catch::Contains("--max-model-len 3400")); // the longest, not the mean
    CHECK_THAT(vllm, Catch::Contains("6 engines like this one, each on 2 devices"));
    CHECK_THAT(launched({.experts = 8}, LaunchTarget::sglang), Catch::Contains("--tp-size 8") &&
                                                                   Catch::Contains("--dp-size 8") &&
                                                                   Catch::Contains("--enable-dp-attention"));
    CHECK_THAT(launched({}, LaunchTarget::trtllm, "fp8"), Catch::Contains("must be a checkpoint in fp8"));
    CHECK_THAT(launched({}, LaunchTarget::vllm, "fp8"), Catch::Contains("--quantization fp8"));
}

TEST_CASE("every field of a server that was sized is in the command, its engine's default, or named",
          "[sizing][launch]") {
    // What clients send, how fast the host is, how good drafts are, and what power costs.
    const std::set<std::string> of_clients = {
        "rate",       "arrivals",         "burstiness",     "concurrency",
        "requests",   "warm_up",          "prompt_tokens",  "output_tokens",
        "shape",      "length_range",     "lengths",        "trace",
        "seed",       "distinct_prompts", "system_prompts", "system_tokens",
        "prefix_hit", "request_time",     "accepted",       "draft_cost",
        "pue",        "grid_intensity"};
    for (const LaunchTarget engine : kEngines)
        for (const ServingField& field : serving_fields()) {
            INFO(field.flag << " of engine " << static_cast<int>(engine));
            const auto text_of = [&](const SizingAnswer& answer) {
                return launch_text(shipped_session(), answer, answer.devices.front(), engine, "a/b");
            };
            const ServingField* const neutral = find_serving_field("seed");
            const std::string with = text_of(answer_to(field)), without = text_of(answer_to(*neutral));
            const bool has_default = engine == kTrtllm && field.key == "whole_prompts";
            if (of_clients.count(field.key) == 0)
                CHECK(with != without);
            // What is no flag is named by its own, or stands in the file of options.
            const auto flags = flags_of(with), before = flags_of(without);
            if (flags == before && with != without && field.key != "max_sequences" &&
                field.key != "step_tokens" && !has_default)
                CHECK((with.find(field.flag) != std::string::npos ||
                       with.find("options.yaml") != std::string::npos || engine == kSglang));
        }
}

TEST_CASE("a launch keeps its cache as it was sized", "[sizing][launch]") {
    const std::vector<std::string> hardware = {"L40S"};
    SizingRequest request;
    request.serving = {.load = {.count = 0, .rate_per_s = 1}};
    request.level = {2, 0.2, 0};
    const Session& session = shipped_session();
    const auto launched_in = [&](const char* format, std::optional<Precision> cache, LaunchTarget target) {
        std::vector<Conditions> formats(1);
        formats.front().precision = *PrecisionConfig::parse(format);
        formats.front().kv_cache = cache;
        formats.front().stack = launch_stack(session, target);
        const SizingAnswer answer =
            size_service(session, session.load("tinyllama-1.1b"), hardware, formats, request);
        REQUIRE(answer.devices.front().layout);
        return launch_text(session, answer, answer.devices.front(), target, "a/b");
    };
    // Weights in fp8 leave the cache as it is, unless it is asked for.
    const Catch::Matchers::StdString::ContainsMatcher vllm = Catch::Contains("--kv-cache-dtype fp8"),
                                                      sglang = Catch::Contains("--kv-cache-dtype fp8_e4m3");
    CHECK_THAT(launched_in("fp8", std::nullopt, kVllm), !Catch::Contains("kv-cache-dtype"));
    CHECK_THAT(launched_in("fp8", Precision::fp8, kVllm), vllm);
    CHECK_THAT(launched_in("bf16", Precision::fp8, kVllm), vllm);
    CHECK_THAT(launched_in("bf16", std::nullopt, kVllm), !Catch::Contains("kv-cache-dtype"));
    CHECK_THAT(launched_in("bf16", Precision::fp8, kSglang), sglang);
    CHECK_THAT(launched_in("fp8", std::nullopt, kTrtllm), Catch::Contains("kv_cache_config: {dtype: fp8}"));
    CHECK_THAT(launched_in("fp8", Precision::bf16, kTrtllm),
               Catch::Contains("kv_cache_config: {dtype: bfloat16}"));
    CHECK_THAT(launched_in("bf16", Precision::int8, kVllm), Catch::Contains("vLLM has none"));
}

TEST_CASE("a launch has the limits of the engine that was simulated", "[sizing][launch]") {
    SizingRequest request;
    request.serving = {.load = {.count = 0, .rate_per_s = 2}};
    request.level = {1, 0, 0};
    const std::vector<std::string> hardware = {"H100"};
    std::vector<Conditions> formats(1);
    formats.front().stack = "vllm";
    formats.front().precision = PrecisionConfig::uniform(Precision::bf16);
    const Session& session = shipped_session();
    const auto sized = [&] {
        return size_service(session, session.load("tinyllama-1.1b"), hardware, formats, request);
    };
    for (const std::int64_t asked : {0, 48}) { // the stack's own limits, and others
        request.serving.plan.engine.sequences = asked;
        request.serving.plan.engine.captured_tokens = asked;
        const SizingAnswer answer = sized();
        const SizedDevice& device = answer.devices.front();
        REQUIRE(device.layout);
        const EngineLimits& engine = device.layout->engine;
        CHECK(engine.sequences > 0);
        CHECK((asked == 0 || engine.sequences == asked));
        const std::string text = launch_text(session, answer, device, LaunchTarget::vllm, "x");
        CHECK_THAT(text, Catch::Contains("--max-num-seqs " + std::to_string(engine.sequences)));
        CHECK_THAT(text, Catch::Contains("--max-num-batched-tokens " + std::to_string(engine.step_tokens)));
        CHECK((text.find("--max-cudagraph-capture-size 48") != std::string::npos) == (asked == 48));
    }
}

TEST_CASE("a manifest has an engine per replica and asks for its devices", "[sizing][launch]") {
    const std::string yaml = launched({.tensor = 2, .data = 6}, LaunchTarget::kubernetes);
    CHECK_THAT(yaml, Catch::Contains("replicas: 6"));
    CHECK_THAT(yaml, Catch::Contains("nvidia.com/gpu: 2"));
    CHECK_THAT(yaml, Catch::Contains("name: qwen3-30b-a3b"));
}

TEST_CASE("an engine of several nodes is a set of leader and workers", "[sizing][launch]") {
    const std::string yaml = launched({.tensor = 8, .pipeline = 2, .data = 3}, LaunchTarget::kubernetes);
    CHECK_THAT(yaml, Catch::Contains("kind: LeaderWorkerSet") && Catch::Contains("replicas: 3") &&
                         Catch::Contains("size: 2") && Catch::Contains("--pipeline-parallel-size 2"));
    CHECK_THAT(yaml, Catch::Contains("role: worker") && Catch::Contains("nvidia.com/gpu: 8"));
}

TEST_CASE("every field of a manifest is in the table of documented fields", "[sizing][launch]") {
    std::set<std::pair<std::string, std::string>> documented, used;
    for (const ManifestField& field : kManifestFields) {
        CHECK(field.url.starts_with("https://"));
        CHECK(documented.emplace(field.kind, field.path).second); // once
    }
    for (const Parallelism& way :
         {Parallelism{.tensor = 2, .data = 6}, Parallelism{.tensor = 8, .pipeline = 2}}) {
        std::string kind;
        for (const std::string& path : paths_of(launched(way, LaunchTarget::kubernetes), kind)) {
            INFO(path);
            const auto at = path.find(' ');
            const auto found = std::find_if(documented.begin(), documented.end(), [&](const auto& known) {
                return known.first == path.substr(0, at) && matches(path.substr(at + 1), known.second);
            });
            CHECK(found != documented.end());
            if (found != documented.end())
                used.insert(*found);
        }
    }
    CHECK(used.size() + 3 == documented.size()); // all but apiVersion, which comes before the kind
}

TEST_CASE("checkpoints are those that the catalogue names", "[sizing][launch]") {
    CHECK(checkpoint_of(shipped_session(), "qwen3-30b-a3b") == "Qwen/Qwen3-30B-A3B");
    CHECK(checkpoint_of(shipped_session(), "qwen3-32b-nvfp4") == "nvidia/Qwen3-32B-NVFP4");
    CHECK(checkpoint_of(shipped_session(), "./my_model") == "./my_model");
    // An id stays the one that was typed, and a word finds its own.
    CHECK(checkpoint_of(shipped_session(), "meta-llama/Llama-3.1-8B-Instruct") ==
          "meta-llama/Llama-3.1-8B-Instruct");
    CHECK(checkpoint_of(shipped_session(), "Qwen/Qwen2.5-7B-Instruct-AWQ") == "Qwen/Qwen2.5-7B-Instruct-AWQ");
    CHECK(checkpoint_of(shipped_session(), "qwen2.5-72b-instruct") == "Qwen/Qwen2.5-72B-Instruct");
    const test::Folder folder("archsim_checkpoint_of");
    const auto config = folder.write("config.json", "{}");
    CHECK(checkpoint_of(shipped_session(), config.string()) == config.parent_path().string());
    const SizingAnswer unnamed = answer_with({}, "bf16");
    CHECK_THAT(
        launch_text(shipped_session(), unnamed, unnamed.devices.front(), LaunchTarget::vllm, "mistral-7b"),
        Catch::Contains("no repository of mistral-7b is known"));
    for (const CatalogueEntry& entry :
         shipped_session().catalogue().entries()) { // a name of the model, and no sentence
        const std::string checkpoint = checkpoint_of(shipped_session(), entry.name);
        INFO(checkpoint);
        CHECK(shipped_session().catalogue().find(checkpoint) ==
              shipped_session().catalogue().find(entry.name));
    }
    SizingAnswer answer = answer_with({}, "bf16");
    answer.devices.front().layout.reset();
    CHECK_THROWS_AS(launch_text(shipped_session(), answer, answer.devices.front(), LaunchTarget::vllm, "x"),
                    UsageError);
}
