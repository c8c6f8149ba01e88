#include "archsim/core/finding.hpp"
#include "archsim/hardware/database.hpp"
#include "common/flags.hpp"
#include "core/json_document.hpp"
#include "core/lists.hpp"
#include "core/scan_text.hpp"
#include "core/text.hpp"
#include "core/text_file.hpp"
#include "fields/question_json.hpp"
#include "session/varied_part.hpp"

#include <algorithm>
#include <array>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace archsim::cli {

using Json = nlohmann::json;

constexpr std::string_view kFlag = "--config";

/// Whether a text that begins on this line ends on it, and no other follows at once: """ begins one of
/// several lines, of which the parser makes a text with quotes.
static bool closes_texts(std::string_view line) {
    char open = 0, last = 0;
    for (std::size_t i = 0; i < line.size(); last = line[i++]) {
        const char c = line[i];
        if (open == 0 && c == '#')
            return true;
        if (open == '"' && c == '\\')
            ++i;
        else if (open == 0 && (c == '"' || c == '\'') && last == c)
            return false;
        else if (open == 0 && (c == '"' || c == '\''))
            open = c;
        else if (c == open)
            open = 0;
    }
    return open == 0;
}

/// A parser of TOML splits names into parts and holds each line's against all of the last one's.
static void expect_toml(std::string_view text, const std::string& file) {
    constexpr std::size_t kLongest = 256;
    each_line(text, [&](std::string_view line) {
        if (!closes_texts(line))
            throw InputError(
                fmt::format("--config: {}: a text ends in the line where it begins: {}", file, line));
        const bool table = line.starts_with('[');
        const std::size_t end = line.find_first_of(table ? "]" : "=\"'");
        const std::string_view name = line.substr(0, end);
        if (name.size() > kLongest && (table || end != std::string_view::npos) &&
            name.find_first_not_of(" \t") < kLongest)
            throw InputError(
                fmt::format("--config: {}: a name of {} letters is no name of an option", file, name.size()));
    });
}

/// A TOML file as the same object.
static Json toml_object(std::istream& in, const std::string& file) {
    Json document = Json::object();
    for (const ConfigLine& line : read_toml(in, file)) {
        const bool truth = line.values.size() == 1 && (line.values[0] == "true" || line.values[0] == "false");
        document[line.key] = truth ? Json(line.values[0] == "true") : Json(line.values);
    }
    return document;
}

static Json read_object(const std::string& file) {
    std::string text;
    try {
        text = read_text_file(file);
    } catch (const InputError& problem) {
        throw InputError(fmt::format("--config: {}", problem.what()), problem.findings());
    }
    if (file.ends_with(".toml")) {
        expect_toml(text, file);
        std::istringstream in(text);
        return toml_object(in, file);
    }
    const Json document = Json::parse(bounded_json(text, "--config: " + file), nullptr, false, true);
    if (!document.is_object())
        throw InputError(
            fmt::format("--config: {} is not a JSON object such as {{\"hardware\": [\"H100\"]}}", file));
    return document;
}

static std::string text_of(const Json& value, const std::string& file, const std::string& key) {
    if (value.is_string())
        return value.get<std::string>();
    if (value.is_number())
        return value.dump();
    throw InputError(fmt::format(
        "--config: {}: /{}: a text, a number, a truth value or a list of these is meant", file, key));
}

/// True where the command line has the option itself, as "--key" or "--key=value".
static bool given(const std::vector<std::string>& arguments, const std::string& flag) {
    return std::ranges::any_of(arguments, [&](const std::string& argument) {
        return argument == flag || argument.starts_with(flag + "=");
    });
}

/// A document as the words of a command line: those of the positional argument, and flags with their values.
struct ConfigWords {
    std::vector<std::string> front, words;

    void add(const Json& document, const std::string& file, const std::string& positional,
             const std::vector<OptionFacts>& options, const std::vector<std::string>& arguments) {
        for (const auto& [key, value] : document.items()) {
            const QuestionField* const field = find_question_field(key);
            if ("--" + key == kFlag)
                throw InputError(fmt::format("--config: {}: names another file of options", file));
            if (asks_nothing(value))
                continue;
            if (value.is_object() && (field == nullptr || !field->many())) {
                add(value, file, positional, options, arguments);
                continue;
            }
            const std::string flag = flag_of_key(key, options);
            if (given(arguments, flag))
                continue;
            const bool bare = flag == "--" + positional;
            if (!bare)
                words.push_back(flag);
            if (!value.is_boolean())
                for (std::string& text : texts_of(value, field, file, key))
                    (bare ? front : words).push_back(std::move(text));
        }
    }

