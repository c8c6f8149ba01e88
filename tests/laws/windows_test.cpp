// Laws of layers that see a window or a chunk, over every language model of the catalogue and configurations
// made here: the order of layers changes nothing, a step slows with its context, the cache follows from the
// tokens alone and is that of the graph, and the prompt's attention is that of a count query by query.

#include "archsim/run/serve.hpp"
#include "checkpoint/cache_bytes.hpp"
#include "checkpoint/checkpoint.hpp"
#include "laws/laws.hpp"
#include "session/generation/step.hpp"
#include "session/graph_run.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace archsim;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr double kMiB = 1024.0 * 1024.0;

/// Configurations that the catalogue has none of; file names to texts.
json made_configs() {
    const json dense = {{"hidden_size", 2560},
                        {"num_hidden_layers", 34},
                        {"num_attention_heads", 8},
                        {"num_key_value_heads", 4},
                        {"head_dim", 256},
                        {"intermediate_size", 10240},
                        {"vocab_size", 262208},
                        {"max_position_embeddings", 131072},
                        {"tie_word_embeddings", true},
                        {"hidden_activation", "gelu_pytorch_tanh"},
                        {"torch_dtype", "bfloat16"}};
    json all;
    const auto add = [&](const char* name, const char* type, json more) {
        more["model_type"] = type;
        for (const auto& [key, value] : dense.items())
            if (!more.contains(key))
                more[key] = value;
        all[name] = std::move(more);
    };
    add("local-first", "gemma3_text", {{"sliding_window", 1024}, {"sliding_window_pattern", 6}});
    add("no-window", "qwen3", json::object());
    add("all-windows", "mistral", {{"sliding_window", 4096}});
    json global_first = json::array();
    for (int i = 0; i < 34; ++i)
        global_first.push_back(i % 7 == 0 ? "full_attention" : "sliding_attention");
    add("global-first", "gemma3_text", {{"sliding_window", 1024}, {"layer_types", global_first}});
    // Gemma 4 31B: 50 local layers of 16 heads x 256, 10 global ones of 4 x 512.
    add("gemma-31b", "gemma4_text",
        {{"hidden_size", 5376},
         {"num_hidden_layers", 60},
         {"num_attention_heads", 32},
         {"num_key_value_heads", 16},
         {"intermediate_size", 21504},
         {"sliding_window", 1024},
         {"sliding_window_pattern", 6},
         {"attention_k_eq_v", true},
         {"hidden_size_per_layer_input", 0},
         {"global_head_dim", 512},
         {"num_global_key_value_heads", 4}});
    return all;
}

/// A folder that goes when the process ends.
struct OwnFolder {
    fs::path path = fs::temp_directory_path() / ("archsim-windows-" + std::to_string(getpid()));
    OwnFolder() { fs::create_directories(path); }
    ~OwnFolder() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    OwnFolder(const OwnFolder&) = delete;
    OwnFolder& operator=(const OwnFolder&) = delete;
};

/// A configuration as a file that lives as long as the process.
fs::path file_of(const std::string& name, const json& config) {
    static const OwnFolder folder;
    const fs::path file = folder.path / (name + ".json");
    std::ofstream(file) << config.dump();
    return file;
}

fs::path file_of(const CatalogueEntry& entry) {
    return fs::path(ARCHSIM_SOURCE_DIR) / "models" / entry.file;
}

Model made(const std::string& name) {
    return laws::session().load(file_of(name, made_configs().at(name)).string());
}

struct NamedWindow {
    std::string name;
    Model model;
    std::optional<Checkpoint> checkpoint; ///< of a configuration
};

