// However a tool is started, it ends with a status of its own: no stream, thread, file or input makes it
// abort, wait or flood.

#include "cli/workplace.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <string>

using namespace archsim::test;

namespace {

std::string nested(int levels) {
    return std::string(static_cast<std::size_t>(levels), '[') +
           std::string(static_cast<std::size_t>(levels), ']');
}

void write(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
}

/// Status 124 where it takes longer than some seconds.
Said ends(const Workplace& workplace, const std::string& command) {
    return workplace.run("ulimit -c 0; timeout 20 sh -c '" + command + "'");
}

} // namespace

TEST_CASE("a stream that cannot be written changes no status", "[cli][hostile]") {
    const Workplace workplace;
    for (const std::string to : {"2>/dev/full", "2>&-"}) {
        INFO(to);
        CHECK(ends(workplace, "compare_models nosuchmodel --hardware H100 " + to).status == 2);
        CHECK(ends(workplace, "compare_models --nosuchflag " + to).status == 1);
        CHECK(ends(workplace, "compare_models resnet18 --hardware H100 -q " + to).status == 0);
    }
    for (const std::string to : {">/dev/full 2>&1", ">&-", ">&- 2>&-", "<&- >&- 2>&-"}) {
        INFO(to);
        CHECK(ends(workplace, "compare_models resnet18 --hardware H100 " + to).status == 2);
        CHECK(ends(workplace, "compare_models --help " + to).status == 2);
    }
    // A file that is opened when they are closed is no stream.
    CHECK(ends(workplace, "compare_models resnet18 --hardware H100 --save r.db <&- >&- 2>&-").status == 2);
    CHECK(ends(workplace, "history r.db").status == 0);
}

TEST_CASE("what a process may not have is not missed for long", "[cli][hostile]") {
    const Workplace workplace;
    CHECK(ends(workplace, "ulimit -f 1; compare_models resnet18 --hardware H100 --output page.html").status ==
          2);
    CHECK(workplace.run("ls -a | grep -c '^[.]archsim-'").output == "0\n");
    CHECK(ends(workplace, "mkfifo pipe.onnx; compare_models ./pipe.onnx --hardware H100").status == 2);
    CHECK(ends(workplace, "compare_models - --hardware H100 < /dev/zero").status == 2);
    CHECK(ends(workplace, "yes | ARCHSIM_BUDGET=bytes=1e6 profile_graph -").status == 2);
}

