// What people ask first, and the sentence that must lead the answer: who, by how much, in at most four lines.

#include "cli/workplace.hpp"

#include <catch2/catch.hpp>

#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace archsim::test;

struct FirstQuestion {
    const char* command;
    const char* leads; ///< an expression that the first lines, joined, begin with
    int status = 0;
};

constexpr FirstQuestion kQuestions[] = {
    // Language models: an answer to a prompt, in the format in which they are published.
    {"compare_models llama-3-8b --hardware H100 L4",
     "512 tokens in, 128 out, in bf16. Fastest: H100, 1[0-9]{2} tokens/s"},
    {"compare_models gpt-oss-20b --hardware RTX-4090 Apple-M4-Max-GPU",
     "512 tokens in, 128 out, in w4a16. Fastest: RTX-4090, [0-9]+ tokens/s"},
    {"compare_models kimi-k2.5 --hardware H200 --devices 8",
     "512 tokens in, 128 out, in w4a16. H200 x8: [0-9.]+ tokens/s"},
    {"compare_models deepseek-v3 --hardware H200 --devices 8",
     "512 tokens in, 128 out, in fp8. H200 x8: [0-9.]+ tokens/s"},
    {"compare_models deepseek-r1 --hardware B200 MI300X --devices 8",
     "512 tokens in, 128 out, in fp8. Fastest: "},
    {"compare_models qwen3-8b --hardware L4", "512 tokens in, 128 out, in bf16. L4: [0-9.]+ tokens/s"},
    {"compare_models nvidia/Llama-3.1-8B-Instruct-FP8 --hardware H100",
     "512 tokens in, 128 out, in fp8. H100: "},
    {"compare_models nvidia/Qwen3-32B-NVFP4 --hardware B200", "512 tokens in, 128 out, in fp4. B200: "},
    {"compare_models Qwen/Qwen3-32B-AWQ --hardware RTX-5090", "512 tokens in, 128 out, in w4a16. RTX-5090: "},
    {"compare_models Qwen3-8B-Q4_K_M.gguf --hardware 'RTX 3060 12GB'",
     "512 tokens in, 128 out, in w4a16. RTX-3060: [0-9.]+ tokens/s"},
    {"compare_models qwen3:8b-q8_0 --hardware RTX-3060", "512 tokens in, 128 out, in w8a16. RTX-3060: "},
    {"compare_models hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M --hardware M4-Max-GPU",
     "512 tokens in, 128 out, in w4a16. Apple-M4-Max-GPU: "},
    {"compare_models llama-3.1-70b --hardware H100 MI300X --devices 2",
     "512 tokens in, 128 out, in bf16. Fastest: "},
    {"compare_models llama-3.2-1b --hardware V100 T4",
     "512 tokens in, 128 out, in fp16. (Fastest: V100|Ranked first by .*: T4, .* above it: V100)"},
    {"compare_models qwen3-8b --hardware H100 --batch-size 16",
     "16 sequences of 512 tokens in, 128 out, in bf16. H100: "},
    // Everything else: each device in the format in which it is fastest.
    {"compare_models resnet50 --deployment edge", "Fastest: .* in int8, "},
    {"compare_models resnet50 --deployment embedded", "Fastest: "},
    {"compare_models resnet50 --hardware H100 A100", "Fastest: H100 in int8, "},
    {"compare_models yolov8n --hardware Jetson-Orin-Nano Hailo-8", "Fastest: "},
    {"compare_models bert-base --hardware EPYC-9654 H100", "Fastest: H100"},
    {"compare_models whisper-tiny --hardware RTX-4090 M4-Max-GPU",
     "An inference: encoder, 200 x decoder. Fastest: "},
    {"compare_models resnet50 --hardware Jetson-Orin-Nano --max-latency 33ms", "Jetson-Orin-Nano"},
    {"compare_models llama-3-8b --hardware H100 --pass", "H100 in int8: latency "},
    {"compare_models resnet50 --hardware H100 --precision fp32 -o -", "H100 in tf32: latency "},
    {"compare_models resnet50 --hardware H100 A100 L4 --max-power 100W", "Within the limit, "},
    {"compare_models resnet50 --hardware H100 --max-latency 0.1ms",
     "H100 misses the limit: latency of [0-9]+ µs, at most 100 µs required. H100 in int8: ", 4},
    {"compare_models bert-base --hardware EPYC-9654 Graviton4 T4 --sort cost", "Cheapest: T4 in int8, "},
    {"compare_models llama-3-8b --hardware H100 --precision fp16 fp8 int4",
     "512 tokens in, 128 out. Fastest: H100 in int4, [0-9]+ tokens/s per user, [0-9.]+x ahead of H100 in "
     "fp8"},
    {"compare_models qwen3-235b-a22b --hardware H200 B200 --devices 8",
     "512 tokens in, 128 out, in bf16. (Fastest|Not ranked)"},
    // What the memory does not hold runs in fewer bits, which is said.
    {"compare_models flux.1-dev --hardware RTX-4090",
     "1024 x 1024 in 50 steps. RTX-4090 in fp8: latency [0-9.]+ s .*bf16 needs 35 GB, RTX-4090 has [0-9.]+ "
     "GB; offloading parts in "
     "turn: "
     "[0-9.]+ s"},
    {"compare_models flux.1-schnell --hardware RTX-3060 RTX-4090",
     "1024 x 1024 in 4 steps. Fastest: RTX-4090 in fp8, "},
    {"compare_models stable-diffusion-3.5-large --hardware RTX-3060",
     "1024 x 1024 in [0-9]+ steps. RTX-3060 in w4a16: latency "},
    {"compare_models qwen3-30b-a3b --hardware 'Mac mini M4' RTX-4070", "512 tokens in, 128 out, in w4a16. "},
    {"compare_models phi-4 --hardware 'MacBook Pro M3 Max' 'RTX 4080'",
     "512 tokens in, 128 out. Fastest: RTX-4080 in (fp8|w8a16), .* ahead of Apple-M3-Max-GPU( in fp16)? "
     "under llama.cpp. "
     ".*bf16 needs "
     "29.5 GB"},
    // Of one user's stacks the measured one; nobody is fastest whom an unmeasured estimate surely beats.
    {"compare_models llama-3.1-8b --hardware 'RTX 3060' 'Mac mini M4'",
     "512 tokens in, 128 out.* Fastest: RTX-3060"},
    {"compare_models llama3.2:3b --hardware 'Raspberry Pi 5' 'GTX 970'",
     "512 tokens in, 128 out.* Ranked first by .*: Cortex-A76-RPi5, .* wholly above it: GTX-970, "},
    {"compare_models llama-3-8b --hardware 'GTX 1080 Ti'", "512 tokens in, 128 out, in w8a16. GTX-1080-Ti: "},
    {"compare_models llama-3.1-70b --hardware RTX-4090", "No estimate: even w4a16 needs [0-9.]+ GB", 4},
    {"compare_models llama3.1:8b --hardware RTX-3060", "512 tokens in, 128 out, in w4a16. RTX-3060: "},
    {"compare_models qwen3:8b-q6_K --hardware RTX-3060", "512 tokens in, 128 out, in w6a16. RTX-3060: "},
    {"compare_models Qwen3-8B-Q5_K_M.gguf --hardware RTX-3060",
     "512 tokens in, 128 out, in w5a16. RTX-3060: "},
    {"compare_models tinyllama-1.1b --hardware DPU-ZCU102 --precision int8", "No estimate: ", 4},
    // A board, a battery, an old computer.
    {"compare_models yolov8n --hardware 'Raspberry Pi 5 + Hailo-8L' --fps 10 --battery 20Wh",
     "Raspberry Pi 5 . Hailo-8L in int8: .*latency .*One inference every 100 ms: average power [3-5][0-9.]* "
     "W, "
     "[0-9.]+ h"},
    {"compare_models yolov8n --hardware 'Raspberry Pi 5' 'Raspberry Pi 5 + Hailo-8L' --max-power 5W",
     "Within the limit, fastest: Raspberry Pi 5 . Hailo-8L in int8, .*Limit average power at most 5.00 W: "
     "met by 1 of 2"},
    {"compare_models resnet50 --precision int4 --hardware Coral-Edge-TPU",
     "Coral-Edge-TPU@fast in int8: latency [34][0-9]"},
    {"compare_models resnet50 --hardware i5-8400", "Core-i5-8400 in int8: latency "},
    {"compare_models qwen3-4b --hardware 'Steam Deck' N100",
     "512 tokens in, 128 out. Fastest: Steam-Deck in "},
    {"local_models --on 'Ryzen 5 3600, 16GB'", "Ryzen-5-3600@16GB with 15.2 GB: "},
    {"local_models 'GTX 1060'", "GTX-1060 with [0-9.]+ GB: [0-9]+ of [0-9]+ language models run "},
    // Several networks on one device, a part of a GPU, any computer with any module.
    {"compare_models yolov8n --hardware Jetson-Orin-Nano --with resnet50@20fps --fps 30",
     "Jetson-Orin-Nano@15W in int8: .*One inference every 33.3 ms, with resnet50 at 20.0/s: 1[0-9] % of the "
     "time, 8[0-9] % left, memory 3[0-9.]* MB of 7.52 GB, average power "},
    {"compare_models yolov8n --hardware Jetson-Orin-Nano Hailo-8L --with scdepthv3@5fps",
     "Fastest: .*With scdepthv3 at 5.00/s: Jetson-Orin-Nano@15W, [0-9]+ inferences/s in the time that is "
     "left, memory "},
    {"compare_models yolov8n --hardware A100 --with resnet50@4000fps",
     "A100 cannot keep up.*A100 in int8: .*With resnet50 at 4000/s: too much, 1[0-9]+ % of the time", 4},
    {"compare_models resnet50 --hardware A100@1g.10gb A100@3g.40gb", "(Fastest: A100@3g.40gb|Too close)"},
    {"compare_models yolov8n --hardware 'Raspberry Pi 4 + Coral USB' --fps 15 --battery 50Wh",
     "Raspberry Pi 4 . Coral USB@fast in int8: .*One inference every 66.7 ms: average power [3-5][0-9.]* "
     "W, "},
    {"compare_models yolov8n --hardware QCS6490 TDA4VM --every 100ms --battery 5000mAh",
     "(Least power|Too close to call): .*One inference every 100 ms: least average power QCS6490, "},
    // What measurements refute is told where it is estimated.
    {"compare_models yolov8n --hardware Coral-Edge-TPU --max-latency 33ms",
     "Coral-Edge-TPU@fast in int8: latency [0-9.]+ ms .*Refuted: detectors .* times as long as estimated"},
    {"check_model yolov8n --hardware Coral-Edge-TPU", "Coral-Edge-TPU@fast: .*\\(refuted\\). Refuted: "},
    {"check_budget yolov8n --hardware Coral-Edge-TPU --max-latency 33ms",
     "Passed: 1 of 1 budgets kept. Coral-Edge-TPU@fast: refuted: "},
    {"analyze_batch yolov8n --hardware Coral-Edge-TPU --batch-sizes 1,8", ".*Coral-Edge-TPU@fast: refuted: "},
    // Designs: in the usual format and question, four lines.
    {"sweep_design_space vit_b_16 --hardware H100 --vary bandwidth=0.5x,1x,2x",
     "Fastest: H100, .*batch 1, int8, [0-9]+ µs"},
    {"sweep_design_space --model llama-3.2-1b --hardware H100 --vary bandwidth=1x,2x",
     "(Most tokens|Fastest)[^.]*: H100, bandwidth 2.00x, batch 1, bf16, [0-9]+ tokens/s"},
    {"sweep_design_space resnet50 --hardware KPU-T256 --vary on_chip_memory=0.5x,1x,2x",
     "Fastest \\(projected\\): KPU-T256, batch 1, int8, "},
    {"sweep_design_space resnet50 --hardware H100 --vary memory_bandwidth=1x,2x --vary sms=1x,2x",
     "Fastest: H100, .*units 2.00x, batch 1, int8, "},
    // Names that people type.
    {"compare_models deepseek-r1:14b --hardware 'RTX 4070'", "512 tokens in, 128 out, in w4a16. RTX-4070: "},
    {"compare_models qwen2.5-coder-7b --hardware 'RTX 3060 12GB, 32GB'",
     "512 tokens in, 128 out, in [a-z0-9]+. RTX-3060: "},
    {"compare_models bge-large --hardware T4 L4 --sort cost", "Cheapest: "},
    {"compare_models mobilenet_v2 --deployment embedded --max-memory 512KB",
     "None meets the limit; nearest is [^,]+, peak memory of [0-9.]+ MB, at most 512 kB required", 4},
    {"compare_models whisper-large-v3-turbo --hardware 'RTX 3060' 'Mac mini M4'",
     "(An inference: .* )?Fastest: RTX-3060 in int8, .*Not ranked: Apple-M4-GPU( in [a-z0-9]+)?, [0-9.]+ s "
     "\\(projected\\)"},
    {"compare_models resnet50 --deployment edge --hardware H100", "Fastest: H100 in int8, "},
    // Where it runs, how many are needed, what it costs.
    {"compare_models sdxl --hardware H100 --cost",
     "1024 x 1024 in [0-9]+ steps. H100 in fp16: .*H100 costs \\$[0-9.]+ per million inferences rented"},
    {"size_service qwen3-8b --users 500 --hardware H100",
     "Cheapest: .* likely to hold P99 TTFT 2.00 s, TPOT 200 ms."},
    {"size_service qwen3-8b --users 200 --ttft-p99 2s --tpot-p99 50ms --hardware H100 L40S",
     "Cheapest: .*, 1 device, .* USD/h rented \\(.*, 20[0-9-]+\\)"},
    {"size_service qwen3-8b --users 200 --think-time 0s --ttft-p99 2s --tpot-p99 50ms --hardware H100",
     "Cheapest: H100, "},
    {"size_service qwen3-8b --rate 4 --ttft-p99 2s --hardware RTX-4090 H100", "Cheapest: "},
    {"local_models --on 'Mac mini M4, 16GB'", "Apple-M4-GPU@16GB with 1[0-2][0-9.]* GB: [0-9]+ of [0-9]+ "
                                              "language models run .*Newest \\(20[0-9]{2}\\): "},
    {"serve_model qwen3-8b --hardware L4 RTX-4090 --rate 20 --prompt-tokens 1k --output-tokens 200",
     "None bears the load; most tokens: RTX-4090, 1 device, bf16, [^:]+: overloaded"},
    {"local_models --on 'Mac mini M4'", "Apple-M4-GPU .*no size was named: 32 GB"},
    {"local_models Qwen3-8B-Q4_K_M --on 'RTX 3060 12GB'",
     "RTX-3060 with [0-9.]+ GB: 1 of 1 language models run"},
    // Who is not ranked is named with its number; what fails says why; money of the unmeasured is not hidden.
    {"compare_models yolo11n --hardware 'Jetson Orin Nano Super' 'Jetson Thor' --fps 60",
     "Fastest: Jetson-Orin-Nano-Super@25W in int8, .*Not ranked: Jetson-Thor@120W, [0-9.]+ ms"},
    {"compare_models gpt-oss-120b --hardware H100 'RTX PRO 6000' 'Strix Halo'",
     ".*Not ranked: H100, [0-9]+ tokens/s per user \\(refuted\\)"},
    {"compare_models mobilenet_v3_small --hardware ESP32-S3 RP2040",
     "Fastest: ESP32-S3 .*No estimate for 1 of 2: RP2040 \\(in int8 needs [0-9.]+ .B of RAM"},
    {"compare_models yolov8n --hardware RK3588 'Raspberry Pi 5' --fps 30",
     "Within the rate, fastest: RK3588-NPU .*Limit 30.0/s: met by 1 of 2"},
    {"size_service qwen3-30b-a3b --users 20 --hardware 'RTX 5090' 'RTX 3090' 'Mac Studio M3 Ultra'",
     "Cheapest: Mac Studio M3 Ultra, (?!.*no other needs fewer).*Not ranked: RTX 3090, 1 device, [0-9.]+ "
     "USD/h \\(projected\\)"},
    {"size_service mixtral-8x7b --users 1000 --hardware H100",
     "Cheapest: H100, .*Less sure: on H100, mixtures of experts such as "},
    {"local_models --on 'DGX Spark'", "GB10 (?!.*refuted).*Newest"},
    // Limits in what language models are asked for.
    {"compare_models llama-3.1-8b --hardware L4 H100 --min-token-rate 50",
     "512 tokens in, 128 out, in bf16. Within the limit, .*H100, .*met by 1 of 2"},
    {"compare_models llama-3.1-8b --hardware L4 --max-first-token 10ms",
     "L4 misses the limit: time to first token of [0-9]+ ms, at most 10.0 ms required", 4},
    {"check_budget llama-3.1-8b --hardware H100 --min-token-rate 20 --max-first-token 200ms",
     "Passed: 2 of 2 budgets kept"},
    // Within a budget of power a board is set to a mode of that budget; names of boards, instances and tasks.
    {"compare_models yolov8s --hardware 'Jetson Orin NX 16GB' RK3588 --fps 30 --max-power 10W",
     "Within the limits, fastest: Jetson-Orin-NX@10W"},
    {"compare_models depth_anything_v2_small --hardware 'Jetson AGX Orin' --max-power 15W --fps 10",
     "Jetson-AGX-Orin@15W in int8: "},
    {"compare_models yolo11m --hardware 'Jetson Orin NX' Hailo-8 --max-power 10W --max-latency 33ms",
     "Within the limits, fastest: Jetson-Orin-NX@10W (?!.*would meet)"},
    {"compare_models mobilenet_v2 --hardware K230 STM32N6 --max-latency 50ms",
     "Within the limit, .*Not ranked: K230, [1-4][0-9.]* ms \\(projected"},
    {"compare_models keyword_spotting --hardware 'Alif Ensemble E7' nRF5340", "Fastest: nRF5340 in int8, "},
    {"compare_models bert-base --hardware c7i.24xlarge", "Xeon-8488C in int8: latency "},
    {"compare_models llama-3.2-3b --hardware 'Intel Core Ultra 7 155H'",
     "512 tokens in, 128 out, in [a-z0-9]+. Core-Ultra-7-155H-CPU"},
    // What was asked is what is named, in units that people read.
    {"compare_models qwen3:30b --hardware 'RTX 4060 Ti 16GB' --context 32k",
     "No estimate: .*computing on its processor .* tokens/s beside a ", 4},
    {"compare_models flux.1-dev --hardware 'RTX 4070 Ti Super' 'RTX 3090'",
     "1024 x 1024 in 50 steps. Fastest: .*1[0-9.]+ kJ"},
    // A flag about money shows money, a price its provider, a rate who carries it, a format that was chosen.
    {"compare_models qwen3-32b --hardware H100 RTX-PRO-6000 --buy --years 3 --kwh-price 0.30",
     "512 tokens in, 128 out, in bf16. Fastest: .* costs [$][0-9.]+ per million requests bought"},
    {"compare_models sdxl --hardware L4 A10G L40S H100 --sort cost",
     "1024 x 1024 in .*Cost: .*[(]AWS [^)]*[)]"},
    {"compare_models bge-large --hardware T4 L4 --fps 500", "Within the rate, .* T4 takes [0-9]+ devices"},
    {"check_budget efficientnet_b0 --hardware Jetson-Orin-Nano --max-latency 10ms",
     "Passed: 1 of 1 budgets kept. Estimated in int8 under TensorRT"},
    {"analyze_batch vit_l_16 --hardware A100 --batch-sizes 1,8", "A100 in [a-z0-9]+: batch "},
    {"sweep_design_space mobilenet_v2 --hardware TPU-v4 --vary array=64,128 hbm_bandwidth=1x,2x", "Fastest "},
    {"compare_models yolov8n --hardware 'Raspberry Pi 5 AI HAT+'", "Hailo-8 in int8: "},
    {"compare_models resnet50 --deployment edge embedded", "Fastest: "},
    {"compare_models whisper-large-v3 --hardware L4 T4 CPU --sort cost",
     "(An inference: .* )?(Cheapest|Too close to call): "},
    // What differs between those that are compared is said: stacks, contexts; a batch goes on while it gains.
    {"compare_models llama-3-8b --hardware L4 A10G",
     "512 tokens in, 128 out, in bf16. Fastest: A10G, .* under llama.cpp, .* ahead of L4 under TensorRT-LLM"},
    {"compare_models llama-3-8b --hardware H100 --context 8k",
     "512 tokens in, 128 out, in a context of 8000 tokens, in bf16. H100: "},
    {"compare_models whisper-large-v3 --hardware RTX-4090 RTX-3060 --cost", ".* Cheapest: RTX-3060, [$]"},
    {"analyze_batch resnet50 --hardware H100 --max-latency 50ms", "H100 in [a-z0-9]+: batch [0-9]{3,4} has"},
    {"compare_architectures --model resnet18 --level detailed --architecture DSP",
     "Least energy: GPU \\([^)]*\\) in int8, "},
};

