#include "checkpoint/module_pattern.hpp"

#include "archsim/core/finding.hpp"
#include "core/glob.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <regex.h>

namespace archsim::checkpoint {

namespace {

/// A component of our names, and what authors call it, or a matrix of theirs that holds it too.
struct Spelling {
    std::string_view ours, theirs;
};
constexpr std::array kSpellings{
    // Halves of a layer: DeepSeek-V4, MiniMax, Mixtral, Llama as Meta wrote it, LFM2; a layer of Nemotron-H
    // is one half, which it calls mixer whatever it is.
    Spelling{"mlp", "ffn"},
    Spelling{"mlp", "block_sparse_moe"},
    Spelling{"mlp", "feed_forward"},
    Spelling{"mlp", "mixer"},
    Spelling{"self_attn", "attn"},
    Spelling{"self_attn", "attention"},
    Spelling{"self_attn", "mixer"},
    Spelling{"shared_experts", "shared_expert"}, // Qwen
    Spelling{"shared_experts", "share_expert"},  // Step
    // Matrices that engines merge, or the graph splits.
    Spelling{"q_proj", "qkv_proj"},
    Spelling{"k_proj", "qkv_proj"},
    Spelling{"v_proj", "qkv_proj"},
    Spelling{"q_gate", "qkv_proj"},
    Spelling{"q_gate", "q_proj"}, // Qwen3-Next: twice as wide
    Spelling{"q_gate", "g_proj"},
    Spelling{"gate_proj", "gate_up_proj"},
    Spelling{"up_proj", "gate_up_proj"},
    // DeepSeek-V4
    Spelling{"q_a_proj", "wq_a"},
    Spelling{"q_b_proj", "wq_b"},
    Spelling{"kv_proj", "wkv"},
    Spelling{"q_a_proj", "fused_wqa_wkv"},
    Spelling{"kv_proj", "fused_wqa_wkv"},
    Spelling{"o_a_proj", "wo_a"},
    Spelling{"o_b_proj", "wo_b"},
    // Llama as Meta wrote it, and experts, whose first matrix is their only one before the activation where
    // they have no gate.
    Spelling{"gate_proj", "w1"},
    Spelling{"down_proj", "w2"},
    Spelling{"up_proj", "w3"},
    Spelling{"w1", "gate_proj"},
    Spelling{"w1", "up_proj"},
    Spelling{"w1", "gate_up_proj"},
    Spelling{"w2", "down_proj"},
    Spelling{"w3", "up_proj"},
    Spelling{"w3", "gate_up_proj"},
};

constexpr std::string_view kExperts = "experts", kAny = "*";

std::vector<std::string> split(std::string_view name) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= name.size();) {
        const std::size_t dot = std::min(name.find('.', at), name.size());
        parts.emplace_back(name.substr(at, dot - at));
        at = dot + 1;
    }
    return parts;
}

/// What a component of a pattern may be called in our graph; stars around a name stay there.
std::vector<std::string> own_names(const std::string& component) {
    std::vector<std::string> names{component};
    const std::size_t from = component.find_first_not_of('*');
    if (from == std::string::npos)
        return names;
    const std::size_t to = component.find_last_not_of('*') + 1;
    const std::string_view name = std::string_view(component).substr(from, to - from);
    for (const Spelling& s : kSpellings)
        if (s.theirs == name)
            names.push_back(component.substr(0, from) + std::string(s.ours) + component.substr(to));
    return names;
}

/// The one of many experts that a component stands for.
bool numbers_expert(std::string_view component) {
    return component == kAny ||
           (!component.empty() && component.find_first_not_of("0123456789") == std::string_view::npos);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

/// Python's expressions as POSIX ones, which are compiled quickly and match without backtracking; without the
/// names that multimodal models put around their decoder.
std::string as_posix(std::string_view expression) {
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
bool stays_small(std::string_view expression) {
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

} // namespace

ModuleName::ModuleName(std::string_view name) : text_(name), components_(split(name)) {}

const std::vector<std::string>& ModuleName::spellings() const {
    if (!spellings_.empty())
        return spellings_;
    spellings_.emplace_back();
    for (std::size_t i = 0; i < components_.size(); ++i) {
        std::vector<std::string> names{components_[i]};
        for (const Spelling& s : kSpellings)
            if (s.ours == components_[i])
                names.emplace_back(s.theirs);
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
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return stars ? matches_glob(name, part) : name == part;
    });
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
    std::vector<std::string> parts = split(name);
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
        return matches(module.text()) ||
               std::any_of(module.spellings().begin(), module.spellings().end(), matches);
    }
    const auto& parts = module.components();
    return std::search(parts.begin(), parts.end(), components_.begin(), components_.end(),
                       [](const std::string& part, const Component& component) { return component(part); }) !=
           parts.end();
}

bool names_module(std::string_view pattern, std::string_view module) {
    return ModulePattern(std::string(pattern)).names(ModuleName(module));
}

} // namespace archsim::checkpoint
