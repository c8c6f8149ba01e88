// The table of fields of a question: what every syntax writes is what it reads, keys tell questions apart,
// and a text that one place takes is taken in each.

#include "fields/question.hpp"

#include "answers/architectures/architectures.hpp"
#include "answers/study/study.hpp"
#include "answers/sweep/sweep.hpp"
#include "archsim/archsim.h"
#include "archsim/core/finding.hpp"
#include "archsim/run/compare_models.hpp"
#include "common/question_options.hpp"
#include "core/parse_number.hpp"
#include "fields/question_json.hpp"
#include "hardware/temporary_database.hpp"
#include "laws/laws.hpp"
#include "session/usual_precision.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fstream>
#include <set>
#include <sstream>

using namespace archsim;

namespace {

struct Stated {
    const char* key;
    std::vector<std::string> texts;
};

/// A text or two for every field, none of them what is usual.
const std::vector<Stated>& examples() {
    static const std::vector<Stated> all = {
        {"precision",
         {"int8", "w4a16", "fp32", "mixed", "usual",
          "compute=fp16+activations=fp16+weights=fp8+kv_cache=fp8+head_bits=6"}},
        {"activations", {"fp16"}},
        {"weights", {"int4", "fp8"}},
        {"kv_cache", {"fp8", "int8"}},
        {"strict_fp32", {"true"}},
        {"batch_size", {"8", "1k"}},
        {"dims", {"sequence=128", "a name=2K"}},
        {"inputs", {"scales=1,1,2,2", "one=7"}},
        {"input_shapes", {"images=1,3,640,640", "scalar="}},
        {"real_inputs", {"scales=1,0.5,2.25"}},
        {"input_sequences", {"list=1x3,2x4", "one=scalar"}},
        {"steps", {"30", "1k"}},
        {"image_size", {"1024", "1024x768"}},
        {"frames", {"16"}},
        {"prompt_tokens", {"64", "2k"}},
        {"single_pass", {"true"}},
        {"generate_tokens", {"16"}},
        {"context", {"8192", "8K"}},
        {"sampling", {"top-p"}},
        {"parallel", {"tp=4,pp=2", "tp=1"}},
        {"beams", {"4"}},
        {"runtime", {"tensorrt", "a stack's"}},
        {"scenario", {"throughput"}},
        {"scope", {"end_to_end"}},
        {"devices", {"2", "auto"}},
        {"allow_unknown", {"true"}},
        {"ideal_mapping", {"true"}},
        {"changes", {"bandwidth=2x", "clock=0.5", "power_limit_w=15"}},
        {"fusion", {"nothing", "activation,attention"}},
        {"overrides", {"matrix_efficiency:H100:tensorrt:=0.5"}},
        {"every", {"10s", "1d", "0.3 s"}},
        {"fps", {"30", "49fps", "7/s", "0.3 Hz"}},
        {"companions", {"resnet18@5fps", "resnet18@49Hz", "a@b@10 min"}},
        {"battery", {"20Wh", "225mAh@3V", "10kJ", "1000 mAh", "2.5Ah"}},
        {"idle_power", {"10uW", "2.5 mW"}}};
    return all;
}

/// Every field alone, on a single pass and on an answer to a prompt, and many together.
std::vector<Question> questions() {
    std::vector<Question> all = {{}};
    const auto add = [&](const std::vector<std::pair<std::string, std::string>>& given) {
        QuestionTexts texts(Spelling::key);
        try {
            for (const auto& [key, text] : given)
                texts.give(key, text);
            all.push_back(texts.question());
        } catch (const UsageError&) { // not together
        }
    };
    for (const Stated& one : examples())
        for (const std::string& text : one.texts) {
            add({{one.key, text}});
            add({{"prompt_tokens", "512"}, {one.key, text}});
            add({{one.key, text}, {"precision", "fp32"}, {"prompt_tokens", "512"}});
            for (const Stated& other : examples())
                if (std::string_view(one.key) < other.key)
                    add({{"generate_tokens", "32"}, {one.key, text}, {other.key, other.texts.front()}});
        }
    return all;
}

void check_same(const Question& asked, const Question& read, const std::string& how) {
    INFO(how << ": " << question_key(asked) << " / " << question_key(read));
    CHECK(same_question(asked, read));
}

/// The words of a command line, as a shell takes them.
std::vector<std::string> words_of(const std::string& line) {
    std::vector<std::string> words;
    std::string word;
    bool in_word = false, quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (c == '\'') {
            quoted = !quoted;
            in_word = true;
        } else if (c == '\\' && !quoted) {
            word += line[++i];
        } else if (c == ' ' && !quoted) {
            if (in_word)
                words.push_back(word);
            word.clear();
            in_word = false;
        } else {
            word += c;
            in_word = true;
        }
    }
    if (in_word)
        words.push_back(word);
    return words;
}

