#include "report/answers/local_report.hpp"

#include "archsim/core/version.hpp"
#include "ask/question_json.hpp"
#include "report/blocks/cells.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/plural.hpp"
#include "report/render/json_document.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace archsim {

namespace {

constexpr double kLocalGiga = 1e9;

using LocalColumn = ColumnOf<LocalModel>;

std::string_view name_of(LocalKind kind) {
    return kind == LocalKind::vision ? "vision" : kind == LocalKind::speech ? "speech" : "language";
}

std::string_view rate_unit(const LocalAnswer& answer) {
    return answer.request.kind != LocalKind::language ? "inferences/s" : "tokens/s";
}

Cell rate_cell(const LocalModel& m, const LocalRate& r) {
    if (!m.runs || r.per_s <= 0)
        return {"-"};
    Cell cell{format_number(r.per_s), r.per_s};
    cell.interval = {r.low, r.per_s, r.high};
    return cell;
}

Cell interval_cell(const LocalModel& m, const LocalRate& r) {
    return {m.runs && r.per_s > 0 ? fmt::format("{}-{}", format_number(r.low), format_number(r.high)) : "-"};
}

Cell bytes_cell(double bytes) {
    return bytes > 0 ? cell_in(kLocalGiga, bytes) : Cell{"-"};
}

std::vector<LocalColumn> local_columns(const LocalAnswer& answer) {
    const bool language = answer.request.kind == LocalKind::language;
    std::vector<LocalColumn> columns = {
        {{"Model", "", "model"}, [](const LocalModel& m) { return Cell{m.name}; }},
        {{"Parameters", "", "parameters", Align::right},
         [](const LocalModel& m) { return m.parameters > 0 ? amount_cell(m.parameters) : Cell{"-"}; }},
        {{"Format", "", "precision"}, [](const LocalModel& m) { return Cell{m.format}; }},
        {{"Memory", "GB", "memory_bytes", Align::right},
         [](const LocalModel& m) { return bytes_cell(m.memory_bytes); }}};
    if (language) {
        columns.push_back(
            {{"On device", "layers", "device_layers", Align::right, 1}, [](const LocalModel& m) {
                 if (!m.runs || m.layers <= 0)
                     return Cell{"-"};
                 return m.expert_layers > 0 ? Cell{fmt::format("all but the experts of {}", m.expert_layers),
                                                   static_cast<double>(m.device_layers)}
                                            : Cell{fmt::format("{} of {}", m.device_layers, m.layers),
                                                   static_cast<double>(m.device_layers)};
             }});
        columns.push_back({{"Reads", "tokens/s", "prompt_tokens_per_s", Align::right},
                           [](const LocalModel& m) { return rate_cell(m, m.prompt); }});
        columns.push_back({{"90 %", "tokens/s", "prompt_tokens_per_s_interval", Align::right, 2},
                           [](const LocalModel& m) { return interval_cell(m, m.prompt); }});
    }
    columns.push_back({{language ? "Writes" : "Rate", std::string(rate_unit(answer)),
                        language ? "output_tokens_per_s" : "inferences_per_s", Align::right},
                       [](const LocalModel& m) { return rate_cell(m, m.output); }});
    columns.push_back(
        {{"90 %", std::string(rate_unit(answer)),
          language ? "output_tokens_per_s_interval" : "inferences_per_s_interval", Align::right},
         [](const LocalModel& m) { return interval_cell(m, m.output); }});
    columns.push_back({{"Basis", "", "basis", Align::left, 2}, [](const LocalModel& m) {
                           return Cell{!m.runs ? "-" : m.projected ? "projected" : "measured"};
                       }});
    if (language)
        columns.push_back({{"Command", "", "command", Align::left, 3},
                           [](const LocalModel& m) { return Cell{m.command.empty() ? "-" : m.command}; }});
    columns.push_back(
        {{"Why not", "", "reason", Align::left, 4}, [](const LocalModel& m) { return text_cell(m.reason); }});
    return columns;
}

bool shown(const LocalModel& m) {
    return m.runs && !m.too_slow;
}

/// Of each model the widest format that runs, or all of them.
std::vector<LocalModel> rows_of(const LocalAnswer& answer, const LocalView& view) {
    std::vector<LocalModel> rows;
    for (const LocalModel& m : answer.models)
        if (shown(m) && (view.every_format || rows.empty() || rows.back().name != m.name))
            rows.push_back(m);
    if (view.by_speed)
        std::stable_sort(rows.begin(), rows.end(), [](const LocalModel& a, const LocalModel& b) {
            return a.output.per_s > b.output.per_s;
        });
    return rows;
}

std::string rate_text(const LocalAnswer& answer, const LocalModel& m) {
    return fmt::format(
        "{} in {}, {} {} ({} to {}){}", m.name, m.format, format_number(m.output.per_s), rate_unit(answer),
        format_number(m.output.low), format_number(m.output.high),
        m.device_layers < m.layers ? fmt::format(", {} of {} layers on the device", m.device_layers, m.layers)
        : m.expert_layers > 0
            ? fmt::format(", experts of {} of {} layers on the host", m.expert_layers, m.layers)
            : "");
}

Takeaway local_takeaway(const LocalAnswer& answer, const std::vector<LocalModel>& rows) {
    const bool language = answer.request.kind == LocalKind::language;
    std::vector<std::string> names;
    for (const LocalModel& m : answer.models)
        if (shown(m) && (names.empty() || names.back() != m.name))
            names.push_back(m.name);
    Takeaway out;
    std::string first = fmt::format("{}: {} of {} {} models of the catalogue run", answer.device,
                                    names.size(), answer.considered, name_of(answer.request.kind));
    if (language)
        first += fmt::format(" with a context of {}", answer.request.context);
    if (answer.request.least_tokens_per_s > 0)
        first += fmt::format(" at {} {} or more", format_number(answer.request.least_tokens_per_s),
                             rate_unit(answer));
    out.lines.push_back(first + ".");
    if (rows.empty())
        return out;
    const auto larger = [](const LocalModel& a, const LocalModel& b) { return a.parameters < b.parameters; };
    const auto faster = [](const LocalModel& a, const LocalModel& b) {
        return a.output.per_s < b.output.per_s;
    };
    out.lines.push_back(
        fmt::format("Largest: {}.", rate_text(answer, *std::max_element(rows.begin(), rows.end(), larger))));
    out.lines.push_back(
        fmt::format("Fastest: {}.", rate_text(answer, *std::max_element(rows.begin(), rows.end(), faster))));
    return out;
}

/// The models of which no format is listed, each counted once: with the listed ones they are all.
Bullets misses(const LocalAnswer& answer) {
    std::size_t memory = 0, slow = 0;
    std::map<std::string, std::string> others;
    for (std::size_t first = 0, last = 0; first < answer.models.size(); first = last) {
        const LocalModel& model = answer.models[first];
        bool lists = false, runs = false, full = false;
        for (; last < answer.models.size() && answer.models[last].name == model.name; ++last) {
            const LocalModel& m = answer.models[last];
            lists = lists || shown(m);
            runs = runs || m.runs;
            full = full || (!m.runs && m.memory_bytes > 0);
        }
        if (lists)
            continue;
        slow += runs;
        memory += !runs && full;
        if (!runs && !full) {
            std::string& names = others[model.reason];
            names += (names.empty() ? "" : ", ") + model.name;
        }
    }
    Bullets out;
    if (memory > 0)
        out.items.push_back(fmt::format(
            "{} {} not fit in any of these formats{}", plural(memory, "model"), memory == 1 ? "does" : "do",
            answer.request.kind == LocalKind::language && answer.request.host.empty()
                ? "; --host PROCESSOR keeps some of the layers in its memory"
                : ""));
    if (slow > 0)
        out.items.push_back(
            fmt::format("{} {} slower than the limit", plural(slow, "model"), slow == 1 ? "is" : "are"));
    for (const auto& [why, names] : others)
        out.items.push_back(fmt::format("{}: {}", names, why));
    return out;
}

} // namespace

