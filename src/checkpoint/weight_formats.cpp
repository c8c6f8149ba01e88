#include "checkpoint/weight_formats.hpp"

#include <algorithm>
#include <fnmatch.h>

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

/// The expressions in use need no more than `.*`, anchors and escaped dots.
std::string as_glob(std::string_view expression) {
    std::string glob(expression);
    std::erase_if(glob, [](char c) { return c == '^' || c == '$' || c == '\\'; });
    for (std::size_t at = glob.find(".*"); at != std::string::npos; at = glob.find(".*", at))
        glob.erase(at, 1);
    return "*" + glob + "*";
}

} // namespace

bool names_module(std::string_view pattern, std::string_view module) {
    if (pattern.starts_with("re:"))
        return fnmatch(as_glob(pattern.substr(3)).c_str(), std::string(module).c_str(), 0) == 0;
    for (const std::string_view wrapper :
         {"model.language_model.", "language_model.model.", "language_model."})
        if (pattern.starts_with(wrapper)) {
            pattern.remove_prefix(wrapper.size());
            break;
        }
    const auto wanted = split(pattern), parts = split(module);
    const auto same = [](const std::string& part, const std::string& want) {
        return fnmatch(want.c_str(), part.c_str(), 0) == 0;
    };
    return std::search(parts.begin(), parts.end(), wanted.begin(), wanted.end(), same) != parts.end();
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
    if (bits_ <= 0)
        return 0;
    const auto names = [&](const std::string& pattern) { return names_module(pattern, module); };
    if (std::any_of(exceptions_.begin(), exceptions_.end(), names))
        return 0;
    if (!only_.empty() && std::none_of(only_.begin(), only_.end(), names))
        return 0;
    return bits_;
}

} // namespace archsim::checkpoint
