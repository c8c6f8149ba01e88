// Language models: attention and caches against closed formulas, phases against each other.

#include "archsim/run/serve.hpp"
#include "hardware/uncertainty.hpp"
#include "laws/laws.hpp"
#include "result/format_parts.hpp"
#include "session/generation/phases.hpp"
#include "session/generation/step.hpp"
#include "session/graph_run.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

using namespace archsim;

namespace {

const PrecisionConfig kFp16 = PrecisionConfig::uniform(Precision::fp16);

const GenerationModel& llama() {
    static const GenerationModel model(laws::session().load("llama-3-8b"), {});
    return model;
}

double attention_macs(const NetworkWork& network) {
    double macs = 0;
    for (const SubgraphWork& work : network.subgraphs)
        if (work.kind == OpKind::attention)
            macs += work.macs * work.repeat;
    return macs;
}

double cache_reads(const NetworkWork& network) {
    double bytes = 0;
    for (const SubgraphWork& work : network.subgraphs)
        bytes += work.kv_bytes * work.repeat;
    return bytes;
}

Conditions options_of(Precision precision) {
    Conditions options;
    options.precision = PrecisionConfig::uniform(precision);
    return options;
}

Result answer(const std::string& hardware, Precision precision, const Prompt& prompt, double devices = 1,
              std::int64_t batch = 1) {
    static const Model model = laws::session().load("llama-3-8b");
    Conditions conditions = options_of(precision);
    conditions.devices = devices;
    return laws::session().estimate({.model = model, .batch = batch, .prompt = prompt}, hardware, conditions);
}

} // namespace

TEST_CASE("one token at a time is bound by weights that come from memory, or by fixed cost",
          "[laws][generation]") {
    // Every multiply-accumulate needs a weight of its own: no device computes slower than it reads them, and
    // arrays that wait for weights to be shifted in wait for data.
    for (const std::string& name : laws::hardware()) {
        const auto device = laws::session().hardware().device(name).device;
        // A KPU's tiles keep results, so that a single row leaves all but one of theirs idle: in formats that
        // they multiply slowly, computing takes longer than memory.
        if (!device->dram || device->family == Family("kpu"))
            continue;
        const PhaseEstimate e = estimate_phase(laws::session(), llama(), name, options_of(Precision::bf16),
                                               GenerationPhase::decode, 1, {.tokens = 256, .generate = 1});
        if (e.status != Status::ok)
            continue;
        INFO(name << ": " << e.latency_s << " s");
        CHECK(regime_of(e.step) != "compute");
    }
    const PhaseEstimate tpu = estimate_phase(laws::session(), llama(), "TPU-v5p", options_of(Precision::bf16),
                                             GenerationPhase::decode, 1, {.tokens = 256, .generate = 1});
    REQUIRE(tpu.status == Status::ok);
    CHECK(regime_of(tpu.step) == "memory");
}

TEST_CASE("grouped-query attention: work, cache traffic and cache size follow the closed formulas",
          "[generation]") {
    const double layers = 32, heads = 32, kv_heads = 8, size = 128, batch = 3, context = 700, prompt = 96;
    const auto decode = llama().bound(3, 1, 700)->work({}, kFp16, {});
    CHECK(attention_macs(*decode) == layers * batch * 2 * heads * size * (context + 1));
    CHECK(cache_reads(*decode) == layers * batch * 2 * kv_heads * size * context * 2);
    CHECK(decode->memory.kv_cache_bytes == layers * batch * 2 * kv_heads * size * (context + 1) * 2);
    double written = 0;
    for (const SubgraphWork& work : decode->subgraphs)
        if (work.kind == OpKind::attention)
            written += work.output_bytes;
    // One result row of all heads and one new key and value of each group.
    CHECK(written == layers * batch * 2 * (heads * size + 2 * kv_heads * size));
    const auto prefill = llama().bound(1, 96, 0)->work({}, kFp16, {});
    CHECK(attention_macs(*prefill) == layers * 2 * heads * size * prompt * (prompt + 1) / 2);
}

TEST_CASE("attention as a chain of products: fused or not, the same work, fewer bytes", "[generation]") {
    const GenerationModel gpt2(laws::session().load("gpt2"), {});
    const double layers = 12, hidden = 768, past = 200, sequence = 4;
    const auto bound = gpt2.bound(1, 4, 200);
    FusionPolicy unfused;
    unfused.attention = false;
    const auto kept = bound->work({}, kFp16, {}), spilled = bound->work(unfused, kFp16, {});
    CHECK(attention_macs(*kept) == layers * 2 * hidden * sequence * (past + sequence));
    CHECK(kept->macs == spilled->macs);
    CHECK(kept->memory.kv_cache_bytes == layers * 2 * hidden * (past + sequence) * 2);
    CHECK(spilled->memory.kv_cache_bytes == kept->memory.kv_cache_bytes);
    const auto bytes = [](const NetworkWork& network) {
        double sum = 0;
        for (const SubgraphWork& work : network.subgraphs)
            sum += work.activation_bytes();
        return sum;
    };
    // The unfused chain writes and reads the scores of every head at least twice.
    CHECK(bytes(*spilled) - bytes(*kept) > layers * 4 * 12 * sequence * (past + sequence) * 2);
}