/// The lines between the title and the empty line after them.
std::vector<std::string> first_lines(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    bool title = false, answer = false;
    for (std::string line; std::getline(stream, line);) {
        if (line.starts_with("===="))
            title = !title;
        else if (!title && (answer || !line.empty())) {
            if (line.empty())
                break;
            answer = true;
            lines.push_back(line);
        }
    }
    return lines;
}

} // namespace

TEST_CASE("the title is what was asked for, with the network that stands for it", "[cli][first]") {
    const Workplace workplace;
    for (const auto& [asked, title] :
         {std::pair("llama-3.3-70b", "MODEL ANALYSIS: llama-3.3-70b (Llama 3.1 70B)\n"),
          std::pair("meta-llama/Llama-3.3-70B-Instruct", "MODEL ANALYSIS: Llama-3.3-70B (Llama 3.1 70B)\n"),
          std::pair("deepseek-r1:70b", "MODEL ANALYSIS: deepseek-r1:70b (Llama 3.1 70B) in Q4_K_M\n"),
          std::pair("llama3.1:70b", "MODEL ANALYSIS: Llama 3.1 70B in Q4_K_M\n"),
          std::pair("resnet-50", "MODEL ANALYSIS: ResNet-50\n")}) {
        INFO(asked);
        CHECK_THAT(workplace.run(std::string("compare_models ") + asked + " --hardware B200 --quiet").output,
                   Catch::Contains(title));
    }
}