  private:
    static std::vector<std::string> texts_of(const Json& value, const QuestionField* field,
                                             const std::string& file, const std::string& key) {
        if (value.is_object())
            return texts_of_json(*field, value, fmt::format("--config: {}: /{}", file, key));
        return mapped(value.is_array() ? value : Json::array({value}),
                      [&](const Json& item) { return text_of(item, file, key); });
    }
};

static void add_options(const Json& document, const std::string& file, const std::string& positional,
                        const std::vector<OptionFacts>& options, std::vector<std::string>& arguments) {
    ConfigWords asked;
    asked.add(document, file, positional, options, arguments);
    if (arguments.empty() || arguments.front().starts_with("-")) // the model is not named
        arguments.insert(arguments.begin(), asked.front.begin(), asked.front.end());
    append(arguments, asked.words);
}

/// Words of other tools of the field, and our names for the same, of which a tool has one.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"device gpu gpus chip chips target accelerator hw platform", "hardware architectures"},
    {"backend backends framework engine stack provider ep runtimes", "runtime show-runtime"},
    {"dtype data-type quant quantize quantization datatype fp16 int8 bits dtypes precisions",
     "precision formats"},
    {"bs batch batchsize batches", "batch-size batch-sizes batch-sweep"},
    {"network net onnx onnx-file models path", "model"},
    {"max-tokens max-new-tokens tokens output-len osl n-predict", "generate-tokens output-tokens"},
    {"input-tokens input-len isl prompt-length prompt", "prompt-tokens"},
    {"seq seq-len seq-length sequence-length max-length", "dim"},
    {"shape", "input-shape dim"},
    {"context-length max-model-len ctx ctx-size", "context"},
    {"qps rps request-rate", "rate"},
    {"users", "concurrency"},
    {"min-speed min-tps min-tokens-per-s min-tokens", "min-tokens-per-s min-token-rate"},
    {"max-ttft ttft ttft-p99", "max-first-token ttft-p99"},
    {"max-tpot tpot tpot-p99", "max-token-time tpot-p99"},
    {"tp tensor-parallel tensor-parallel-size pp", "parallel"},
    {"num-gpus gpu-count num-devices", "devices max-devices"},
    {"out html save-as report outfile", "output"},
    {"json csv markdown output-format", "format"},
    {"price money", "cost"},
    {"family type kind class", "category"},
    {"min-fps fps min-rate", "min-throughput"},
    {"power tdp watts power-budget", "max-power"},
    {"latency slo max-ms", "max-latency e2e-p99"},
    {"resolution imgsz img-size", "image-size dim"},
};

std::vector<std::string> with_config(std::span<char* const> arguments, const std::string& positional,
                                     const std::function<std::vector<OptionFacts>()>& options) {
    std::vector<std::string> out, files;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string_view word = arguments[i];
        if (word == kFlag) {
            if (i + 1 == arguments.size())
                throw UsageError("--config: name a file");
            files.emplace_back(arguments[++i]);
        } else if (word.starts_with(std::string(kFlag) + "=")) {
            files.emplace_back(word.substr(kFlag.size() + 1));
        } else {
            out.emplace_back(word);
        }
    }
    for (const std::string& file : files)
        add_options(read_object(file), file, positional, options(), out);
    return out;
}

static std::vector<std::string> long_flags(const std::vector<OptionFacts>& options) {
    return kept(flattened(options, &OptionFacts::flags),
                [](const std::string& name) { return name.starts_with("--"); });
}

/// Our name for what others call so; empty: none.
static std::string our_flag(const std::string& flag, const std::vector<std::string>& known) {
    for (const auto& [theirs, ours] : kOtherNames)
        if (flag.starts_with("--") && contains(split(theirs, ' '), flag.substr(2)))
            for (const std::string& name : split(ours, ' '))
                if (contains(known, "--" + name))
                    return "--" + name;
    return "";
}

bool asks_nothing(const Json& value) {
    return value.is_null() || value == false || ((value.is_array() || value.is_object()) && value.empty());
}