TEST_CASE("JSON of any kind is refused where it is too deep", "[cli][hostile]") {
    const Workplace workplace;
    const auto file = [&](const char* name) { return workplace.folder() / name; };
    const std::string deep = nested(60'000);
    for (const auto& [name, command] :
         {std::pair{"deep.json", "profile_graph ./deep.json"},
          {"model_index.json", "profile_graph ./model_index.json"},
          {"device.json", "compare_models resnet18 --hardware ./device.json"},
          {"study.json", "compare_models --study study.json"},
          {"flags.json", "compare_models resnet18 --config flags.json"},
          {"log.json", "validate_estimates --from log.json --hardware H100"},
          {"t.jsonl", "serve_model llama-3.2-1b --hardware H100 --trace t.jsonl"},
          {"rows.csv.json", "sweep_design_space --merge rows.csv --output all.csv"}}) {
        INFO(name);
        write(file(name), "{\"_class_name\": \"SomePipeline\", \"a\": " + deep + "}");
        const Said said = ends(workplace, std::string(command) + " 2>&1");
        CHECK((said.status == 1 || said.status == 2));
        CHECK(said.output.size() < 10'000);
    }
}

TEST_CASE("messages repeat no more of an input than one reads", "[cli][hostile]") {
    const Workplace workplace;
    const std::string flood(2'000'000, 'A');
    write(workplace.folder() / "m.txt", flood + "\n");
    write(workplace.folder() / "lengths.csv", "prompt_tokens,output_tokens\n" + flood + ",1\n");
    write(workplace.folder() / "config.json", "{\"model_type\": \"" + flood + "\"}");
    std::string many = "{\"devices\": [\"A100\"], \"models\": [\"~\"";
    for (int i = 0; i < 20'000; ++i)
        many += ", \"resnet18\"";
    write(workplace.folder() / "study.json", many + "]}");
    for (const char* command : {"compare_models resnet18 --hardware A100 --measured m.txt",
                                "serve_model llama-3.2-1b --hardware H100 --lengths lengths.csv",
                                "profile_graph ./config.json", "compare_models --study study.json"}) {
        INFO(command);
        const Said said = ends(workplace, std::string(command) + " 2>&1");
        CHECK(said.status != 0);
        CHECK(said.output.size() < 40'000);
        CHECK(said.output.find("is  meant") == std::string::npos); // where nothing is near
    }
}

TEST_CASE("a trace of absurd lengths is refused, not simulated", "[cli][hostile]") {
    const Workplace workplace;
    write(workplace.folder() / "t.jsonl",
          "{\"timestamp\":0,\"input_length\":1,\"output_length\":16777216}\n");
    write(workplace.folder() / "l.csv", "prompt_tokens,output_tokens\n1,16777216\n");
    for (const char* load : {"--trace t.jsonl", "--rate 1 --lengths l.csv", "--rate 1 --output-tokens 1e8"}) {
        const Said said =
            ends(workplace, std::string("serve_model llama-3.2-1b --hardware H100 ") + load + " 2>&1");
        INFO(load << ": " << said.output);
        CHECK(said.status == 4);
        CHECK_THAT(said.output, Catch::Contains("longer than the model"));
    }
}

TEST_CASE("patterns of a configuration take no memory of their own", "[cli][hostile]") {
    const Workplace workplace;
    const auto with = [&](const std::string& pattern) {
        write(workplace.folder() / "config.json",
              R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 256,
"intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 1000,
"max_position_embeddings": 2048, "torch_dtype": "bfloat16", "quantization_config": {"quant_method":
"compressed-tensors", "format": "pack-quantized", "config_groups": {"group_0": {"targets": ["Linear"], "weights":
{"num_bits": 4, "type": "int", "symmetric": true, "strategy": "group", "group_size": 128}}}, "ignore": [")" +
                  pattern + "\"]}}");
        return workplace.run("ulimit -c 0; ulimit -v 1000000; timeout 10 profile_graph ./config.json 2>&1")
            .status;
    };
    CHECK(with("re:.*lm_head") == 0);
    std::string plus = "a";
    for (int i = 0; i < 25; ++i)
        plus = "(" + plus + ")+";
    for (const std::string& pattern :
         {"re:" + plus, std::string("re:(a|aa){1,1000}{1,1000}"), std::string("re:(.*)\\\\1\\\\1\\\\1"),
          "re:" + std::string(5000, '(')}) {
        INFO(pattern.substr(0, 60));
        CHECK(with(pattern) == 2);
    }
    std::string stars;
    for (int i = 0; i < 500; ++i)
        stars += "*l";
    CHECK(with(stars + "z") == 0);
}

TEST_CASE("a width that no screen has costs nothing", "[cli][hostile]") {
    const Workplace workplace;
    const Said said = ends(workplace, "COLUMNS=99999999999 compare_models resnet18 --hardware A100 -q");
    CHECK(said.status == 0);
    CHECK(said.output.size() < 40'000);
}

TEST_CASE("a file of options asks what it says, or is refused", "[cli][hostile]") {
    const Workplace workplace;
    using namespace std::string_literals;
    for (const std::string& text : {"hardware = \"A100\n"s, "hardware = \"\"\"A100\"\"\"\n"s,
                                    "hardware = \"A1\0"
                                    "00\"\n"s,
                                    "config = \"o.toml\"\n"s}) {
        INFO(text);
        write(workplace.folder() / "o.toml", text);
        CHECK(ends(workplace, "compare_models resnet18 -q --config o.toml").status == 2);
    }
    write(workplace.folder() / "o.toml", "hardware = [\"A100\", \"H100\"] # it's \"two\n");
    CHECK(ends(workplace, "compare_models resnet18 -q --config o.toml").status == 0);
}