TEST_CASE("fused attention moves queries, keys, values and results only", "[generation]") {
    const auto bert = laws::bound("bert-base", 2)->work({}, kFp16, {});
    const double tokens = 2 * 128, hidden = 768;
    int found = 0;
    for (const SubgraphWork& work : bert->subgraphs)
        if (work.kind == OpKind::attention) {
            ++found;
            const double mask = tokens * 128 * 8;
            CHECK(work.activation_bytes() >= 4 * tokens * hidden * 2);
            CHECK(work.activation_bytes() <= 4 * tokens * hidden * 2 + mask);
            CHECK(work.macs == 2 * tokens * 128 * hidden);
        }
    CHECK(found == 12);
}

TEST_CASE("a sliding window bounds what a step reads", "[generation]") {
    const GenerationModel mistral(laws::session().load("mistral-7b"), {});
    const auto far = mistral.bound(1, 1, 6000)->work({}, kFp16, {});
    CHECK(cache_reads(*far) == 32.0 * 2 * 8 * 128 * 4096 * 2);
}

TEST_CASE("a mixture of experts holds all experts and reads those a step touches", "[generation]") {
    const GenerationModel mixtral(laws::session().load("mixtral-8x7b"), {});
    const auto reads = [](const NetworkWork& network) {
        double bytes = 0;
        for (const SubgraphWork& work : network.subgraphs)
            bytes += work.weight_bytes;
        return bytes;
    };
    const auto one = mixtral.bound(1, 1, 100)->work({}, kFp16, {});
    const auto many = mixtral.bound(64, 1, 100)->work({}, kFp16, {});
    CHECK(one->weight_bytes == Approx(46702792704.0 * 2).epsilon(0.001));
    const double expert = 3.0 * 4096 * 14336 * 2 * 32;
    CHECK(reads(*many) - reads(*one) == Approx(6 * expert).epsilon(0.02));
    CHECK(many->weight_bytes == one->weight_bytes);
}

TEST_CASE("language models run on stacks made for them", "[generation]") {
    const auto runtime = [](const char* name) {
        return language_runtime(laws::session().hardware(), *laws::session().hardware().device(name).device);
    };
    CHECK(runtime("H100") == "trt-llm");
    CHECK(runtime("MI300X") == "vllm");
    CHECK(runtime("Xeon-8480+") == "openvino");
    CHECK(runtime("Apple-M1-GPU") == "llama.cpp");
    CHECK(runtime("KPU-T256") == "kpu-domainflow");
}

TEST_CASE("an answer to one user runs on a stack that was measured on such devices, where there is one",
          "[generation][laws]") {
    const HardwareDatabase& hardware = laws::session().hardware();
    for (const std::string& name : hardware.device_ids()) {
        CAPTURE(name);
        const auto device = hardware.device(name).device;
        if (device->runtimes.empty() || device->default_runtime.empty())
            continue;
        const HeldRows& held = laws::session().machine(name)->uncertainty->held();
        const auto measured = [&](const std::string& id) {
            const auto stack = hardware.runtime(id);
            return stack->language_models && held.measured(*device, *stack, TimeKind::decode);
        };
        const std::string one = measured_language_runtime(laws::session(), name);
        CHECK(measured(one) == std::any_of(device->runtimes.begin(), device->runtimes.end(), measured));
        if (measured(language_runtime(hardware, *device))) // a measured one stays
            CHECK(one == language_runtime(hardware, *device));
    }
    CHECK(measured_language_runtime(laws::session(), "RTX-3060") == "llama.cpp");
}

TEST_CASE("integer formats quantise weights alone where the stack says so", "[generation]") {
    Conditions options = options_of(Precision::int4);
    options.stack = "trt-llm";
    const auto machine = laws::session().machine("A100", options);
    const ExecutedPrecision p = language_precision(*machine, options.precision, std::nullopt);
    REQUIRE(p.supported);
    CHECK(p.config.compute == Precision::fp16);
    CHECK(p.config.weights == Precision::int4);
    CHECK(p.config.kv_cache == Precision::fp16);
    CHECK(bits_of(p.config.weights) + p.config.weight_bits_overhead == Approx(4.25));
    CHECK(p.config.head_bits == 16);
    CHECK(language_precision(*machine, options.precision, Precision::fp8).config.kv_cache == Precision::fp8);
    // Layers at 4.25 bits; head and embedding at 16.
    const auto step = llama().bound(1, 1, 8)->work({}, p.config, {});
    const double head = 128256.0 * 4096, layers = 8030261248.0 - 2 * head;
    CHECK(step->weight_bytes == Approx(layers * 4.25 / 8 + 2 * head * 2).epsilon(0.002));
    const auto tpu = laws::session().machine("TPU-v5e", options_of(Precision::int4));
    CHECK_FALSE(language_precision(*tpu, options.precision, std::nullopt).supported);
}