std::string flag_of_key(std::string_view key, const std::vector<OptionFacts>& options) {
    std::string flag = "--" + std::string(key);
    std::ranges::replace(flag, '_', '-');
    const std::vector<std::string> known = long_flags(options);
    const auto has = [&](const std::string& name) { return contains(known, name); };
    const bool bare = std::ranges::any_of(options, [&](const OptionFacts& option) {
        return option.flags.empty() && "--" + bare_name(option.name) == flag;
    });
    if (has(flag) || bare)
        return flag;
    if (const QuestionField* const field = find_question_field(key); field != nullptr && has(field->flag))
        return field->flag;
    const std::string ours = our_flag(flag, known);
    return ours.empty() ? "--" + std::string(key) : ours;
}

std::string meant_flag(const std::string& flag, const std::vector<OptionFacts>& options) {
    const std::vector<std::string> known = long_flags(options);
    if (std::string ours = our_flag(flag, known); !ours.empty())
        return ours;
    const auto nearest = nearest_names(flag, known, 1);
    return nearest.empty() ? std::string() : nearest.front();
}

std::string tool_with_flag(const std::string& flag, const std::vector<OptionFacts>& options) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kElsewhere = {
        {{"--users", "size_service"},
         {"--concurrency", "serve_model"},
         {"--ttft-p99", "serve_model"},
         {"--tpot-p99", "serve_model"},
         {"--vary", "sweep_design_space"},
         {"--what-if", "compare_architectures"},
         {"--study", "compare_models"},
         {"--fail-on", "check_budget"},
         {"--this-machine", "list_hardware_mappers"}}};
    for (const auto& [name, tool] : kElsewhere)
        if (flag == name && !contains(long_flags(options), flag) &&
            our_flag(flag, long_flags(options)).empty())
            return std::string(tool);
    return "";
}

std::string not_estimated(const std::string& flag) {
    if (flag.find("lora") != std::string::npos || flag.starts_with("--adapter"))
        return "adapters are not estimated; one of rank r adds r x (inputs + outputs) weights to each matrix "
               "that it changes, which the cache then lacks";
    if (flag.starts_with("--image") || flag.starts_with("--limit-mm") || flag.starts_with("--mm-"))
        return "images are not read here; count the tokens of one in --prompt-tokens";
    for (const VariedPart& part : varied_parts())
        if (name_key(flag.substr(std::min(flag.find_first_not_of('-'), flag.size()))) ==
            name_key(part.name()))
            return fmt::format("a device of another {} is asked for by sweep_design_space --vary {}=1x,2x",
                               part.title(), part.name());
    if (flag == "--change" || flag == "--changes" || flag == "--scale" || flag == "--modify")
        return "a device that is changed is asked for by sweep_design_space --vary bandwidth=1x,2x";
    return "";
}

std::string why_unexpected(const std::vector<std::string>& arguments, const std::string& word,
                           const std::vector<OptionFacts>& options) {
    const auto at = std::ranges::find(arguments, word);
    const auto is_flag = [](const std::string& w) { return w.size() > 2 && w.starts_with("--"); };
    const auto before = std::find_if(std::make_reverse_iterator(at), arguments.rend(), is_flag);
    if (at == arguments.end() || before == arguments.rend() || before->find('=') != std::string::npos)
        return "";
    const auto option =
        std::ranges::find_if(options, [&](const OptionFacts& o) { return contains(o.flags, *before); });
    if (option == options.end() || option->many)
        return "";
    if (!option->takes_value)
        return fmt::format("{} takes no value{}", *before,
                           word.find('=') == std::string::npos ? "" : "; a price is --price " + word + "/h");
    const std::vector<std::string> values(before.base(),
                                          std::find_if(before.base(), arguments.end(), is_flag));
    return values.size() < 2
               ? std::string()
               : fmt::format("{} takes one value{}", *before,
                             std::ranges::all_of(values,
                                                 [](const std::string& v) {
                                                     return v.find_first_not_of("0123456789.") ==
                                                            std::string::npos;
                                                 }) &&
                                     option->kind == ValueKind::text
                                 ? fmt::format("; if it is a list, with commas: {}", fmt::join(values, ","))
                                 : std::string());
}

} // namespace archsim::cli