/// A question as a tool reads it from its command line.
Question parsed(const std::string& line) {
    cli::Flags flags("a_tool", "A tool.", "", "1");
    cli::QuestionOptions options;
    options.add_to(flags, {.duty = true});
    std::vector<std::string> words = words_of("a_tool" + line);
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    REQUIRE_FALSE(flags.parse(static_cast<int>(arguments.size()), arguments.data()).has_value());
    flags.check_rules();
    return options.question();
}

/// A question without what no tool has a flag for.
Question as_tools_ask(Question question) {
    const Question none;
    question.workload.sizes.input_real_values.clear();
    question.workload.sizes.input_sequences.clear();
    question.conditions.changes = none.conditions.changes;
    question.conditions.structure = none.conditions.structure;
    question.conditions.fusion.reset();
    question.conditions.overrides.reset();
    if (question.workload.prompt)
        question.workload.prompt->beams = 1;
    return question;
}

} // namespace

TEST_CASE("every field has an example here, a help and a way to be written", "[laws][ask]") {
    std::set<std::string> shown;
    for (const Stated& one : examples())
        shown.insert(one.key);
    std::set<std::string> names;
    for (const QuestionField& field : question_fields()) {
        INFO(field.key);
        CHECK(shown.contains(field.key));
        CHECK_FALSE(field.help.empty());
        CHECK(names.insert(field.key).second);
        if (!field.flag.empty())
            CHECK(names.insert(field.flag).second);
        for (const std::string& alias : field.aliases)
            CHECK(names.insert(alias).second);
    }
}

TEST_CASE("what a question is written as is read as the same question", "[laws][ask]") {
    const auto all = questions();
    REQUIRE(all.size() > 300);
    for (const Question& asked : all) {
        QuestionTexts texts(Spelling::key), document(Spelling::key);
        for (const StatedField& stated : stated_fields(asked))
            for (const std::string& text : stated.texts)
                texts.give(stated.field->key, text);
        check_same(asked, texts.question(), "texts");
        for (const QuestionField& field : question_fields())
            for (const std::string& text :
                 texts_of_json(field, field_json(field.kind, field.print(asked)), field.key))
                document.give(field.key, text);
        check_same(asked, document.question(), "JSON");
    }
}

TEST_CASE("a command line asks the question that it was made from", "[laws][ask]") {
    std::size_t lines = 0;
    std::set<std::string> seen;
    for (const Question& asked : questions()) {
        const Question plain = as_tools_ask(asked);
        const std::string line = command_flags(plain);
        if (!seen.insert(line).second || ++lines % 3 != 0) // a parser is made for each
            continue;
        check_same(plain, parsed(line), line);
    }
    CHECK(lines > 100);
}

TEST_CASE("questions with different answers have different keys, the same question one", "[laws][ask]") {
    const auto all = questions();
    std::map<std::string, std::vector<const Question*>> by_key;
    for (const Question& question : all)
        by_key[question_key(question)].push_back(&question);
    for (const auto& [key, same] : by_key) {
        INFO(key);
        for (const Question* other : same)
            CHECK(same_question(*same.front(), *other));
    }
    constexpr std::size_t kPairs = 150; // of each with every other
    std::size_t taken = 0;
    for (auto a = by_key.begin(); a != by_key.end() && taken < kPairs; ++a, ++taken)
        for (auto b = std::next(a); b != by_key.end(); ++b)
            if (same_question(*a->second.front(), *b->second.front()))
                FAIL_CHECK(a->first << " and " << b->first << " are the same question");
}

