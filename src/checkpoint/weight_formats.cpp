#include "checkpoint/weight_formats.hpp"

#include "checkpoint/model_types.hpp"
#include "core/product_format.hpp"
#include "core/text.hpp"

#include <fmt/format.h>
#include <regex.h>

namespace archsim::checkpoint {

std::optional<Precision> narrow_format(std::string_view name, double bits) {
    constexpr double kPlainFloat = 16;
    if (bits >= kPlainFloat)
        return std::nullopt;
    const bool real = name.find("fp") != std::string_view::npos;
    if (is_four_bit(bits))
        return real ? Precision::fp4 : Precision::int4;
    return real ? Precision::fp8 : Precision::int8;
}

void WeightFormats::set_pattern(const std::string& pattern, WeightScheme scheme) {
    ModulePattern made(pattern);
    if (known_.insert(made.key()).second)
        patterns_.emplace_back(std::move(made), std::move(scheme));
}

WeightScheme WeightFormats::named(std::string_view module) const {
    if (scheme_.bits <= 0 && patterns_.empty())
        return {};
    const ModuleName name(module);
    constexpr double kSteps = 1.0 / 256; // a pattern is quickly held against a name
    const auto names = [&](const ModulePattern& pattern) {
        spending_.step(kSteps * pattern.cost());
        return pattern.names(name);
    };
    if (std::ranges::any_of(exceptions_, names))
        return {};
    for (const auto& [pattern, scheme] : patterns_)
        if (names(pattern))
            return scheme;
    if (std::ranges::any_of(usual_, names))
        return {};
    return scheme_;
}

WeightScheme WeightFormats::of(std::string_view module) const {
    WeightScheme scheme = named(module);
    std::size_t longest = 0;
    for (const auto& [prefix, bits] : stated_)
        if (module.starts_with(prefix) && prefix.size() >= longest) {
            longest = prefix.size();
            scheme.bits = bits;
        }
    return scheme.bits > 0 ? scheme : WeightScheme{};
}

// Names of modules as configurations write them, held against those of our graphs.

/// A component of our names, and what authors call it (module_spellings of hardware_db/model_types.json).
using Spelling = std::pair<std::string, std::string>;
static const std::vector<Spelling>& spellings_known() {
    static const auto all = model_types().at("module_spellings").get<std::vector<Spelling>>();
    return all;
}

constexpr std::string_view kExperts = "experts", kAny = "*";

/// The names of a pattern's component in our graph; stars around a name stay there.
static std::vector<std::string> own_names(const std::string& component) {
    std::vector<std::string> names{component};
    const std::size_t from = component.find_first_not_of('*');
    if (from == std::string::npos)
        return names;
    const std::size_t to = component.find_last_not_of('*') + 1;
    const std::string_view name = std::string_view(component).substr(from, to - from);
    for (const auto& [ours, theirs] : spellings_known())
        if (theirs == name)
            names.push_back(component.substr(0, from) + ours + component.substr(to));
    return names;
}

/// The one of many experts that a component stands for.
static bool numbers_expert(std::string_view component) {
    return component == kAny ||
           (!component.empty() && component.find_first_not_of("0123456789") == std::string_view::npos);
}

static void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

/// Python's expressions as POSIX ones, which are compiled quickly and match without backtracking; without the
/// names that multimodal models put around their decoder.
static std::string as_posix(std::string_view expression) {
    std::string posix(expression);
    replace_all(posix, "(?:", "(");
    replace_all(posix, "\\d", "[0-9]");
    for (const std::string_view wrapper : {"language_model\\.", "language_model."})
        replace_all(posix, wrapper, "");
    replace_all(posix, "backbone", "model");
    return posix;
}

constexpr std::size_t kLongest = 1000, kMostPieces = 2000; ///< of an expression: no list of layers needs more

/// Whether an expression stays small when it is compiled: regcomp() writes what stands before a `+` twice, so
/// that each level of them doubles the memory, and a reference back would be matched by trying.
static bool stays_small(std::string_view expression) {
    if (expression.size() > kLongest)
        return false;
    std::vector<std::size_t> groups(1); // parts of the groups that are open
    std::size_t last = 0;               // parts of what a sign behind it repeats
    for (std::size_t i = 0; i < expression.size(); ++i) {
        switch (expression[i]) {
        case '{':
            return false; // counted repetitions take memory as they like
        case '\\':
            if (++i < expression.size() && expression[i] >= '0' && expression[i] <= '9')
                return false;
            groups.back() += last = 1;
            break;
        case '[': {
            std::size_t end = i + 1; // "[]a]" and "[^]a]" hold a bracket
            end += end < expression.size() && expression[end] == '^' ? 1 : 0;
            i = std::min(expression.find(']', end + 1), expression.size());
            groups.back() += last = 1;
            break;
        }
        case '(':
            groups.push_back(1);
            break;
        case ')':
            if (groups.size() > 1) {
                last = groups.back();
                groups.pop_back();
                groups.back() += last;
            }
            break;
        case '+':
            groups.back() += last;
            last *= 2;
            break;
        default:
            groups.back() += last = 1;
        }
        if (groups.back() > kMostPieces)
            return false;
    }
    return true;
}

ModuleName::ModuleName(std::string_view name) : text_(name), components_(split(name, '.')) {}

const std::vector<std::string>& ModuleName::spellings() const {
    if (!spellings_.empty())
        return spellings_;
    spellings_.emplace_back();
    for (std::size_t i = 0; i < components_.size(); ++i) {
        std::vector<std::string> names{components_[i]};
        for (const auto& [ours, theirs] : spellings_known())
            if (ours == components_[i])
                names.push_back(theirs);
        if (components_[i] == kExperts)
            names.push_back(components_[i] + ".0");
        std::vector<std::string> longer;
        for (const std::string& name : names)
            for (const std::string& start : spellings_)
                longer.push_back(i == 0 ? name : start + "." + name);
        spellings_ = std::move(longer);
    }
    return spellings_;
}

struct ModulePattern::Expression {
    explicit Expression(const std::string& text)
        : valid(regcomp(&compiled, text.c_str(), REG_EXTENDED | REG_NOSUB) == 0) {}
    ~Expression() {
        if (valid)
            regfree(&compiled);
    }
    Expression(const Expression&) = delete;
    Expression& operator=(const Expression&) = delete;
    bool matches(const std::string& text) const {
        return valid && regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
    }
    regex_t compiled{};
    bool valid;
};

bool ModulePattern::Component::operator()(const std::string& part) const {
    return std::ranges::any_of(
        names, [&](const std::string& name) { return stars ? matches_glob(name, part) : name == part; });
}

ModulePattern::ModulePattern(const std::string& pattern) {
    constexpr std::string_view kExpression = "re:";
    if (pattern.starts_with(kExpression)) {
        key_ = pattern;
        if (!stays_small(pattern))
            throw InputError(
                fmt::format("\"{}\": expected a regular expression without counts and references "
                            "back, of at most {} characters and few + within each other",
                            pattern, kLongest));
        expression_ = std::make_shared<const Expression>(
            as_posix(std::string_view(pattern).substr(kExpression.size())));
        return;
    }
    std::string_view name = pattern;
    for (const std::string_view wrapper :
         {"model.language_model.", "language_model.model.", "language_model.", "backbone."})
        if (name.starts_with(wrapper)) {
            name.remove_prefix(wrapper.size());
            break;
        }
    std::vector<std::string> parts = split(name, '.');
    if (parts.size() > 1 && parts.back().empty()) // "*.mlp.gate."
        parts.pop_back();
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0 && parts[i - 1] == kExperts && numbers_expert(parts[i]))
            continue;
        components_.push_back({own_names(parts[i]), parts[i].find_first_of("*?[") != std::string::npos});
        key_ += "." + parts[i];
    }
}

bool ModulePattern::names(const ModuleName& module) const {
    if (expression_) {
        const auto matches = [&](const std::string& text) { return expression_->matches(text); };
        return matches(module.text()) || std::ranges::any_of(module.spellings(), matches);
    }
    const auto& parts = module.components();
    return std::search(parts.begin(), parts.end(), components_.begin(), components_.end(),
                       [](const std::string& part, const Component& component) { return component(part); }) !=
           parts.end();
}

} // namespace archsim::checkpoint
