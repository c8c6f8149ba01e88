#include "report/blocks/command_text.hpp"

#include "report/blocks/result_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace archsim {

std::string shell_quoted(std::string_view text) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=@+:,";
    if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos)
        return std::string(text);
    std::string out = "'";
    for (const char c : text)
        if (c == '\'')
            out += "'\\''";
        else
            out += c;
    return out + "'";
}

namespace {

/// The formats as the flags that state them: of arithmetic, and of weights and caches where these differ.
std::string format_flags(const Conditions& conditions) {
    if (conditions.format_of_device)
        return " --precision usual";
    const PrecisionConfig& c = conditions.precision;
    PrecisionConfig named = c;
    named.strict_fp32 = false;
    const std::string name = precision_name(c);
    std::string text;
    if (PrecisionConfig::parse(name) == named) {
        if (named != PrecisionConfig::uniform(Precision::fp32))
            text += " --precision " + name;
    } else {
        text += fmt::format(" --precision {}", name_of(c.activations));
        if (c.weights != PrecisionConfig::uniform(c.activations).weights)
            text += fmt::format(" --weights {}", name_of(c.weights));
    }
    if (conditions.kv_cache)
        text += fmt::format(" --kv-cache {}", name_of(*conditions.kv_cache));
    if (c.strict_fp32)
        text += " --strict-fp32";
    return text;
}

} // namespace

std::string question_flags(const Workload& workload, const Conditions& conditions) {
    const Conditions defaults;
    std::string line;
    if (workload.batch != 1)
        line += fmt::format(" --batch-size {}", workload.batch);
    line += format_flags(conditions);
    if (!conditions.stack.empty())
        line += " --runtime " + shell_quoted(conditions.stack);
    for (const auto& [name, size] : workload.sizes.dims)
        line += " --dim " + shell_quoted(fmt::format("{}={}", name, size));
    if (workload.prompt)
        line += fmt::format(" --prompt-tokens {} --generate-tokens {}", workload.prompt->tokens,
                            workload.prompt->generate);
    if (conditions.devices == 0)
        line += " --devices auto";
    else if (conditions.devices != defaults.devices)
        line += fmt::format(" --devices {:.0f}", conditions.devices);
    if (conditions.scenario != defaults.scenario)
        line += fmt::format(" --scenario {}", name_of(conditions.scenario));
    if (conditions.scope != defaults.scope)
        line += fmt::format(" --scope {}", name_of(conditions.scope));
    if (conditions.allow_unknown)
        line += " --allow-unknown";
    return line;
}

std::vector<Block> command_blocks(const std::vector<std::string>& commands) {
    std::vector<Block> blocks;
    if (!commands.empty())
        blocks.emplace_back(Heading{3, "Next steps:"});
    for (const std::string& line : commands)
        blocks.emplace_back(Command{line});
    return blocks;
}

} // namespace archsim
