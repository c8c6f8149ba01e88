// Every next step, parsed as a tool parses it, asks what was asked but for what it means to change.

#include "answers/compare/compare_models_report.hpp"
#include "archsim/run/compare_models.hpp"
#include "common/flags.hpp"
#include "common/question_options.hpp"
#include "fields/question.hpp"
#include "laws/laws.hpp"

#include <catch2/catch.hpp>

#include <sstream>

using namespace archsim;

namespace {

/// A next step as its tool reads it; no word of it is quoted.
struct Step {
    std::string tool;
    Question question;
    std::int64_t concurrency = 0;
};

Step read_step(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;)
        words.push_back(word);
    Step step;
    step.tool = words.front();
    std::vector<std::string> models, hardware, architectures, sides;
    std::string metric;
    cli::Flags flags(step.tool, "", "", "1");
    flags.add_option("MODEL", models, "");
    flags.add_option("--hardware", hardware, "");
    flags.add_option("--architectures", architectures, "");
    flags.add_option("--explain-difference", sides, "").expects(2);
    flags.add_option("--metric", metric, "");
    flags.add_option("--concurrency", step.concurrency, "");
    cli::QuestionOptions options;
    options.add_to(flags);
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    REQUIRE_FALSE(flags.parse(static_cast<int>(arguments.size()), arguments.data()).has_value());
    CHECK(models.size() == 1);
    step.question = options.question();
    return step;
}

/// The question with what the step means to change as it changes it.
Question changed(Question asked, const Step& step) {
    const Workload usual;
    if (step.tool == "analyze_batch")
        asked.workload.batch = usual.batch;
    if (step.tool == "compare_models") {
        asked.workload.prompt.emplace();
        asked.workload.sizes = usual.sizes;
    }
    if (step.tool == "serve_model") {
        CHECK(step.concurrency == asked.workload.batch);
        asked.workload.batch = usual.batch;
        asked.workload.prompt->context = 0;
        asked.workload.prompt->sampled = false;
        asked.conditions.scenario = Scenario::latency;
        asked.conditions.scope = Scope::kernel;
    }
    return asked;
}

} // namespace

TEST_CASE("next steps ask what was asked but for what they mean to change", "[laws][ask]") {
    const Session& session = laws::session();
    std::size_t steps = 0;
    for (const auto& [model, fields] :
         std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>>{
             {"resnet18", {}},
             {"resnet18",
              {{"precision", "fp16"}, {"batch", "4"}, {"runtime", "tensorrt"}, {"scope", "end_to_end"}}},
             {"resnet18", {{"precision", "int8"}, {"scenario", "throughput"}, {"dims", "height=256"}}},
             {"resnet18", {{"weights", "int8"}, {"strict_fp32", "true"}, {"allow_unknown", "true"}}},
             {"qwen3-0.6b", {{"precision", "fp16"}, {"dims", "sequence=64"}, {"kv_cache", "fp8"}}},
             {"qwen3-0.6b", {{"prompt_tokens", "64"}, {"generate_tokens", "16"}}},
             {"qwen3-0.6b",
              {{"precision", "fp32"},
               {"prompt_tokens", "64"},
               {"generate_tokens", "16"},
               {"context", "4096"},
               {"sampling", "top-p"},
               {"kv_cache", "fp8"},
               {"runtime", "vllm"},
               {"batch", "2"}}},
             {"qwen3-0.6b", {{"prompt_tokens", "64"}, {"weights", "int4"}, {"parallel", "tp=2"}}},
             {"qwen3-0.6b", {{"prompt_tokens", "64"}, {"devices", "2"}}},
             {"whisper-tiny", {}},
             {"clip-vit-b32", {{"batch", "8"}, {"precision", "fp16"}}}}) {
        QuestionTexts texts(Spelling::key);
        for (const auto& [key, text] : fields)
            texts.give(key, text);
        Question asked = texts.question();
        CompareModelsRequest request;
        request.models = {model};
        request.hardware = {"H100", "A100"};
        request.workload = asked.workload;
        request.conditions = asked.conditions;
        const ModelComparison comparison = compare_models(session, request);
        for (const std::string& line : next_commands(comparison, 0, metric::latency, {})) {
            const Step step = read_step(line);
            INFO(line);
            CHECK(same_question(step.question, changed(asked, step)));
            if (step.tool == "compare_models") { // whose answer is not asked by another test
                request.workload = step.question.workload;
                request.conditions = step.question.conditions;
                CHECK(compare_models(session, request).results.front().ok());
            }
            ++steps;
        }
    }
    CHECK(steps > 15);
}
