#include "core/csv_reader.hpp"

#include <utility>

namespace archsim {

std::vector<CsvRecord> parse_csv(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF"))
        text.remove_prefix(3);
    std::vector<CsvRecord> records;
    CsvRecord record;
    std::string field;
    bool quoted = false;
    std::size_t line = 1;
    const auto end_record = [&] {
        if (!record.fields.empty() || !field.empty()) {
            record.fields.push_back(std::move(field));
            records.push_back(std::move(record));
        }
        field.clear();
        record = CsvRecord{};
        record.line = line;
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\n')
            ++line;
        if (quoted) {
            if (c != '"')
                field += c;
            else if (i + 1 < text.size() && text[i + 1] == '"')
                field += text[++i];
            else
                quoted = false;
        } else if (c == '"' && field.empty()) {
            quoted = true;
        } else if (c == ',') {
            record.fields.push_back(std::exchange(field, {}));
        } else if (c == '\n') {
            end_record();
        } else if (c != '\r') {
            field += c;
        }
    }
    end_record();
    return records;
}

} // namespace archsim
