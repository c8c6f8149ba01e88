#include "machine/processor_entry.hpp"

#include "core/text.hpp"

#include <cctype>

namespace archsim {

using Words = std::set<std::string, std::less<>>;

/// Words that names carry or leave out at will.
static bool is_filler(std::string_view word) {
    static const Words kFillers = {"cpu",    "processor", "gpu",      "@",     "graphics",
                                   "nvidia", "amd",       "intel",    "with",  "gen",
                                   "the",    "radeon",    "instinct", "tesla", "geforce"};
    return kFillers.contains(word) || word.ends_with("-core") || word.ends_with("ghz") ||
           word.ends_with("th");
}

/// Lower-case words without what stands in brackets: "Intel(R) Xeon(R) Platinum 8592+" -> xeon, platinum,
/// 8592+.
static Words words_of(std::string_view name) {
    std::string plain;
    int depth = 0;
    for (const char c : name) {
        depth += c == '(';
        if (depth == 0)
            plain += c == ',' || c == '/' ? ' ' : c;
        else if (c == ')')
            --depth;
    }
    plain = lower_case(plain);
    Words words;
    for (std::size_t at = 0; at < plain.size();) {
        const auto end = std::min(plain.size(), plain.find(' ', at));
        if (std::string word = plain.substr(at, end - at); !word.empty() && !is_filler(word))
            words.insert(std::move(word));
        at = end + 1;
    }
    return words;
}

static bool has_digit(const Words& words) {
    return std::ranges::any_of(words, [](const std::string& word) {
        return std::ranges::any_of(word, [](unsigned char c) { return std::isdigit(c) != 0; });
    });
}

/// Words in common when all of `candidate` are among `words`; 0 otherwise.
static std::size_t covered(const Words& candidate, const Words& words) {
    const bool telling = candidate.size() > 1 || has_digit(candidate);
    return telling && std::includes(words.begin(), words.end(), candidate.begin(), candidate.end())
               ? candidate.size()
               : 0;
}

std::shared_ptr<const Device> find_by_name(std::string_view name, Family family, const Devices& devices) {
    const Words words = words_of(name);
    std::shared_ptr<const Device> best;
    std::size_t most = 0;
    for (const auto& device : devices) {
        if (device->family != family)
            continue;
        std::size_t score = covered(words_of(device->name), words);
        for (const std::string& alias : device->aliases)
            score = std::max(score, covered(words_of(alias), words));
        if (score > most) {
            most = score;
            best = device;
        }
    }
    return best;
}

Match match_processor(const ProcessorSeen& seen, std::string_view board, const Devices& devices) {
    for (const std::string_view name : {std::string_view(seen.name), board})
        if (auto device = find_by_name(name, Family("cpu"), devices))
            return {device, true, fmt::format("by its name, \"{}\"", name)};
    if (!seen.core)
        return {nullptr, false, "the processor's family and model are not known here"};
    std::shared_ptr<const Device> best;
    double least = 0;
    for (const auto& device : devices) {
        if (device->family != Family("cpu") || device->generation != seen.core->generation)
            continue;
        const double cores = std::max(1.0, family_number(*device, "cores").value_or(1));
        // A virtual machine is a slice of a server, whatever its size.
        const double distance = seen.hypervisor ? -cores : std::abs(std::log(cores / seen.cores));
        if (!best || distance < least) {
            best = device;
            least = distance;
        }
    }
    if (!best)
        return {nullptr, false,
                fmt::format("the database has no processor of the generation {}", seen.core->title)};
    return {best, false,
            fmt::format("the same generation ({}){}", seen.core->title,
                        seen.hypervisor ? "; its own name is hidden in a virtual machine" : "")};
}

} // namespace archsim
