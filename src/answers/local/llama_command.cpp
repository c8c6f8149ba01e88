#include "answers/local/llama_command.hpp"

#include "archsim/core/precision.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace archsim {

namespace {

// The type of file whose bits per weight a format of the stack stands for
// (hardware_db/runtimes/llama.cpp.json: int4_weight_bits is that of Q4_K_M, int8_weight_bits that of Q8_0).
constexpr std::array kFileTypes = {std::pair<std::string_view, std::string_view>{"int4", "Q4_K_M"},
                                   std::pair<std::string_view, std::string_view>{"fp4", "MXFP4"},
                                   std::pair<std::string_view, std::string_view>{"int8", "Q8_0"},
                                   std::pair<std::string_view, std::string_view>{"bf16", "BF16"},
                                   std::pair<std::string_view, std::string_view>{"fp16", "F16"},
                                   std::pair<std::string_view, std::string_view>{"fp32", "F32"}};
// More than any model has: all layers, and the output projection.
constexpr int kAllLayers = 999;

} // namespace

std::string llama_command(std::string_view model, std::string_view format, std::int64_t context,
                          std::int64_t device_layers, std::int64_t layers, std::int64_t expert_layers) {
    const auto* const type =
        std::find_if(kFileTypes.begin(), kFileTypes.end(), [&](const auto& t) { return t.first == format; });
    if (type == kFileTypes.end())
        return "";
    const std::int64_t on_device = device_layers < 0         ? 0
                                   : device_layers >= layers ? kAllLayers
                                                             : device_layers;
    return fmt::format("llama-server -m {}-{}.gguf -c {} -ngl {}{}", model, type->second, context, on_device,
                       expert_layers > 0 ? fmt::format(" --n-cpu-moe {}", expert_layers) : "");
}

double llama_output_bytes(const LanguageModel& model, std::int64_t tokens) {
    return static_cast<double>(tokens) * (model.vocabulary + model.hidden) * bytes_of(Precision::fp32);
}

} // namespace archsim