const std::vector<NamedWindow>& language_models() {
    static const std::vector<NamedWindow> all = [] {
        std::vector<NamedWindow> models;
        for (const CatalogueEntry& entry : laws::session().catalogue().entries())
            if (entry.kind == "decoder-lm" && !entry.file.empty()) {
                NamedWindow& one =
                    models.emplace_back(NamedWindow{entry.name, laws::session().load(entry.name), {}});
                if (entry.file.extension() == ".json")
                    one.checkpoint = read_checkpoint(file_of(entry));
            }
        const json configs = made_configs();
        for (const auto& [name, config] : configs.items())
            models.push_back({name, made(name), read_checkpoint_config(config.dump(), name)});
        return models;
    }();
    return all;
}

Conditions half_precision() {
    Conditions conditions;
    conditions.precision = PrecisionConfig::uniform(Precision::fp16);
    conditions.kv_cache = Precision::fp16;
    conditions.keep_subgraphs = false;
    return conditions;
}

/// Steps of a model on a device whose memory holds everything.
class Steps {
  public:
    explicit Steps(const Model& model) : model_(model, {}), runner_(runner_on("H200", model_)) {
        REQUIRE(runner_);
        runner_->ignore_capacity();
    }
    double seconds(std::int64_t batch, std::int64_t past) const {
        const Estimate e = runner_->price(*runner_->work(batch, 1, past));
        INFO(e.reason);
        REQUIRE(e.status == Status::ok);
        return e.latency_s;
    }
    double cache(std::int64_t positions) const {
        return runner_->work(1, 1, positions - 1)->memory.kv_cache_bytes;
    }
    double attention_macs(std::int64_t tokens, std::int64_t past) const {
        double macs = 0;
        const auto work = runner_->work(1, tokens, past);
        for (const SubgraphWork& part : work->subgraphs)
            for (const OperatorUse& use : part.operators)
                if (use.op->type == "com.microsoft.GroupQueryAttention")
                    macs += use.op->work.macs * part.repeat;
        return macs;
    }

  private:
    static std::optional<StepRunner> runner_on(const char* device, const GenerationModel& model) {
        Result result;
        result.hardware = device;
        result.conditions = half_precision();
        auto runner = make_runner(laws::session(), model, result);
        UNSCOPED_INFO(result.estimate.reason);
        return runner;
    }

    GenerationModel model_;
    std::optional<StepRunner> runner_;
};

std::int64_t integer(const Node& node, const char* key) {
    const AttributeValue* value = node.attribute(key);
    return value ? std::get<std::int64_t>(*value) : 0;
}

/// Multiply-accumulates of a prompt's attention, query by query.
double counted_macs(const Checkpoint& c, std::int64_t tokens) {
    double macs = 0;
    for (const Node& node : c.graph.nodes) {
        if (node.op_type != "GroupQueryAttention")
            continue;
        const auto& cache = *c.graph.tensors[node.outputs[1]].shape;
        const std::int64_t window = integer(node, "local_window_size");
        double pairs = 0;
        for (std::int64_t i = 0; i < tokens; ++i)
            pairs += static_cast<double>(window == 0                     ? i + 1
                                         : integer(node, "chunked") != 0 ? i % window + 1
                                                                         : std::min(i + 1, window));
        macs += 2 * pairs * static_cast<double>(integer(node, "num_heads") * cache[3].value);
    }
    return macs;
}

bool only_grouped_attention(const Checkpoint& c) {
    return std::none_of(c.graph.nodes.begin(), c.graph.nodes.end(), [](const Node& node) {
        return node.op_type == "LatentAttention" || integer(node, "shared_cache") != 0;
    });
}

std::vector<std::string> layer_types(const Checkpoint& c) {
    std::vector<std::string> types;
    for (const Node& node : c.graph.nodes)
        if (node.op_type == "GroupQueryAttention")
            types.emplace_back(integer(node, "local_window_size") == 0 ? "full_attention"
                               : integer(node, "chunked") != 0         ? "chunked_attention"
                                                                       : "sliding_attention");
    return types;
}

