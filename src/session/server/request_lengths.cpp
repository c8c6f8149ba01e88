#include "archsim/core/finding.hpp"
#include "archsim/run/serve.hpp"
#include "core/csv_reader.hpp"
#include "core/parse_number.hpp"
#include "core/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace archsim {

std::vector<std::pair<std::int64_t, std::int64_t>> read_request_lengths(const std::string& file) {
    const auto records = parse_csv(read_text_file(file));
    const auto column = [&](const char* name) -> std::size_t {
        const auto found = records.empty() ? std::vector<std::string>::const_iterator{}
                                           : std::ranges::find(records[0].fields, name);
        if (records.empty() || found == records[0].fields.end())
            throw InputError(fmt::format(
                "{}: line 1: no column {}; prompt_tokens and output_tokens are needed", file, name));
        return static_cast<std::size_t>(found - records[0].fields.begin());
    };
    const std::size_t prompt = column("prompt_tokens"), output = column("output_tokens");
    std::vector<std::pair<std::int64_t, std::int64_t>> lengths;
    for (std::size_t i = 1; i < records.size(); ++i) {
        const auto number = [&](std::size_t at) {
            const std::string& field = at < records[i].fields.size() ? records[i].fields[at] : std::string();
            const std::int64_t value = plain_number<std::int64_t>(field).value_or(0);
            constexpr std::int64_t kMostTokens = 1 << 24; // as of traces
            if (value < 1 || value > kMostTokens)
                throw InputError(
                    fmt::format("{}: line {}: \"{}\" is no number of tokens", file, records[i].line, field));
            return value;
        };
        lengths.emplace_back(number(prompt), number(output));
    }
    if (lengths.empty())
        throw InputError(fmt::format("{}: no request in it", file));
    return lengths;
}

} // namespace archsim
