#include "check/given_output.hpp"

#include "archsim/core/finding.hpp"
#include "core/text_file.hpp"
#include "run/session/given.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

namespace archsim {

namespace {

bool is_known(const Session& session, const std::string& model) {
    try {
        session.load(model);
        return true;
    } catch (const Error&) {
        return false;
    }
}

} // namespace

std::vector<MeasuredRow> read_measured(std::span<const std::string> texts, const Session& session,
                                       const MeasuredContext& context, std::string_view flag) {
    accept_language_rows();
    std::vector<MeasuredRow> rows;
    for (const std::string& text : texts) {
        if (!std::filesystem::is_regular_file(text) || !is_tool_output(read_text_file(text))) {
            auto words = read_given(std::span(&text, 1), session, context.hardware, flag);
            std::move(words.begin(), words.end(), std::back_inserter(rows));
            continue;
        }
        MeasuredContext missing = context;
        missing.only_missing = true;
        for (MeasuredRow& row : read_tool_output(text, missing).rows) {
            if (!context.model.empty() && row.model != context.model && !is_known(session, row.model))
                row.model = context.model;
            rows.push_back(std::move(row));
        }
    }
    return rows;
}

} // namespace archsim
