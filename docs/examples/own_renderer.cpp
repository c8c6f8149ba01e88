// A renderer of one's own: a report is a list of blocks, and a renderer is a function of it. This one writes
// the tables as LaTeX and leaves everything else out.

#include <archsim/archsim.hpp>
#include <archsim/extend/renderer.hpp>

#include <cstdio>
#include <string>
#include <variant>

namespace {

std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '%' || c == '&' || c == '#' || c == '_' || c == '$')
            result += '\\';
        result += c;
    }
    return result;
}

std::string latex(const archsim::Table& table) {
    std::string text = "\\begin{tabular}{";
    for (const archsim::Column& column : table.columns)
        text += column.align == archsim::Align::right ? 'r' : 'l';
    text += "}\n";
    const auto end_cell = [&](std::size_t i) { text += i + 1 < table.columns.size() ? " & " : " \\\\\n"; };
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        text += escaped(table.columns[i].heading);
        end_cell(i);
    }
    for (const auto& row : table.rows)
        for (std::size_t i = 0; i < row.size(); ++i) {
            text += escaped(row[i].text);
            end_cell(i);
        }
    return text + "\\end{tabular}\n";
}

} // namespace

int main() try {
    using namespace archsim;
    const Session session;
    CompareModelsRequest request;
    request.models = {"resnet50"};
    request.deployment = "edge";
    const ModelComparison comparison = compare_models(session, request);
    for (const Block& block : report_of(comparison).blocks)
        if (const auto* table = std::get_if<Table>(&block))
            std::fputs(latex(*table).c_str(), stdout);
} catch (const archsim::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
}
