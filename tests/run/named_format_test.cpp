// Names that say a format mean the network in it: the same numbers as the network asked for in that format.

#include "laws/laws.hpp"
#include "report/blocks/result_text.hpp"
#include "session/loading.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace archsim;

namespace {

Result run(const std::string& model, const std::string& device, Conditions conditions = {}) {
    return laws::session().estimate({.model = laws::session().load(model)}, device, conditions);
}

void check_same(const Result& a, const Result& b) {
    REQUIRE(a.ok());
    REQUIRE(b.ok());
    CHECK(a.runtime->id == b.runtime->id);
    CHECK(a.estimate.latency_s == Approx(b.estimate.latency_s));
    CHECK(a.generation->time_to_first_token_s == Approx(b.generation->time_to_first_token_s));
    CHECK(a.estimate.memory.peak_bytes == Approx(b.estimate.memory.peak_bytes));
}

} // namespace

TEST_CASE("a name that ends in a format is the network in that format", "[session][names]") {
    struct Named {
        const char *name, *network, *format, *stack, *device;
    };
    for (const Named& named : {
             Named{"Qwen3-8B-Q4_K_M", "qwen3-8b", "int4", "llama.cpp", "RTX-3060"},
             Named{"Qwen3-8B-Q4_K_M.gguf", "qwen3-8b", "int4", "llama.cpp", "RTX-3060"},
             Named{"hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M", "qwen3-8b", "int4", "llama.cpp", "RTX-3060"},
             Named{"qwen3:8b-q8_0", "qwen3-8b", "int8", "llama.cpp", "Apple-M4-Max-GPU"},
             Named{"llama3.1:8b", "llama-3.1-8b", "int4", "llama.cpp", "RTX-3060"},
             Named{"Qwen/Qwen3-8B-AWQ", "qwen3-8b", "int4", "", "H100"},
             Named{"RedHatAI/Llama-3.1-8B-Instruct-quantized.w4a16", "llama-3.1-8b", "int4", "", "H100"},
             Named{"Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4", "qwen2.5-7b", "int4", "", "L40S"},
             Named{"mlx-community/Qwen3-4B-4bit", "qwen3-4b", "int4", "", "RTX-4090"},
         }) {
        INFO(named.name);
        Conditions asked;
        asked.precision = *PrecisionConfig::parse(named.format);
        asked.stack = named.stack;
        check_same(run(named.name, named.device), run(named.network, named.device, asked));
    }
    // Eight-bit floats: what lies between products stays in 16 bits.
    const Result fp8 = run("nvidia/Llama-3.1-8B-Instruct-FP8", "H100"), wide = run("llama-3.1-8b", "H100");
    CHECK(fp8.estimate.executed.compute == Precision::fp8);
    CHECK(fp8.estimate.memory.weight_bytes < 0.6 * wide.estimate.memory.weight_bytes);
    CHECK(run("nvidia/Llama-3.1-8B-Instruct-NVFP4", "B200").estimate.executed.compute == Precision::fp4);
    // Types of GGUF files by their bits per weight: bytes of weights in that order, time too.
    double bytes = 0, seconds = 0;
    for (const char* type : {"Q2_K", "Q3_K_S", "Q3_K_M", "Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0"}) {
        INFO(type);
        const Result r = run(std::string("Qwen3-8B-") + type + ".gguf", "RTX-4090");
        REQUIRE(r.ok());
        CHECK(r.runtime->id == "llama.cpp");
        CHECK(r.estimate.memory.weight_bytes > bytes);
        CHECK(r.generation->time_per_output_token_s > seconds);
        bytes = r.estimate.memory.weight_bytes;
        seconds = r.generation->time_per_output_token_s;
    }
}

TEST_CASE("what names no network, or no format, is no name of a format", "[session][names]") {
    const Catalogue& catalogue = laws::session().catalogue();
    for (const char* name : {"nosuch-7b-Q4_K_M", "resnet50-int8", "Q4_K_M", "", "-FP8"})
        CHECK_FALSE(entry_in_format(catalogue, name));
    for (const char* name : {"Qwen3-8B", "qwen3-8b-"}) { // the network as it is
        const auto entry = entry_in_format(catalogue, name);
        REQUIRE(entry);
        CHECK((entry->name == "qwen3-8b" && !entry->products));
    }
    CHECK_THROWS_AS(laws::session().load("./Qwen3-8B-Q4_K_M.gguf"), InputError);
    CHECK_THROWS_AS(laws::session().load("models/Qwen3-8B-Q4_K_M.gguf"), InputError);
}

TEST_CASE("the format of weights alone leaves the stack its arithmetic", "[session][names]") {
    Conditions weights, whole;
    weights.stack = whole.stack = "llama.cpp";
    weights.weights = Precision::int4;
    whole.precision = PrecisionConfig::uniform(Precision::int4);
    check_same(run("qwen3-8b", "RTX-3060", weights), run("qwen3-8b", "RTX-3060", whole));
}

TEST_CASE("the format that an answer says it runs in may be asked for by its name", "[session][names]") {
    int checked = 0;
    for (const char* device : {"KPU-T256", "H100", "Hailo-10H", "Xeon-8480+", "RK3588-NPU"})
        for (const char* asked : {"int4", "int8"}) {
            INFO(asked << " on " << device);
            Conditions conditions;
            conditions.precision = *PrecisionConfig::parse(asked);
            const Result first = run("llama-3.2-1b", device, conditions);
            if (!first.ok())
                continue;
            const PrecisionConfig& e = first.estimate.executed;
            const auto named = PrecisionConfig::parse(precision_name(e));
            if (!named)
                continue;
            INFO(precision_name(e));
            conditions.precision = *named;
            check_same(first, run("llama-3.2-1b", device, conditions));
            ++checked;
        }
    CHECK(checked > 4);
}
