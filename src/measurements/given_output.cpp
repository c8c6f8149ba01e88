#include "measurements/given_output.hpp"

#include "core/text_file.hpp"
#include "session/given.hpp"

#include <iterator>

namespace archsim {

static bool is_known(const Session& session, const std::string& model) {
    try {
        session.load(model);
        return true;
    } catch (const Error&) {
        return false;
    }
}

static void add_output(std::vector<MeasuredRow>& rows, const std::string& file, const Session& session,
                       const MeasuredContext& context) {
    MeasuredContext missing = context;
    missing.only_missing = true;
    for (MeasuredRow& row : read_tool_output(file, missing).rows) {
        if (!context.model.empty() && row.model != context.model && !is_known(session, row.model))
            row.model = context.model;
        rows.push_back(std::move(row));
    }
}

std::vector<MeasuredRow> read_measured(std::span<const std::string> texts, const Session& session,
                                       const MeasuredContext& context, std::string_view flag) {
    std::vector<MeasuredRow> rows;
    for (const std::string& text : texts) {
        if (!std::filesystem::is_regular_file(text) || !is_tool_output(read_text_file(text))) {
            auto words = read_given(std::span(&text, 1), session, context.hardware, flag, context.runtime);
            std::move(words.begin(), words.end(), std::back_inserter(rows));
            continue;
        }
        add_output(rows, text, session, context);
    }
    return rows;
}

NamedOutput named_output(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || std::filesystem::exists(text))
        return {"", text};
    return {text.substr(0, equals), text.substr(equals + 1)};
}

std::vector<MeasuredRow> read_outputs(std::span<const std::string> files, const Session& session,
                                      const MeasuredContext& context) {
    std::vector<MeasuredRow> rows;
    for (const std::string& text : files) {
        const NamedOutput output = named_output(text);
        MeasuredContext own = context;
        if (!output.hardware.empty())
            own.hardware = session.hardware().device(output.hardware).device->id;
        add_output(rows, output.file, session, own);
    }
    return rows;
}

} // namespace archsim