Report describe(const LocalAnswer& answer, const LocalView& view, Format format) {
    Report report;
    report.title = fmt::format("What runs on {}", answer.device);
    if (format == Format::csv) {
        report.blocks.emplace_back(table_of("Models", local_columns(answer), answer.models));
        return report;
    }
    const std::vector<LocalModel> rows = rows_of(answer, view);
    report.blocks.emplace_back(Heading{1, report.title});
    report.blocks.emplace_back(local_takeaway(answer, rows));
    Table table = table_of(fmt::format("Models under {}", answer.runtime), local_columns(answer), rows);
    table.columns.pop_back(); // reasons are of those that are not here
    for (auto& row : table.rows)
        row.pop_back();
    if (answer.request.kind == LocalKind::language) {
        table.notes.emplace_back(
            fmt::format("Reads: a prompt of {} tokens; Writes: one token after another at the "
                        "end of the context; each in the widest of {} formats that runs.",
                        answer.request.context - 128, answer.request.formats.size()));
        if (!answer.request.host.empty())
            table.notes.emplace_back(
                "Layers that are not on the device, or their experts, run on the host, one after the other.");
    }
    report.blocks.emplace_back(std::move(table));
    const auto command =
        std::find_if(rows.begin(), rows.end(), [](const LocalModel& m) { return !m.command.empty(); });
    if (command != rows.end())
        report.blocks.emplace_back(Command{command->command});
    if (Bullets why = misses(answer); !why.items.empty())
        report.blocks.emplace_back(std::move(why));
    return report;
}