TEST_CASE("w8a8 multiplies integers where int8 means weights alone", "[generation]") {
    const PrecisionConfig asked = *PrecisionConfig::parse("w8a8");
    CHECK(asked != PrecisionConfig::uniform(Precision::int8));
    const auto runs = [&](const char* device, const char* stack) {
        Conditions options;
        options.precision = asked;
        options.stack = stack;
        return language_precision(*laws::session().machine(device, options), asked, std::nullopt);
    };
    const ExecutedPrecision both = runs("A100", "trt-llm");
    REQUIRE(both.supported);
    CHECK(both.config.compute == Precision::int8);
    CHECK(both.config.weights == Precision::int8);
    CHECK(both.config.activations == Precision::fp16); // of the residual stream and the norms
    CHECK(both.config.kv_cache == Precision::fp16);
    // The head stays wide and is multiplied wide; layers at 8 bits.
    const auto step = llama().bound(1, 1, 8)->work({}, both.config, {});
    const double head = 128256.0 * 4096, layers = 8030261248.0 - 2 * head;
    CHECK(step->weight_bytes == Approx(layers + 2 * head * 2).epsilon(0.002));
    const ExecutedPrecision none = runs("A100", "llama.cpp");
    CHECK_FALSE(none.supported);
    CHECK(none.note.find("--precision w8a16") != std::string::npos);
    // Where integers are all that a stack multiplies, both names mean the same products.
    CHECK(runs("RK3588-NPU", "rkllm").config.compute == Precision::int8);
    // At many rows products in integers are faster than those of unpacked weights, on a chip with twice the
    // rate.
    const auto rate = [&](const char* format) {
        Conditions options;
        options.precision = *PrecisionConfig::parse(format);
        options.stack = "trt-llm";
        Workload workload{.model = laws::session().load("llama-3-8b"), .batch = 64};
        workload.prompt = Prompt{.tokens = 1024, .generate = 32};
        return laws::session().estimate(workload, "A100", options).estimate.latency_s;
    };
    CHECK(rate("w8a8") < rate("int8"));
}

TEST_CASE("the format of a cache changes the cache alone", "[generation]") {
    const Workload workload{.model = laws::session().load("llama-3.2-1b"), .prompt = Prompt{.generate = 8}};
    for (const char* stack : {"trt-llm", "vllm", "llama.cpp"})
        for (const char* format : {"bf16", "fp8", "int8", "w8a8", "w8a16", "w4a16"}) {
            Conditions options;
            options.stack = stack;
            options.precision = *PrecisionConfig::parse(format);
            const Result usual = laws::session().estimate(workload, "H100", options);
            for (const Precision cache : {Precision::fp16, Precision::fp8, Precision::int8}) {
                INFO(format << " with a cache in " << name_of(cache) << " under " << stack);
                options.kv_cache = cache;
                const Result asked = laws::session().estimate(workload, "H100", options);
                REQUIRE(asked.ok() == usual.ok());
                if (!asked.ok())
                    continue;
                PrecisionConfig expected = usual.estimate.executed, runs = asked.estimate.executed;
                CHECK(runs.kv_cache == cache);
                runs.kv_cache = expected.kv_cache;
                runs.cache_bits = expected.cache_bits;
                CHECK(runs == expected);
            }
        }
}

TEST_CASE("weights of a format that no engine multiplies are unpacked to 16 bits", "[generation]") {
    const auto runs = [](const char* device) {
        Conditions options = options_of(Precision::fp4);
        options.stack = "trt-llm";
        return language_precision(*laws::session().machine(device, options), options.precision, std::nullopt);
    };
    const ExecutedPrecision hopper = runs("H100"), blackwell = runs("B200");
    CHECK(hopper.config.compute == Precision::fp16); // whose engines have fp8, to which nobody brings them
    CHECK(hopper.config.weights == Precision::fp4);
    CHECK(hopper.note.find("no native fp4") != std::string::npos);
    CHECK(blackwell.config.compute == Precision::fp4);
    CHECK(blackwell.note.empty());
}

TEST_CASE("the same integer format means the same numerics on every device", "[generation]") {
    const auto runs = [](const char* device, Precision precision, const char* stack = "") {
        Conditions options = options_of(precision);
        options.stack = stack;
        return language_precision(*laws::session().machine(device, options), options.precision, std::nullopt)
            .config;
    };
    const PrecisionConfig kpu = runs("KPU-T256", Precision::int4); // bf16 arithmetic, no stack for it
    CHECK(kpu.compute == Precision::bf16);
    CHECK(kpu.weights == Precision::int4);
    CHECK(kpu.activations == Precision::bf16);
    CHECK(bits_of(kpu.kv_cache) == 16);
    const PrecisionConfig hailo = runs("Hailo-8", Precision::int4); // integers alone
    CHECK(hailo.weights == Precision::int4);
    CHECK(hailo.activations == Precision::int8);
    CHECK(hailo.kv_cache == Precision::int8);
    Conditions narrow = options_of(Precision::int4); // which its units have, and its stack has not
    narrow.stack = "rkllm";
    CHECK_FALSE(
        language_precision(*laws::session().machine("RK3588-NPU", narrow), narrow.precision, std::nullopt)
            .supported);
    const PrecisionConfig rockchip = runs("RK3588-NPU", Precision::int8, "rkllm"); // multiplies in int8
    CHECK(rockchip.compute == Precision::int8);
    CHECK(rockchip.activations == Precision::int8);
}

