#include "report/blocks/failure_notes.hpp"

#include "report/blocks/result_text.hpp"
#include "report/blocks/verdict.hpp"

#include <algorithm>
#include <utility>

namespace archsim {

std::vector<std::string> failure_notes(const std::vector<const Result*>& results, const std::string& model) {
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
    for (const Result* r : results) {
        if (r->ok())
            continue;
        auto at = std::find_if(reasons.begin(), reasons.end(),
                               [&](const auto& known) { return known.first == r->estimate.reason; });
        if (at == reasons.end())
            at = reasons.insert(at, {r->estimate.reason, {}});
        at->second.push_back(hardware_label(*r));
    }
    std::vector<std::string> notes;
    for (const auto& [reason, devices] : reasons) {
        const bool everywhere = !model.empty() && devices.size() == results.size() && devices.size() > 1;
        std::string who = model.empty() ? "" : model;
        if (!everywhere)
            who += (who.empty() ? "" : " on ") + names_text(devices);
        notes.push_back(who + ": " + reason);
    }
    return notes;
}

} // namespace archsim