TEST_CASE("a text that one place takes for a field is taken in each", "[laws][ask]") {
    const Session& session = laws::session();
    const test::TemporaryDatabase folder;
    const auto takes = [](const std::string& where, const auto& ask) {
        INFO(where);
        try {
            ask();
        } catch (const Error& refused) {
            // A text that was read may ask for what the model or the device lacks.
            if (std::string_view(refused.what()).starts_with("--what-if") ||
                std::string_view(refused.what()).find("is not known") != std::string_view::npos)
                FAIL_CHECK(refused.what());
        }
    };
    for (const Stated& one : examples())
        for (const std::string& text : one.texts) {
            INFO(one.key << " = " << text);
            const QuestionField& field = question_field(one.key);
            QuestionTexts texts(Spelling::key);
            const bool of_prompt = field.of == FieldOf::answer && field.key != "prompt_tokens";
            if (of_prompt || field.key == "beams")
                texts.give("prompt_tokens", "512");
            const bool of_rate = field.key == "battery" || field.key == "idle_power"; // nothing without one
            if (of_rate)
                texts.give("every", "10s");
            texts.give(one.key, text);
            const Question asked = texts.question();
            const std::string flags = of_prompt ? " --prompt-tokens 512 " : of_rate ? " --every 10s " : " ";
            if (field.flag.empty())
                continue;
            check_same(asked,
                       parsed(flags + field.flag +
                              (field.kind == FieldKind::truth ? std::string() : " " + shell_quoted(text))),
                       "flag");
            const nlohmann::json value = // a plain number stands without quotes
                text.find_first_not_of("0123456789") == std::string::npos && field.kind == FieldKind::whole
                    ? nlohmann::json(std::stoll(text))
                    : nlohmann::json(text);
            if (field.kind == FieldKind::whole || field.kind == FieldKind::text)
                CHECK(texts_of_json(field, value, one.key) == std::vector{text});
            takes("--what-if", [&] {
                CompareArchitecturesRequest request;
                request.model = field.of == FieldOf::answer ? "llama-3.2-1b" : "resnet18";
                if (field.of == FieldOf::answer)
                    request.workload.prompt.emplace();
                request.architectures = {"GPU", "CPU"};
                request.what_if = {one.key + ("=" + text)};
                compare_architectures(session, request);
            });
            if (field.key == "precision" || field.key == "batch_size") {
                takes("a sweep", [&] {
                    SweepRequest request{.models = {"resnet18"}, .hardware = {"H100"}};
                    request.precisions = {field.key == "precision" ? text : "fp16"};
                    Sweep(session, request).result(0, {});
                });
                takes("compare_models", [&] {
                    CompareModelsRequest request{.models = {"resnet18"}, .hardware = {"H100"}};
                    request.precisions = {field.key == "precision" ? text : "fp16"};
                    compare_models(session, request);
                });
                const nlohmann::json study = {
                    {"models", {"resnet18"}},
                    {"devices", {"H100"}},
                    {field.key == "precision" ? "precisions" : "batch_sizes", {value}}};
                CHECK_NOTHROW(
                    run_study(session, read_study(session, folder.write("study.json", study.dump()))));
            }
        }
}

TEST_CASE("C, a new Conditions and the tools ask the same of a model", "[laws][ask]") {
    const Session& library = laws::session();
    archsim_session* session = nullptr;
    REQUIRE(archsim_open(ARCHSIM_SOURCE_DIR, &session, nullptr) == ARCHSIM_OK);
    for (const char* name : {"resnet18", "qwen3-0.6b", "clip-vit-b32"}) {
        archsim_model* model = nullptr;
        REQUIRE(archsim_load(session, name, &model, nullptr) == ARCHSIM_OK);
        const bool language = std::string_view(name) == "qwen3-0.6b";
        archsim_workload workload = {};
        Workload asked{.model = library.load(name)};
        std::string line;
        if (language) {
            workload.prompt_tokens = 64;
            workload.generate_tokens = 16;
            asked.prompt = Prompt{.tokens = 64, .generate = 16};
            line = " --prompt-tokens 64 --generate-tokens 16";
        }
        archsim_estimate by_structures = {}, by_fields = {};
        CHECK(archsim_run(session, model, &workload, "H100", nullptr, &by_structures, nullptr) == ARCHSIM_OK);
        archsim_question* question = nullptr;
        REQUIRE(archsim_ask(model, &question, nullptr) == ARCHSIM_OK);
        if (language) {
            CHECK(archsim_set(question, "prompt_tokens", "64", nullptr) == ARCHSIM_OK);
            CHECK(archsim_set(question, "generate_tokens", "16", nullptr) == ARCHSIM_OK);
        }
        CHECK(archsim_answer(session, question, "H100", &by_fields, nullptr) == ARCHSIM_OK);
        const Result plain = library.estimate(asked, "H100");
        Question of_tool = parsed(line);
        of_tool.workload.model = asked.model;
        const Result by_flags = library.estimate(of_tool.workload, "H100", of_tool.conditions);
        CHECK(plain.conditions.precision.compute == by_flags.conditions.precision.compute);
        CHECK((!language || plain.conditions.precision.compute == Precision::bf16));
        for (const double latency :
             {by_structures.latency_s, by_fields.latency_s, by_flags.estimate.latency_s})
            CHECK(latency == plain.estimate.latency_s);
        archsim_drop(question);
        archsim_release(model);
    }
    archsim_close(session);
}