TEST_CASE("phases of an answer", "[generation]") {
    Prompt request;
    const Result r = answer("H100", Precision::fp16, request);
    REQUIRE(r.ok());
    REQUIRE(r.generation);
    const GenerationEstimate& g = *r.generation;
    CHECK(r.runtime->id == "trt-llm");
    CHECK(g.time_to_first_token_s > g.time_per_output_token_s);
    CHECK(g.tokens_per_s_stream == Approx(1 / g.time_per_output_token_s));
    CHECK(r.estimate.latency_s == Approx(g.time_to_first_token_s + 127 * g.time_per_output_token_s));
    CHECK(r.estimate.energy_per_inference_j == Approx(r.estimate.energy.total()));
    CHECK(g.kv_cache_bytes == 32.0 * 2 * 8 * 128 * 640 * 2);
    CHECK(g.devices_needed == 1);
    REQUIRE(g.steps.size() == 3);
    CHECK(g.steps.front().context == 512);
    CHECK(g.steps.back().context == 512 + 126);
    CHECK(g.steps.front().latency_s <= g.steps.back().latency_s);
    CHECK(g.time_per_output_token_interval.low < g.time_per_output_token_s);
    CHECK(g.time_per_output_token_interval.high > g.time_per_output_token_s);
    // Memory-bound at batch 1: not faster than reading the weights once at full bandwidth.
    CHECK(g.time_per_output_token_s > (8030261248.0 - 128256.0 * 4096) * 2 / 3.352e12);
    const Result batch = answer("H100", Precision::fp16, request, 1, 8);
    CHECK(batch.generation->tokens_per_s_total > 4 * g.tokens_per_s_total);
    CHECK(batch.generation->energy_per_token_j < g.energy_per_token_j);
    CHECK(batch.generation->kv_cache_bytes == 8 * g.kv_cache_bytes);
}

TEST_CASE("what passes through a chip must fit its host", "[generation]") {
    // 26 GB of int8 images and activations, out of the 7 GB that the system leaves of the board that the
    // stick hangs on.
    const Session& session = laws::session();
    const Workload pass{.model = session.load("vgg16"), .batch = 4096};
    const Result large = session.estimate(pass, "Coral-Edge-TPU", options_of(Precision::int8));
    CHECK(large.estimate.status == Status::does_not_fit);
    CHECK_THAT(large.estimate.reason, Catch::Contains("its host Cortex-A72-RPi4 has 7.0 GB"));
    const Workload small{.model = session.load("mobilenet_v2")};
    Conditions int8;
    int8.precision = PrecisionConfig::uniform(Precision::int8);
    const Result fits = session.estimate(small, "Coral-Edge-TPU", int8);
    REQUIRE(fits.ok());
    CHECK(fits.estimate.memory.capacity_bytes == 7e9);
    // What lives on the chip alone has the chip's memory, host or not.
    const Result resident = session.estimate(small, "Groq-TSP", int8);
    CHECK(resident.estimate.memory.capacity_bytes < 1e9);
}

TEST_CASE("stacks that serve language models alone run no network of images", "[generation]") {
    for (const auto& [stack, device] :
         {std::pair("vllm", "H100"), std::pair("sglang", "H100"), std::pair("trt-llm", "H100"),
          std::pair("mlc-llm", "H100"), std::pair("llama.cpp", "RTX-3090"),
          std::pair("rkllm", "RK3588-NPU")}) {
        INFO(stack);
        Conditions conditions;
        conditions.stack = stack;
        for (const char* model : {"resnet50", "mobilenet_v2", "yolov8n"})
            CHECK(laws::session()
                      .estimate({.model = laws::session().load(model)}, device, conditions)
                      .estimate.status == Status::unsupported);
        const Model language = laws::session().load("qwen2.5-0.5b");
        CHECK(laws::session().estimate({.model = language, .prompt = Prompt{}}, device, conditions).ok());
    }
}

TEST_CASE("what does not fit names the longest prompt that does", "[generation]") {
    const auto ask = [](std::int64_t tokens) {
        Conditions conditions;
        conditions.stack = "llama.cpp";
        conditions.precision = PrecisionConfig::uniform(Precision::int4);
        return laws::session().estimate({.model = laws::session().load("qwen2.5-14b"),
                                         .prompt = Prompt{.tokens = tokens, .generate = 128}},
                                        "RTX-3060", conditions);
    };
    const std::string why = ask(32000).estimate.reason, start = "a prompt of ";
    CAPTURE(why);
    REQUIRE(why.find(start) != why.npos);
    const std::int64_t longest = std::stoll(why.substr(why.find(start) + start.size()));
    CHECK(ask(longest).ok());
    CHECK_FALSE(ask(longest + 1024).ok());
}

