// Names that say a format mean the network in it: the same numbers as the network asked for in that format.

#include "answers/local/local_models.hpp"
#include "answers/sizing/size_service.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/run/serve.hpp"
#include "core/text.hpp"
#include "laws/laws.hpp"
#include "report/blocks/result_text.hpp"
#include "result/format_parts.hpp"
#include "session/given.hpp"
#include "session/loading.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <tuple>
#include <vector>

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
             Named{"llama3:8b-instruct-q4_K_M", "llama-3-8b", "int4", "llama.cpp", "RTX-3060"},
             Named{"qwen3:latest", "qwen3-8b", "int4", "llama.cpp", "RTX-3060"},
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
    for (const char* type : {"TQ1_0", "IQ2_XXS", "Q2_K", "Q3_K_S", "Q3_K_M", "IQ4_XS", "Q4_0", "Q4_K_M",
                             "Q4_1", "Q5_K_S", "Q5_K_M", "Q6_K", "Q8_0"}) {
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

TEST_CASE("a name means the same format to whoever is asked", "[session][names][serving]") {
    const Session& session = laws::session();
    for (const char* name : {"llama3.1:8b", "Qwen3-8B-Q4_K_M.gguf", "unsloth/Qwen3-8B-GGUF", "gpt-oss:20b"}) {
        INFO(name);
        const Model model = session.load(name);
        const Result alone = run(name, "RTX-3090");
        REQUIRE(alone.ok());
        ServingRequest load;
        load.plan.concurrency = 1;
        load.load.count = 10;
        const ServingResult served = run_serving(session, model, "RTX-3090", {}, load);
        REQUIRE(served.ok);
        CHECK(served.parallelism.devices() == 1);
        CHECK(served.precision == multiplied_format(alone));
        CHECK(served.runtime == alone.runtime->name);
        CHECK(served.summary.time_per_token_s.mean ==
              Approx(alone.generation->time_per_output_token_s).epsilon(0.15));
        SizingRequest size;
        size.serving = load;
        const std::string device[] = {"RTX-3090"};
        const Conditions open[1];
        const SizingAnswer sized = size_service(session, model, device, open, size);
        REQUIRE(sized.fewest);
        CHECK(sized.devices.front().precision == served.precision);
        CHECK(sized.devices.front().layout->devices() == 1);
        const MeasuredRow row =
            parse_given(std::string(name) + " decode = 50/s", session, "RTX-3090", "--measured");
        CHECK(row.runtime == alone.runtime->id);
    }
}

TEST_CASE("what was published in MXFP4 is so under all of its names", "[session][names][local]") {
    const Result file = run("gpt-oss-20b-mxfp4.gguf", "RTX-3090");
    for (const char* name : {"gpt-oss:20b", "ggml-org/gpt-oss-20b-GGUF"}) {
        INFO(name);
        check_same(run(name, "RTX-3090"), file);
    }
    LocalRequest request;
    request.device = "RTX-3090";
    std::vector<LocalModel> rows;
    for (const char* name : {"gpt-oss-20b", "gpt-oss:20b", "gpt-oss-20b-mxfp4.gguf"}) {
        request.models = {name};
        const LocalAnswer answer = local_models(laws::session(), request);
        REQUIRE(answer.models.size() == 1); // nobody quantises it anew in as many bits
        rows.push_back(answer.models.front());
        CHECK(rows.back().output.per_s == Approx(rows.front().output.per_s));
        CHECK(rows.back().memory_bytes == Approx(rows.front().memory_bytes));
        CHECK(lower_case(rows.back().command).find("gpt-oss-20b-mxfp4.gguf") != std::string::npos);
    }
}

TEST_CASE("a command names the file that was asked for, and its type", "[session][names][local]") {
    LocalRequest request;
    request.context = 2048;
    request.device = "RTX-3060";
    for (const auto& [name, file, type] :
         {std::tuple{"llama-2-7b-Q6_K.gguf", "llama-2-7b-Q6_K.gguf", "Q6_K"},
          std::tuple{"hf.co/unsloth/Qwen3-8B-GGUF:IQ4_XS", "Qwen3-8B-IQ4_XS.gguf", "IQ4_XS"},
          std::tuple{"qwen3:8b-q4_0", "qwen3-8b-Q4_0.gguf", "Q4_0"}}) {
        request.models = {name};
        const LocalModel row = local_models(laws::session(), request).models.front();
        CHECK(row.command.find(std::string(" -m ") + file + " ") != std::string::npos);
        CHECK(row.format == type);
    }
    CHECK_THROWS_WITH(laws::session().load("Qwen3-8B-Q9_X.gguf"), Catch::Contains("\"Q9_X\" is no format"));
    CHECK_THROWS_WITH(laws::session().load("nosuch-Q4_K_M.gguf"), Catch::Contains("no model \"nosuch\""));
}
