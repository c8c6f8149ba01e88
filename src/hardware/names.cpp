// Names of enumerations, and the names nearest to one that nobody has.

#include "archsim/hardware/database.hpp"
#include "archsim/hardware/events.hpp"

#include "core/text.hpp"
#include "hardware/parameter_table.hpp"

#include <algorithm>
#include <tuple>

namespace archsim {

const ParameterInfo& info_of(Parameter p) {
    return kParameterInfos[static_cast<std::size_t>(p)];
}

std::optional<Parameter> parse_parameter(std::string_view name) {
    for (std::size_t i = 0; i < kParameterInfos.size(); ++i)
        if (kParameterInfos[i].name == name)
            return static_cast<Parameter>(i);
    return std::nullopt;
}

/// The letter that looks like a digit: H1OO is meant as H100.
static char as_it_looks(char c) {
    return c == 'o' ? '0' : c;
}

/// Damerau-Levenshtein distance (optimal string alignment): insertions, deletions, substitutions and swaps of
/// neighbours each cost 1, but for what looks alike.
static std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
        last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = as_it_looks(a[i - 1]) == as_it_looks(b[j - 1]) ? 0 : 1;
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& known,
                                       std::size_t limit) {
    const std::string key = name_key(name);
    struct Candidate {
        std::size_t distance;
        std::size_t unlike_length; ///< resnet5 is nearer to resnet50 than to deeplabv3_resnet50
        const std::string* name;
    };
    std::vector<Candidate> candidates;
    for (const std::string& candidate : known) {
        const std::string other = name_key(candidate);
        // "4090" is meant as RTX-4090 although half of the letters are missing.
        const bool part = key.size() >= 3 && (other.find(key) != std::string::npos);
        const std::size_t longer = std::max(key.size(), other.size()),
                          unlike_length = longer - std::min(key.size(), other.size());
        // Further away than two fifths of the letters, or one, is no help, and no name is nearer than its
        // length.
        const std::size_t most = std::max<std::size_t>(1, 2 * longer / 5);
        if (!part && unlike_length > most)
            continue;
        const std::size_t distance = !part ? edit_distance(key, other) : other.starts_with(key) ? 0 : 1;
        if (part || distance <= most)
            candidates.push_back({distance, unlike_length, &candidate});
    }
    std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
        return std::tie(a.distance, a.unlike_length, *a.name) <
               std::tie(b.distance, b.unlike_length, *b.name);
    });
    std::vector<std::string> result;
    for (const Candidate& candidate : candidates) {
        if (result.size() == limit)
            break;
        if (std::find(result.begin(), result.end(), *candidate.name) == result.end())
            result.push_back(*candidate.name);
    }
    return result;
}

} // namespace archsim