TEST_CASE("a card holds all weights but the table of embeddings, which llama.cpp leaves to the host",
          "[generation]") {
    Conditions conditions;
    conditions.stack = "llama.cpp";
    const auto weights = [&](const char* model, const char* device) {
        const Result r = laws::session().estimate({.model = laws::session().load(model), .prompt = Prompt{}},
                                                  device, conditions);
        REQUIRE(r.ok());
        return r.estimate.memory.weight_bytes;
    };
    // Apple's chips share their memory with the host; Llama 3.2 shares the table with its projection.
    CHECK(weights("llama-3-8b", "Apple-M3-Max-GPU") - weights("llama-3-8b", "RTX-3090") ==
          Approx(2.0 * 128256 * 4096));
    CHECK(weights("llama-3.2-1b", "Apple-M3-Max-GPU") == weights("llama-3.2-1b", "RTX-3090"));
}

TEST_CASE("what does not fit says how many devices hold it", "[generation]") {
    const Result alone = answer("TPU-v5e", Precision::bf16, {});
    CHECK(alone.estimate.status == Status::does_not_fit);
    REQUIRE(alone.generation);
    CHECK(alone.generation->devices_needed == 2);
    CHECK(alone.estimate.reason.find("2 devices hold it") != std::string::npos);
    // What does not fit could lie in host memory; the table of embeddings is read row by row.
    Conditions served = options_of(Precision::fp16); // by a stack that leaves no table to the host
    served.stack =
        language_runtime(laws::session().hardware(), *laws::session().hardware().device("T4").device);
    const Result small = laws::session().estimate(
        {.model = laws::session().load("llama-3-8b"), .prompt = Prompt{}}, "T4", served);
    REQUIRE(small.estimate.status == Status::does_not_fit);
    const double outside = small.estimate.memory.peak_bytes - small.estimate.memory.capacity_bytes,
                 link = small.machine->rate(Resource::host_link_bytes),
                 table = 2.0 * 128256 * 4096 / small.estimate.memory.weight_bytes;
    REQUIRE_FALSE(small.generation->offload.empty());
    const OffloadChoice& layers = small.generation->offload.front();
    CHECK(layers.part == "layers");
    CHECK(layers.bytes == Approx(outside));
    const double wait = outside * (1 - table) / link;
    CHECK(layers.per_token_low_s >= wait * 0.99);
    // The step itself reads the weights at the speed of the memory: two devices do it with half of them each.
    CHECK(layers.per_token_high_s > wait * 0.99 + small.estimate.memory.weight_bytes * (1 - table) / 320e9);
    CHECK(layers.per_token_high_s <= 2 * layers.per_token_low_s * 1.001);
    CHECK(small.estimate.reason.find("GB of the layers: ") != std::string::npos);
    // No cache is as large as what is missing, and there are no experts.
    CHECK(small.generation->offload.size() == 1);
    const Result several = answer("TPU-v5e", Precision::bf16, {}, 0);
    REQUIRE(several.ok());
    CHECK(several.generation->devices == 2);
    CHECK(several.generation->memory_bytes < 16e9);
}

TEST_CASE("a name that says how many devices is one with that number of devices", "[generation]") {
    const Session& session = laws::session();
    const Workload workload{.model = session.load("llama-3-8b"), .prompt = Prompt{}};
    Conditions two;
    two.devices = 2;
    const Result named = session.estimate(workload, "2xH100", {}),
                 stated = session.estimate(workload, "H100", two);
    REQUIRE(named.ok());
    CHECK(named.hardware == stated.hardware);
    CHECK(named.conditions.devices == 2);
    CHECK(named.estimate.latency_s == stated.estimate.latency_s);
    two.devices = 3;
    CHECK_THROWS_AS(session.estimate(workload, "2xH100", two), UsageError);
    CHECK_THROWS_AS(session.machine("2xH100", {}), InputError); // what shares a model is said beside it
    ServingRequest load;
    load.load.count = 4;
    CHECK(run_serving(session, workload.model, "2xH100", {}, load).parallelism.tensor == 2);
}

