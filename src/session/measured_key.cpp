#include "session/measured_key.hpp"

#include "core/digest.hpp"
#include "hardware/posterior.hpp"
#include "hardware/uncertainty.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace archsim {

namespace {

std::string key_of(const Machine& machine) {
    if (!machine.uncertainty || machine.uncertainty->given().empty())
        return {};
    std::vector<std::string> keys;
    for (const GivenRow& row : machine.uncertainty->given()) {
        Digest digest;
        for (const std::string_view text :
             {std::string_view(row.family), std::string_view(row.device), std::string_view(row.runtime)})
            digest.text(text);
        digest.number(row.metric);
        for (const double share : row.lanes)
            digest.number(share);
        digest.number(row.log_ratio);
        keys.push_back(digest.hex());
    }
    std::sort(keys.begin(), keys.end());
    Digest all;
    for (const std::string& key : keys)
        all.text(key);
    return all.hex();
}

} // namespace

std::string measured_key(const Session& session, std::string_view device) {
    return key_of(*session.machine(device));
}

std::string measured_key(const Result& result) {
    if (result.machine)
        return key_of(*result.machine);
    for (const ResultPart& part : result.parts)
        if (std::string key = measured_key(*part.result); !key.empty())
            return key;
    return {};
}

std::string with_measured(std::string question_key, std::string_view measured) {
    if (measured.empty())
        return question_key;
    question_key.pop_back(); // the brace at its end
    return fmt::format("{}{}\"measured\":\"{}\"}}", question_key, question_key.size() > 1 ? "," : "",
                       measured);
}

} // namespace archsim
