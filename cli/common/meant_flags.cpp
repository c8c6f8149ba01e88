#include "common/meant_flags.hpp"

#include "archsim/hardware/database.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace archsim::cli {

namespace {

/// What other tools of the field call a thing, and our names of it, of which a tool has one.
struct OtherNames {
    std::vector<std::string_view> theirs, ours;
};

const std::vector<OtherNames>& other_names() {
    static const std::vector<OtherNames> names = {
        {{"--device", "--gpu", "--gpus", "--chip", "--chips", "--target", "--accelerator", "--hw",
          "--platform"},
         {"--hardware", "--architectures"}},
        {{"--backend", "--backends", "--framework", "--engine", "--stack", "--provider", "--ep"},
         {"--runtime", "--show-runtime"}},
        {{"--dtype", "--data-type", "--quant", "--quantize", "--quantization", "--datatype", "--fp16",
          "--int8", "--bits", "--dtypes"},
         {"--precision", "--formats"}},
        {{"--bs", "--batch", "--batchsize", "--batches"}, {"--batch-size", "--batch-sizes", "--batch-sweep"}},
        {{"--network", "--net", "--onnx", "--onnx-file", "--models", "--path"}, {"--model"}},
        {{"--max-tokens", "--max-new-tokens", "--tokens", "--output-len", "--osl", "--n-predict"},
         {"--generate-tokens", "--output-tokens"}},
        {{"--input-tokens", "--input-len", "--isl", "--prompt-length", "--prompt"}, {"--prompt-tokens"}},
        {{"--seq", "--seq-len", "--seq-length", "--sequence-length", "--shape"}, {"--input-shape", "--dim"}},
        {{"--context-length", "--max-model-len", "--ctx", "--ctx-size"}, {"--context"}},
        {{"--qps", "--rps", "--request-rate"}, {"--rate"}},
        {{"--tp", "--tensor-parallel", "--tensor-parallel-size", "--pp"}, {"--parallel"}},
        {{"--num-gpus", "--gpu-count", "--num-devices"}, {"--devices", "--max-devices"}},
        {{"--out", "--html", "--save-as", "--report", "--outfile"}, {"--output"}},
        {{"--json", "--csv", "--markdown", "--output-format"}, {"--format"}},
        {{"--price", "--money"}, {"--cost"}},
        {{"--family", "--type", "--kind", "--class"}, {"--category"}},
        {{"--min-fps", "--fps", "--min-rate"}, {"--min-throughput"}},
        {{"--power", "--tdp", "--watts", "--power-budget"}, {"--max-power"}},
        {{"--latency", "--slo", "--max-ms"}, {"--max-latency", "--e2e-p99"}},
        {{"--resolution", "--imgsz", "--img-size"}, {"--image-size", "--dim"}},
    };
    return names;
}

} // namespace

std::string meant_flag(const std::string& flag, const std::vector<OptionFacts>& options) {
    std::vector<std::string> known;
    for (const OptionFacts& option : options)
        for (const std::string& name : option.flags)
            if (name.starts_with("--"))
                known.push_back(name);
    for (const OtherNames& names : other_names())
        if (std::find(names.theirs.begin(), names.theirs.end(), flag) != names.theirs.end())
            for (const std::string_view ours : names.ours)
                if (std::find(known.begin(), known.end(), ours) != known.end())
                    return std::string(ours);
    const auto nearest = nearest_names(flag, known, 1);
    return nearest.empty() ? std::string() : nearest.front();
}

std::string tool_with_flag(const std::string& flag, const std::vector<OptionFacts>& options) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kElsewhere = {
        {{"--users", "serve_model"},
         {"--concurrency", "serve_model"},
         {"--ttft-p99", "serve_model"},
         {"--tpot-p99", "serve_model"},
         {"--vary", "sweep_design_space"},
         {"--what-if", "compare_architectures"},
         {"--study", "compare_models"},
         {"--fail-on", "check_budget"},
         {"--this-machine", "list_hardware_mappers"}}};
    for (const auto& [name, tool] : kElsewhere)
        if (flag == name && std::none_of(options.begin(), options.end(), [&](const OptionFacts& o) {
                return std::find(o.flags.begin(), o.flags.end(), flag) != o.flags.end();
            }))
            return std::string(tool);
    return "";
}

std::string not_estimated(const std::string& flag) {
    if (flag.find("lora") != std::string::npos || flag.starts_with("--adapter"))
        return "adapters are not estimated; one of rank r adds r x (inputs + outputs) weights to each matrix "
               "that it changes, which the cache then lacks";
    if (flag.starts_with("--image") || flag.starts_with("--limit-mm") || flag.starts_with("--mm-"))
        return "images are not read here; count the tokens of one in --prompt-tokens";
    return "";
}

std::string why_unexpected(const std::vector<std::string>& arguments, const std::string& word,
                           const std::vector<OptionFacts>& options) {
    const auto at = std::find(arguments.begin(), arguments.end(), word);
    const auto is_flag = [](const std::string& w) { return w.size() > 2 && w.starts_with("--"); };
    const auto before = std::find_if(std::make_reverse_iterator(at), arguments.rend(), is_flag);
    if (at == arguments.end() || before == arguments.rend() || before->find('=') != std::string::npos)
        return "";
    const auto option = std::find_if(options.begin(), options.end(), [&](const OptionFacts& o) {
        return std::find(o.flags.begin(), o.flags.end(), *before) != o.flags.end();
    });
    if (option == options.end() || option->many)
        return "";
    if (!option->takes_value)
        return fmt::format("{} takes no value", *before);
    const std::vector<std::string> values(before.base(),
                                          std::find_if(before.base(), arguments.end(), is_flag));
    return values.size() < 2
               ? std::string()
               : fmt::format("{} takes one value{}", *before,
                             std::all_of(values.begin(), values.end(),
                                         [](const std::string& v) {
                                             return v.find_first_not_of("0123456789.") == std::string::npos;
                                         }) &&
                                     option->kind == ValueKind::text
                                 ? fmt::format("; if it is a list, with commas: {}", fmt::join(values, ","))
                                 : std::string());
}

} // namespace archsim::cli