TEST_CASE("ways to share a model in one answer", "[generation]") {
    const auto shared = [](const Parallelism& way, std::int64_t batch) {
        Prompt prompt;
        prompt.parallel = way;
        return answer("H100", Precision::fp16, prompt, 1, batch);
    };
    // Devices that share every layer are what Conditions::devices says.
    const Result two = shared({.tensor = 2}, 4), same = answer("H100", Precision::fp16, {}, 2, 4);
    REQUIRE(two.ok());
    CHECK(two.estimate.latency_s == Approx(same.estimate.latency_s));
    CHECK(two.estimate.energy.total() == Approx(same.estimate.energy.total()));
    // Copies have half the batch each.
    const Result copies = shared({.data = 2}, 8), one = answer("H100", Precision::fp16, {}, 1, 4);
    REQUIRE(copies.ok());
    CHECK(copies.generation->devices == 2);
    CHECK(copies.estimate.latency_s == Approx(one.estimate.latency_s));
    CHECK(copies.generation->tokens_per_s_total == Approx(2 * one.generation->tokens_per_s_total));
    CHECK(copies.generation->energy_per_token_j == Approx(one.generation->energy_per_token_j));
    // Two stages: the way of a token is as long, and 4 x 4096 values of 16 bits cross once.
    const Result stages = shared({.pipeline = 2}, 4);
    REQUIRE(stages.ok());
    const Machine& m = *stages.machine;
    const double hop = m.param(Parameter::link_latency, 0) +
                       2.0 * 4 * 4096 / (450e9 * m.param(Parameter::link_efficiency, 1));
    CHECK(stages.generation->time_per_output_token_s ==
          Approx(one.generation->time_per_output_token_s + hop).epsilon(1e-6));
    CHECK(stages.estimate.memory.weight_bytes == Approx(one.estimate.memory.weight_bytes / 2));
    CHECK(stages.generation->energy_per_token_j > one.generation->energy_per_token_j);
    CHECK(shared({.data = 2}, 3).estimate.status == Status::unsupported);
    CHECK(shared({.experts = 2}, 2).estimate.reason.find("no experts") != std::string::npos);
}

TEST_CASE("a count of devices divides a model as its stack does: llama.cpp by layers",
          "[generation][serving]") {
    const Session& session = laws::session();
    const auto of_two = [&](const char* stack, std::optional<Parallelism> way) {
        Conditions conditions;
        conditions.stack = stack;
        conditions.precision = PrecisionConfig::uniform(Precision::int4);
        conditions.devices = way ? 1 : 2;
        const Workload workload{.model = session.load("llama-3-8b"), .prompt = Prompt{.parallel = way}};
        return session.estimate(workload, "RTX-3090", conditions);
    };
    const Parallelism layers{.pipeline = 2}, matrices{.tensor = 2};
    for (const auto& [stack, way] : {std::pair{"llama.cpp", layers}, std::pair{"vllm", matrices}}) {
        INFO(stack);
        const Result counted = of_two(stack, std::nullopt), asked = of_two(stack, way);
        REQUIRE(counted.ok());
        CHECK(counted.estimate.latency_s == Approx(asked.estimate.latency_s));
        CHECK(counted.estimate.energy.total() == Approx(asked.estimate.energy.total()));
        CHECK(counted.generation->devices == 2);
        Conditions conditions;
        conditions.stack = stack;
        conditions.devices = 2;
        ServingRequest load;
        load.plan.concurrency = 1;
        load.load.count = 10;
        CHECK(run_serving(session, session.load("llama-3-8b"), "RTX-3090", conditions, load).parallelism ==
              way);
    }
}

TEST_CASE("experts in host memory wait for those that a token takes", "[generation]") {
    const Session& session = laws::session();
    Prompt prompt;
    prompt.tokens = 512;
    prompt.generate = 64;
    const Result r = session.estimate({.model = session.load("mixtral-8x7b"), .batch = 1, .prompt = prompt},
                                      "A100", options_of(Precision::fp16));
    REQUIRE(r.estimate.status == Status::does_not_fit);
    INFO(r.estimate.reason);
    REQUIRE(r.generation->offload.size() == 2);
    const OffloadChoice &layers = r.generation->offload[0], &experts = r.generation->offload[1];
    CHECK(experts.part == "experts");
    const double link = r.machine->rate(Resource::host_link_bytes);
    // A token takes two of the eight experts of each of 32 layers: a quarter of their bytes.
    CHECK(experts.per_token_low_s == Approx(experts.bytes / 4 / link).epsilon(0.01));
    CHECK(experts.per_token_high_s > experts.per_token_low_s);
    // Of all layers it reads a little more: attention is read whole.
    CHECK(layers.per_token_low_s > experts.per_token_low_s);
    // A prompt of 512 tokens touches every expert.
    CHECK(experts.first_token_low_s == Approx(experts.bytes / link).epsilon(0.01));
}

TEST_CASE("a mixed step does the work of both and reads weights once", "[generation]") {
    const auto decode = llama().bound(64, 1, 300)->work({}, kFp16, {});
    const auto prefill = llama().bound(1, 256, 0)->work({}, kFp16, {});
    const NetworkWork mixed = mixed_step(*decode, *prefill, 0.5);
    double macs = 0, weights = 0, alone = 0;
    for (const SubgraphWork& work : mixed.subgraphs) {
        double own = 0;
        for (const OperatorUse& use : work.operators)
            own += use.op->work.macs;
        CHECK(own == Approx(work.macs));
        macs += work.repeat * work.macs;
        weights += work.repeat * work.weight_bytes;
    }
    for (const SubgraphWork& work : decode->subgraphs)
        alone += work.repeat * work.weight_bytes;
    CHECK(macs == Approx(decode->macs + 0.5 * prefill->macs));
    CHECK(weights == Approx(alone).epsilon(0.01));
}

