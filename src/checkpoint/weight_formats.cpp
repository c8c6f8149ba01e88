#include "checkpoint/weight_formats.hpp"

#include <algorithm>
#include <fnmatch.h>
#include <regex.h>
#include <utility>

namespace archsim::checkpoint {

namespace {

std::vector<std::string> split(std::string_view name) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= name.size();) {
        const std::size_t dot = std::min(name.find('.', at), name.size());
        parts.emplace_back(name.substr(at, dot - at));
        at = dot + 1;
    }
    return parts;
}

/// Python's expressions as POSIX ones, which are compiled quickly and match without backtracking.
std::string as_posix(std::string_view expression) {
    std::string posix(expression);
    const auto replace = [&](std::string_view from, std::string_view to) {
        for (std::size_t at = posix.find(from); at != std::string::npos;
             at = posix.find(from, at + to.size()))
            posix.replace(at, from.size(), to);
    };
    replace("(?:", "(");
    replace("\\d", "[0-9]");
    return posix;
}

} // namespace

struct ModulePattern::Expression {
    // No list of layers needs more; counted repetitions take memory as they like.
    static constexpr std::size_t kLongest = 1000;
    explicit Expression(const std::string& text)
        : valid(text.size() <= kLongest && text.find('{') == std::string::npos &&
                regcomp(&compiled, text.c_str(), REG_EXTENDED | REG_NOSUB) == 0) {}
    ~Expression() {
        if (valid)
            regfree(&compiled);
    }
    Expression(const Expression&) = delete;
    Expression& operator=(const Expression&) = delete;
    regex_t compiled{};
    bool valid;
};

ModulePattern::ModulePattern(const std::string& pattern) {
    constexpr std::string_view kExpression = "re:";
    if (pattern.starts_with(kExpression)) {
        expression_ = std::make_shared<const Expression>(
            as_posix(std::string_view(pattern).substr(kExpression.size())));
        return;
    }
    std::string_view name = pattern;
    for (const std::string_view wrapper :
         {"model.language_model.", "language_model.model.", "language_model."})
        if (name.starts_with(wrapper)) {
            name.remove_prefix(wrapper.size());
            break;
        }
    components_ = split(name);
    if (components_.size() > 1 && components_.back().empty()) // "*.mlp.gate."
        components_.pop_back();
}

bool ModulePattern::names(const std::string& module, const std::vector<std::string>& parts) const {
    if (expression_)
        return expression_->valid && regexec(&expression_->compiled, module.c_str(), 0, nullptr, 0) == 0;
    const auto same = [](const std::string& part, const std::string& want) {
        return fnmatch(want.c_str(), part.c_str(), 0) == 0;
    };
    return std::search(parts.begin(), parts.end(), components_.begin(), components_.end(), same) !=
           parts.end();
}

bool names_module(std::string_view pattern, std::string_view module) {
    return ModulePattern(std::string(pattern)).names(std::string(module), split(module));
}

std::optional<Precision> narrow_format(std::string_view name, double bits) {
    constexpr double kPlainFloat = 16, kNearerToEight = 6;
    if (bits >= kPlainFloat)
        return std::nullopt;
    const bool real = name.find("fp") != std::string_view::npos;
    if (bits < kNearerToEight)
        return real ? Precision::fp4 : Precision::int4;
    return real ? Precision::fp8 : Precision::int8;
}

double WeightFormats::bits(std::string_view module) const {
    const std::pair<std::string, double>* best = nullptr;
    for (const auto& stated : stated_)
        if (module.starts_with(stated.first) && (!best || stated.first.size() > best->first.size()))
            best = &stated;
    if (best)
        return best->second;
    if (bits_ <= 0 && patterns_.empty())
        return 0;
    const std::string name(module);
    const auto parts = split(module);
    const auto names = [&](const ModulePattern& pattern) { return pattern.names(name, parts); };
    if (std::any_of(exceptions_.begin(), exceptions_.end(), names))
        return 0;
    for (const auto& [pattern, bits] : patterns_)
        if (names(pattern))
            return bits;
    return bits_;
}

} // namespace archsim::checkpoint