TEST_CASE("what cannot be asked is refused and leaves what was given", "[ask]") {
    QuestionTexts texts(Spelling::flag);
    texts.give("--batch-size", "8");
    CHECK_THROWS_WITH(texts.give("--batch-size", "0"), "--batch-size: 0 is not between 1 and 1048576");
    CHECK_THROWS_WITH(texts.give("--sampling", "hot"), Catch::Contains("greedy, top-p"));
    CHECK_THROWS_WITH(texts.give("contxt", "8"), Catch::Contains("context"));
    CHECK(texts.question().workload.batch == 8);
    texts.give("--context", "600");
    CHECK_THROWS_WITH(texts.question(), Catch::Contains("600 positions do not hold"));
    texts.give("--context", "1k");
    CHECK(texts.question().workload.prompt->context == 1000);
    texts.give("--parallel", "tp=2");
    texts.give("--devices", "auto");
    CHECK_THROWS_WITH(texts.question(), Catch::Contains("no --devices beside it"));
}

TEST_CASE("Python's stub has every field of a question", "[ask]") {
    std::ifstream stub(ARCHSIM_SOURCE_DIR "/src/python/archsim/__init__.pyi");
    std::stringstream text;
    text << stub.rdbuf();
    for (const QuestionField& field : question_fields()) {
        const std::string& word =
            field.aliases.empty() || field.key == "devices" || field.key == "runtime" || field.key == "dims"
                ? field.key
                : field.aliases.front();
        INFO(word);
        CHECK_THAT(text.str(), Catch::Contains("\n    " + word + ": "));
    }
}

TEST_CASE("numbers are read with their letters and units", "[ask]") {
    CHECK(parse_whole("8k") == 8000);
    CHECK(parse_whole("8K") == 8192);
    CHECK(parse_whole("1Mi") == 1048576);
    CHECK(parse_whole("1.5k") == 1500);
    CHECK(parse_whole("-3") == -3);
    for (const char* text :
         {"", "k", "8.5", "1e3", "8 kk", "0x10", "99999999999999999999", "nan", "8k8", "2."})
        CHECK(parse_whole(text) == std::nullopt);
    CHECK(scaled_number("8k") == 8000);
    CHECK(scaled_number("8") == std::nullopt);
    CHECK(parse_real("2.5k") == 2500);
    CHECK(parse_factor("0.5x") == 0.5);
    CHECK(*parse_factor("50%") == Approx(0.5));
    CHECK(*parse_seconds("500ms") == Approx(0.5));
    CHECK(parse_seconds("2s") == 2);
    CHECK(parse_seconds("1 h") == 3600);
    CHECK(parse_seconds("2") == std::nullopt);
    CHECK(*parse_seconds("1month") == Approx(365.25 * 86400 / 12));
}

TEST_CASE("numbers are read as people write money, rates and thousands", "[ask]") {
    CHECK(parse_whole("10,000") == 10000);
    CHECK(parse_whole("1,234,567") == 1234567);
    CHECK(*parse_real("1,500.5") == Approx(1500.5));
    CHECK(*parse_seconds("1,500ms") == Approx(1.5));
    for (const char* text : {"1,5", "0,500", "8,16", "1,2345", "1234,567", ",500", "1,000,", "10,00,000"})
        CHECK(parse_whole(text) == std::nullopt);
    CHECK(*parse_rate("600/min") == Approx(10));
    CHECK(*parse_rate("240rpm") == Approx(4));
    CHECK(*parse_rate("36k/h") == Approx(10));
    CHECK(*parse_rate("30 /s") == Approx(30));
    for (const char* text : {"25000", "25k", "25,000", "$25k", "25K", "25000USD", "25000 USD"})
        CHECK(*parse_usd(text) == Approx(25000));
    CHECK(*parse_usd_per_hour("$2.49/h") == Approx(2.49));
    CHECK(*parse_usd_per_hour("4000USD/month") == Approx(4000 / 730.5));
    CHECK(*parse_usd_per_hour("50kUSD/year") == Approx(50000 / 8766.0));
    for (const char* text : {"0.32EUR", "£20", "", "USD", "20/fortnight"})
        CHECK((!parse_usd(text) && !parse_usd_per_hour(text)));
}