TEST_CASE("a mixed step counts a class of subgraphs as it counts each of them", "[generation]") {
    const auto decode = llama().bound(64, 1, 300)->work({}, kFp16, {});
    for (const std::int64_t prompts : {1, 2}) {
        const auto prefill = llama().bound(prompts, 256, 0)->work({}, kFp16, {});
        const NetworkWork mixed = mixed_step(*decode, *prefill, 1);
        REQUIRE(mixed.representatives.size() == mixed.subgraphs.size());
        const std::set<std::uint32_t> classes(mixed.representatives.begin(), mixed.representatives.end());
        CHECK(classes.size() < mixed.subgraphs.size() / 4);
        for (std::size_t i = 0; i < mixed.subgraphs.size(); ++i) {
            const SubgraphWork &own = mixed.subgraphs[i], &first = mixed.subgraphs[mixed.representatives[i]];
            CHECK(own.macs == first.macs);
            CHECK(own.activation_bytes() == first.activation_bytes());
            CHECK(own.repeat == first.repeat);
        }
        NetworkWork each = mixed;
        each.representatives.clear();
        for (const char* device : {"H100", "TPU-v5e", "Xeon-8480+", "Gaudi-2", "Apple-M4-Max-GPU"}) {
            INFO(device);
            const auto machine = laws::session().machine(device, options_of(Precision::fp16));
            const Estimate by_class = estimate(mixed, *machine, {true, false}),
                           one_by_one = estimate(each, *machine, {true, false});
            CHECK(by_class.status == one_by_one.status);
            CHECK(by_class.latency_s == Approx(one_by_one.latency_s).epsilon(1e-12));
            CHECK(by_class.energy.total() == Approx(one_by_one.energy.total()).epsilon(1e-12));
        }
    }
}

TEST_CASE("a saturated server beats a stream, within its memory", "[generation]") {
    Prompt request;
    request.tokens = 128;
    Conditions options = options_of(Precision::fp16);
    options.scenario = Scenario::throughput;
    const Result r = laws::session().estimate(
        {.model = laws::session().load("llama-3-8b"), .prompt = request}, "H100", options);
    REQUIRE(r.ok());
    const SaturatedServing& s = r.generation->serving;
    CHECK(s.tokens_per_s > 20 * r.generation->tokens_per_s_stream);
    CHECK(s.sequences * 256 * 131072 < 80e9);
    CHECK(s.tokens_interval.low < s.tokens_per_s);
}

TEST_CASE("a saturated server is known as well as steps of language models, not as kernels", "[generation]") {
    Prompt request;
    request.tokens = 128;
    Conditions options = options_of(Precision::bf16);
    options.scenario = Scenario::throughput;
    for (const char* device : {"TPU-v5e", "TPU-v6e"}) { // rows of other networks are those of another chip
        const Result r = laws::session().estimate(
            {.model = laws::session().load("llama-3.2-1b"), .prompt = request}, device, options);
        REQUIRE(r.ok());
        const GenerationEstimate& g = *r.generation;
        const double high = g.time_per_output_token_interval.high / g.time_per_output_token_s;
        const double low = g.time_per_output_token_interval.low / g.time_per_output_token_s;
        CHECK(g.serving.tokens_per_s / g.serving.tokens_interval.low ==
              Approx(high).epsilon(0.1)); // lanes differ
        CHECK(g.serving.tokens_per_s / g.serving.tokens_interval.high == Approx(low).epsilon(0.1));
    }
}

TEST_CASE("phases alone agree with the answer", "[generation]") {
    Prompt request;
    const Conditions options = options_of(Precision::fp16);
    const Result whole = answer("A100", Precision::fp16, request);
    const auto phase = [&](GenerationPhase p) {
        return estimate_phase(laws::session(), llama(), "A100", options, p, 1, request);
    };
    CHECK(phase(GenerationPhase::prefill).latency_s == Approx(whole.generation->time_to_first_token_s));
    CHECK(phase(GenerationPhase::decode).latency_s ==
          Approx(whole.generation->time_per_output_token_s).epsilon(0.01));
    CHECK(phase(GenerationPhase::generate).latency_s == Approx(whole.estimate.latency_s).epsilon(0.01));
}

TEST_CASE("an answer of one token lists the subgraphs of the prompt's pass", "[generation]") {
    Prompt request;
    request.tokens = 64;
    request.generate = 1;
    const Result result = answer("A100", Precision::fp16, request);
    REQUIRE(result.ok());
    REQUIRE(result.partition);
    CHECK(result.estimate.subgraphs.size() == result.partition->subgraphs.size());
    CHECK(result.model->dims.at("sequence") == 64);
}

// NVIDIA's tables of AIConfigurator, 48 heads of 128, SGLang 0.5.14: chunk_gated_delta_rule alone.
TEST_CASE("a delta rule over a prompt takes what its kernels were measured to take", "[generation]") {
    static const Model model = laws::session().load("qwen3.5-27b");
    struct Measured {
        const char* device;
        std::int64_t tokens;
        double us;
    };
    for (const auto& [device, tokens, us] :
         {Measured{"H100", 1024, 160}, Measured{"H100", 16384, 2196}, Measured{"B200", 1024, 117.6},
          Measured{"B200", 16384, 1546}, Measured{"RTX-PRO-6000", 16384, 2509}}) {
        INFO(device << ", " << tokens);
        Conditions conditions = options_of(Precision::bf16);
        conditions.stack = "sglang";
        const Result r = laws::session().estimate(
            {.model = model, .prompt = Prompt{.tokens = tokens, .generate = 1}}, device, conditions);
        REQUIRE(r.ok());
        REQUIRE(r.partition);
        double seconds = 0;
        for (const SubgraphEstimate& s : r.estimate.subgraphs)
            if (r.work->subgraphs[s.index].anchor != nullptr &&
                r.work->subgraphs[s.index].anchor->serial_steps > 1)
                seconds = s.latency_s;
        CHECK(1e6 * seconds == Approx(us).epsilon(0.35));
    }
}