json config_of(const std::string& name) {
    const json configs = made_configs();
    if (configs.contains(name))
        return configs[name];
    for (const CatalogueEntry& entry : laws::session().catalogue().entries())
        if (entry.name == name) {
            std::ifstream in(file_of(entry));
            return json::parse(in);
        }
    return {};
}

} // namespace

TEST_CASE("law: the order of layers changes neither cache nor step", "[laws][windows]") {
    int mixed = 0;
    for (const NamedWindow& named : language_models()) {
        if (!named.checkpoint)
            continue;
        std::vector<std::string> types = layer_types(*named.checkpoint);
        const auto global = std::count(types.begin(), types.end(), "full_attention");
        if (global == 0 || global == static_cast<long>(types.size()) ||
            static_cast<std::int64_t>(types.size()) != named.checkpoint->facts.layers)
            continue;
        CAPTURE(named.name);
        json whole = config_of(named.name);
        json& config = whole.contains("text_config") ? whole["text_config"] : whole;
        if (config.value("num_kv_shared_layers", 0) > 0)
            continue; // whose cache the last layers read does depend on the order
        ++mixed;
        for (const char* key : {"sliding_window_pattern", "no_rope_layers", "no_rope_layer_interval"})
            config.erase(key);
        std::vector<double> cache, step;
        for (int way = 0; way < 3; ++way) {
            config["layer_types"] = types;
            const Steps steps(
                laws::session().load(file_of(named.name + "-" + std::to_string(way), whole).string()));
            for (const std::int64_t positions : {100, 1000, 50000}) {
                cache.push_back(steps.cache(positions));
                step.push_back(steps.seconds(8, positions));
            }
            // The last layer stays: some classes make it a global one whatever the list says.
            if (way == 0)
                std::reverse(types.begin(), types.end() - 1);
            else
                std::sort(types.begin(), types.end() - 1);
        }
        for (std::size_t i = 3; i < cache.size(); ++i) {
            CHECK(cache[i] == cache[i - 3]);
            CHECK(step[i] == Approx(step[i - 3]).epsilon(1e-9));
        }
        const Steps plain(named.model);
        CHECK(plain.cache(50000) == cache.back());
        CHECK(plain.seconds(8, 50000) == Approx(step.back()).epsilon(1e-9));
    }
    CHECK(mixed >= 6);
}

TEST_CASE("law: a step never gets faster as the context grows", "[laws][windows]") {
    for (const NamedWindow& named : language_models()) {
        CAPTURE(named.name);
        const Steps steps(named.model);
        constexpr std::int64_t kContexts[] = {100, 500, 1000, 2000, 5000, 8191, 8192, 12000, 33000, 131000};
        for (const std::int64_t batch : {1, 8}) {
            double before = 0, held = 0;
            for (const std::int64_t context : kContexts) {
                CAPTURE(batch, context);
                const double now = steps.seconds(batch, context), cache = steps.cache(context);
                CHECK(now >= before * (1 - 1e-9));
                CHECK(cache >= held);
                if (cache > held)
                    CHECK(now > before);
                before = now;
                held = cache;
            }
        }
    }
}

TEST_CASE("law: the cache of prompt and answer depends on their sum alone, and is that of the graph",
          "[laws][windows]") {
    for (const NamedWindow& named : language_models())
        for (const std::int64_t total : {600, 20000}) {
            CAPTURE(named.name, total);
            std::vector<double> caches;
            for (const std::int64_t answer : {std::int64_t{1}, std::int64_t{100}, total - 1}) {
                const Result r = laws::session().estimate(
                    {.model = named.model, .prompt = Prompt{.tokens = total - answer, .generate = answer}},
                    "H200", half_precision());
                REQUIRE(r.generation);
                caches.push_back(r.generation->kv_cache_bytes);
            }
            CHECK(caches[0] == caches[1]);
            CHECK(caches[0] == caches[2]);
            if (named.checkpoint)
                CHECK(caches[0] == Approx(test::cache_bytes(*named.checkpoint, total)));
        }
}