TEST_CASE("a size is of what was asked for", "[cli][first]") {
    const Workplace workplace;
    CHECK_THAT(workplace.run("size_service llama-3.3-70b --users 10 --hardware H200 --quiet").output,
               Catch::Contains("Sizing llama-3.3-70b (Llama 3.1 70B): 10 users"));
}

TEST_CASE("several cards are in the title", "[cli][first]") {
    const Workplace workplace;
    CHECK_THAT(workplace.run("local_models qwen3-8b --on '2x RTX 3090' --quiet").output,
               Catch::Contains("What runs on 2 x RTX-3090\n"));
}

TEST_CASE("a cost says for whom it is, and a missing price is no missed rate", "[cli][first]") {
    const Workplace workplace;
    const std::string rated =
        workplace.run("compare_models whisper-large-v3 --fps 1.2 --sort cost --rent --hardware L4 T4 A10G")
            .output;
    CHECK_THAT(rated, Catch::Contains("Cost: rented") && !Catch::Contains("for want of"));
    CHECK_THAT(workplace.run("compare_models llama-3-8b --hardware H100 L4 --sort cost --rent").output,
               Catch::Contains("Cost: rented by the hour, one answer at a time"));
    CHECK_THAT(
        workplace.run("sweep_design_space bert-large --hardware A100 --sensitivity latency 2>&1").output,
        Catch::Contains("nothing varies; name parts with --vary"));
}

TEST_CASE("the answer to a first question leads, in few lines", "[cli][first]") {
    const Workplace workplace;
    for (const FirstQuestion& question : kQuestions)
        for (const char* columns : {"80", "100"}) {
            INFO(question.command << " at " << columns);
            const Said said =
                workplace.run(std::string(question.command) + " --quiet --width " + columns + " 2>&1");
            INFO(said.output.substr(0, 1500));
            CHECK(said.status == question.status);
            const std::vector<std::string> lines = first_lines(said.output);
            std::string text;
            for (const std::string& line : lines)
                text += (text.empty() ? "" : " ") + line;
            CHECK(std::regex_search(text, std::regex(std::string("^") + question.leads)));
            CHECK(lines.size() <= 4);
        }
}