TEST_CASE("a prompt needs a language model; other parts come before its first token", "[generation]") {
    CHECK_THROWS_AS(GenerationModel(laws::session().load("bert-base"), {}), UsageError);
    const GenerationModel llava(laws::session().load("llava-1.5-7b"), {});
    CHECK(llava.before().size() == 2);
    CHECK(llava.inserted_tokens() == 576);
    Prompt request;
    request.tokens = 64;
    request.generate = 32;
    const Result r =
        laws::session().estimate({.model = laws::session().load("llava-1.5-7b"), .prompt = request}, "H100",
                                 options_of(Precision::fp16));
    REQUIRE(r.ok());
    CHECK(r.generation->prompt_tokens == 640);
    CHECK(r.generation->weight_bytes == Approx(7063427072.0 * 2).epsilon(0.001));
}

TEST_CASE("counts of a step outlive the list of sizes that the model keeps", "[generation]") {
    const GenerationModel model(laws::session().load("gpt2"), {});
    Conditions conditions;
    conditions.precision = precision_named("fp16");
    const Result any = run_graph(laws::session(), laws::bound("resnet18", 1), "H100", conditions);
    const StepRunner runner(model, any.machine, conditions.precision, false);
    model.bound(1, 1, 4); // the first step stays: later ones have its partitions
    const std::weak_ptr<const BoundModel> bound = model.bound(1, 1, 8);
    auto counts = runner.work(1, 1, 8);
    constexpr std::int64_t kManySizes = 200; // more than a model keeps
    for (std::int64_t past = 1; past <= kManySizes; ++past)
        for (int asked = 0; asked < 2; ++asked) // what is asked for once is not kept
            model.bound(1, 1, 8 + past);
    CHECK(!bound.expired());
    counts.reset();
    CHECK(bound.expired());
}

TEST_CASE("an engine that schedules between steps costs time for each step and each sequence of it",
          "[generation]") {
    const auto step = [](const char* stack, std::int64_t batch) {
        Conditions conditions = options_of(Precision::bf16);
        conditions.stack = stack;
        return estimate_phase(laws::session(), llama(), "H100", conditions, GenerationPhase::decode, batch,
                              Prompt{.tokens = 128, .generate = 128});
    };
    const PhaseEstimate first = step("vllm-0.6", 1);
    REQUIRE(first.status == Status::ok);
    const double each = first.machine->param(Parameter::sequence_time, 0),
                 fixed = first.machine->param(Parameter::inference_overhead, 0);
    CHECK(first.latency_s - step("vllm", 1).latency_s == Approx(fixed + each));
    CHECK(step("vllm-0.6", 64).latency_s - step("vllm", 64).latency_s == Approx(fixed + 64 * each));
}

// vLLM orders 128,256 logits of each sequence; TensorRT-LLM states no such cost.
TEST_CASE("drawing tokens from the likeliest costs what a stack takes to order them", "[generation]") {
    const auto step = [](const char* stack, bool sampled) {
        Conditions conditions = options_of(Precision::bf16);
        conditions.stack = stack;
        const Prompt prompt{.tokens = 128, .generate = 128, .sampled = sampled};
        return estimate_phase(laws::session(), llama(), "H100", conditions, GenerationPhase::decode, 16,
                              prompt);
    };
    const PhaseEstimate greedy = step("vllm", false), drawn = step("vllm", true);
    REQUIRE(greedy.status == Status::ok);
    const double per_logit = greedy.machine->param(Parameter::sampling_time, 0);
    CHECK(per_logit > 0);
    CHECK(drawn.latency_s - greedy.latency_s == Approx(16 * 128256 * per_logit));
    CHECK(drawn.step.power_w == Approx(greedy.step.power_w));
    CHECK(drawn.step.energy.total() / greedy.step.energy.total() ==
          Approx(drawn.latency_s / greedy.latency_s));
    CHECK(step("trt-llm", true).latency_s == step("trt-llm", false).latency_s);
}

TEST_CASE("mappings hold every demand of a layer that mixes attentions and experts, on every device",
          "[generation]") {
    const Session& session = laws::session();
    Conditions conditions;
    conditions.scope = Scope::end_to_end;
    Workload asked{.model = session.load("minimax-text-01"), .batch = 3};
    for (const std::string& device : session.hardware().device_ids()) {
        CAPTURE(device);
        CHECK_NOTHROW(session.estimate(asked, device, conditions));
    }
}