TEST_CASE("law: a prompt's attention is that of a count query by query", "[laws][windows]") {
    int counted = 0;
    for (const NamedWindow& named : language_models()) {
        if (!named.checkpoint || !only_grouped_attention(*named.checkpoint))
            continue;
        CAPTURE(named.name);
        ++counted;
        const Steps steps(named.model);
        for (const std::int64_t tokens : {100, 1024, 3000, 20000})
            CHECK(steps.attention_macs(tokens, 0) ==
                  Approx(counted_macs(*named.checkpoint, tokens)).epsilon(1e-9));
    }
    CHECK(counted >= 20);
}

TEST_CASE("caches of windowed layers, in bytes", "[windows]") {
    const auto at = [](const std::string& name, std::int64_t positions) {
        return Steps(made(name)).cache(positions) / kMiB;
    };
    const double global = 5 * 4 * 256 * 2 * 2 * 131072.0, local = 29 * 4096 * 1024.0;
    CHECK(at("local-first", 131072) == Approx((global + local) / kMiB));
    CHECK(at("global-first", 131072) == Approx((global + local) / kMiB));
    CHECK(at("no-window", 131072) == Approx(34 * 4096 * 131072.0 / kMiB));
    CHECK(at("all-windows", 131072) == Approx(34 * 4096 * 4096.0 / kMiB));
    // Gemma 3 12B: 8 of 48 layers see everything, 8 heads of 256.
    CHECK(Steps(laws::session().load("gemma-3-12b")).cache(131072) ==
          2.0 * 8 * 256 * 2 * (8 * 131072.0 + 40 * 1024));
    // A file of ONNX whose cache keeps every position is served as engines do.
    CHECK(Steps(laws::session().load("mistral-7b")).cache(131072) == 32 * 2.0 * 8 * 128 * 2 * 4096);
}

TEST_CASE("a long prompt needs memory for windows, not for itself, in windowed layers", "[windows]") {
    Conditions conditions = half_precision();
    const Result r = laws::session().estimate(
        {.model = laws::session().load("gemma-3-12b"), .prompt = Prompt{.tokens = 131000, .generate = 2}},
        "H100", conditions);
    INFO(r.estimate.reason);
    REQUIRE(r.ok());
    const MemoryEstimate& m = r.estimate.memory;
    CHECK(m.kv_cache_bytes == 2.0 * 8 * 256 * 2 * (8 * 131002.0 + 40 * 1024));
    CHECK(m.peak_bytes < 37e9); // 23.5 GB of weights, 8.9 GB of cache, one step's activations
}

TEST_CASE("a server has room for windows once per sequence and for tokens in global layers", "[windows]") {
    ServingRequest request;
    request.load = {.count = 20, .rate_per_s = 0.01, .prompt_tokens = 32768, .output_tokens = 128};
    request.find_capacity = false;
    Conditions conditions;
    conditions.precision = PrecisionConfig::uniform(Precision::int4);
    const ServingResult r = run_serving(laws::session(), made("gemma-31b"), "H100", conditions, request);
    INFO(r.reason);
    REQUIRE(r.ok);
    CHECK(r.parallelism.tensor == 1);
    CHECK(r.cache_bytes_per_token == Approx(81920));
    CHECK(r.fixed_cache_bytes_per_sequence == Approx(50 * 16384 * 1024.0));
    CHECK(r.longest_batch >= 13);
    CHECK(r.longest_batch <= 16);
    // Shorter sequences have windows that still grow.
    request.load.prompt_tokens = 200;
    const ServingResult brief = run_serving(laws::session(), made("gemma-31b"), "H100", conditions, request);
    REQUIRE(brief.ok);
    CHECK(brief.cache_bytes_per_token == Approx(81920 + 819200));
    CHECK(brief.fixed_cache_bytes_per_sequence == 0);
}
