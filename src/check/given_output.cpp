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

void add_output(std::vector<MeasuredRow>& rows, const std::string& file, const Session& session,
                const MeasuredContext& context) {
    MeasuredContext missing = context;
    missing.only_missing = true;
    for (MeasuredRow& row : read_tool_output(file, missing).rows) {
        if (!context.model.empty() && row.model != context.model && !is_known(session, row.model))
            row.model = context.model;
        rows.push_back(std::move(row));
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
        add_output(rows, text, session, context);
    }
    return rows;
}

std::vector<MeasuredRow> read_outputs(std::span<const std::string> files, const Session& session,
                                      const MeasuredContext& context) {
    accept_language_rows();
    std::vector<MeasuredRow> rows;
    for (const std::string& file : files)
        add_output(rows, file, session, context);
    return rows;
}

} // namespace archsim