std::string to_json(const LocalAnswer& answer, const LocalView&) {
    using Document = nlohmann::ordered_json;
    const auto rate = [](const LocalModel& m, const LocalRate& r) {
        return m.runs && r.per_s > 0 ? Document{{"value", r.per_s}, {"interval", {r.low, r.high}}}
                                     : Document(nullptr);
    };
    const auto text = [](const std::string& t) { return t.empty() ? Document(nullptr) : Document(t); };
    const auto positive = [](double value) { return value > 0 ? Document(value) : Document(nullptr); };
    Document models = Document::array();
    for (const LocalModel& m : answer.models)
        models.push_back(
            {{"model", m.name},
             {"precision", m.format},
             {"parameters", positive(m.parameters)},
             {"runs", m.runs},
             {"fast_enough", m.runs && !m.too_slow},
             {"reason", text(m.reason)},
             {"projected", m.projected},
             {"prompt_tokens_per_s", rate(m, m.prompt)},
             {"output_per_s", rate(m, m.output)},
             {"memory_bytes", positive(m.memory_bytes)},
             {"capacity_bytes", positive(m.capacity_bytes)},
             {"layers", m.layers > 0 ? Document(m.layers) : Document(nullptr)},
             {"device_layers", m.runs && m.layers > 0 ? Document(m.device_layers) : Document(nullptr)},
             {"expert_layers_on_host",
              m.runs && m.layers > 0 ? Document(m.expert_layers) : Document(nullptr)},
             {"host_bytes", m.host_bytes},
             {"command", text(m.command)}});
    const LocalRequest& r = answer.request;
    constexpr std::string_view kAsked[] = {"context"};
    Document request = {{"device", r.device},
                        {"host", text(r.host)},
                        {"host_memory_bytes", positive(r.host_memory_bytes)},
                        {"kind", name_of(r.kind)},
                        {"precisions", r.formats},
                        {"least_tokens_per_s", positive(r.least_tokens_per_s)}};
    request.update(
        question_json({Workload{.model = {}, .prompt = Prompt{.context = r.context}}, {}}, kAsked));
    return document_text({{"schema", "archsim.local_models/1"},
                          {"version", version()},
                          {"request", std::move(request)},
                          {"device", answer.device},
                          {"host", text(answer.host)},
                          {"runtime", answer.runtime},
                          {"kind", name_of(answer.request.kind)},
                          {"context", answer.request.context},
                          {"considered", answer.considered},
                          {"models", std::move(models)}});
}

} // namespace archsim
