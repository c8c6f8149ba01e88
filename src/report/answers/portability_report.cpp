#include "archsim/report/portability_report.hpp"

#include "archsim/core/version.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"
#include "report/render/json_document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostOperatorNames = 3;

Cell whole_number(std::size_t value) {
    return {fmt::format("{}", value), static_cast<double>(value), Tone::plain, {}, CellKind::count};
}

Cell portability_time(double seconds) {
    return {format_time(seconds), seconds};
}

Table device_table(const PortabilityAnswer& answer) {
    Table table;
    table.columns = {{"Hardware", "", "hardware"},
                     {"Runtime", "", "runtime", Align::left, 2},
                     {"Format", "", "precision"},
                     {"Operators", "", "operators", Align::right, 1},
                     {"Leave", "", "leaving", Align::right},
                     {"Arithmetic", "on it", "operations_share", Align::right, 1},
                     {"Islands", "", "islands", Align::right},
                     {"Fallback", "", "fallback_s", Align::right},
                     {"Latency", "", "latency_s", Align::right},
                     {"Best rewrite", "", "rewritten_s", Align::right}};
    for (const Portability& p : answer.devices) {
        const Result& r = p.result;
        if (!r.ok()) {
            std::vector<Cell> row(table.columns.size(), Cell{"-"});
            row[0] = {r.hardware};
            row[1] = {runtime_label(r)};
            table.rows.push_back(std::move(row));
            continue;
        }
        double best = r.estimate.latency_s;
        for (const RewriteOutcome& o : p.rewrites)
            best = std::min(best, o.latency_s);
        if (p.together)
            best = std::min(best, p.together->latency_s);
        table.rows.push_back({{hardware_label(r)},
                              {runtime_label(r)},
                              {precision_label(r)},
                              whole_number(p.operators),
                              whole_number(p.leaving),
                              {format_percent(p.operations_share), p.operations_share},
                              whole_number(p.islands),
                              portability_time(p.fallback_s),
                              portability_time(r.estimate.latency_s),
                              p.rewrites.empty() ? Cell{"-"} : portability_time(best)});
    }
    return table;
}

Table leaving_table(const std::vector<const Portability*>& devices, bool named) {
    Table table;
    if (named)
        table.columns.push_back({"", "", "hardware"});
    table.title = named ? "" : "What leaves the accelerator";
    for (Column column : std::initializer_list<Column>{{"Operator", "", "type"},
                                                       {"Number", "", "count", Align::right},
                                                       {"Host", "", "host_s", Align::right},
                                                       {"Hand-over", "", "switch_s", Align::right},
                                                       {"Transfers", "", "transfer_s", Align::right},
                                                       {"Together", "", "total_s", Align::right},
                                                       {"Where", "", "names", Align::left, 1}})
        table.columns.push_back(std::move(column));
    for (const Portability* p : devices)
        for (const LeavingOperators& t : p->types) {
            const std::size_t shown = std::min(kMostOperatorNames, t.names.size());
            std::vector<Cell> row;
            if (named)
                row.push_back({p->result.hardware});
            row.insert(row.end(),
                       {{t.type},
                        whole_number(t.names.size()),
                        portability_time(t.host_s),
                        portability_time(t.switch_s),
                        portability_time(t.transfer_s),
                        portability_time(t.total_s()),
                        {fmt::format("{}{}",
                                     fmt::join(t.names.begin(),
                                               t.names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                                     shown < t.names.size() ? ", ..." : "")}});
            table.rows.push_back(std::move(row));
        }
    return table;
}

Table rewrite_table(const Portability& p) {
    Table table;
    table.title = "Rewrites, done on the graph and estimated";
    table.columns = {{"Rewrite", "", "rewrite"},
                     {"Places", "", "places", Align::right},
                     {"Before", "", "before_s", Align::right},
                     {"After", "", "after_s", Align::right},
                     {"Still leave", "", "leaving", Align::right},
                     {"Changes", "", "note", Align::left, 1}};
    const auto add = [&](const RewriteOutcome& o) {
        table.rows.push_back({{o.title},
                              whole_number(o.places),
                              p.result.ok() ? portability_time(p.result.estimate.latency_s) : Cell{"-"},
                              portability_time(o.latency_s),
                              whole_number(o.leaving),
                              {o.note}});
    };
    for (const RewriteOutcome& o : p.rewrites)
        add(o);
    if (p.together)
        add(*p.together);
    return table;
}

Table advice_table(const Portability& p) {
    const double before = p.result.estimate.latency_s / p.result.estimate.batch;
    Table table;
    table.title = "Changes of the model that save most, done on the graph and estimated";
    table.columns = {{"Change", "", "change"},
                     {"Places", "", "places", Align::right},
                     {"Per item", "", "after_s", Align::right},
                     {"Saves", "%", "saving", Align::right},
                     {"Price", "", "note", Align::left, 1}};
    for (const RewriteOutcome& o : p.advice) {
        const double saving = 1 - o.per_item() / before;
        table.rows.push_back({{o.title},
                              whole_number(o.places),
                              portability_time(o.per_item()),
                              {fmt::format("{:.1f}", 100 * saving), saving},
                              {o.note}});
    }
    table.notes.push_back(fmt::format("An item takes {} as it is.", format_time(before)));
    return table;
}

std::string accelerator_text(const Portability& p) {
    if (p.leaving == 0)
        return fmt::format("All {} operators stay on the accelerator.", p.operators);
    return fmt::format(
        "{} of {} operators leave the accelerator and cut the model into {} islands; that costs {}, "
        "{} of the latency of {}.",
        p.leaving, p.operators, p.islands, format_time(p.fallback_s),
        format_percent(p.fallback_s / p.result.estimate.latency_s), format_time(p.result.estimate.latency_s));
}

Json rewrite_json(const RewriteOutcome& o) {
    return {{"name", o.name},           {"title", o.title}, {"note", o.note},      {"places", o.places},
            {"latency_s", o.latency_s}, {"items", o.items}, {"leaving", o.leaving}};
}

} // namespace

Report describe(const PortabilityAnswer& answer, const PlainView&, Format format) {
    Report report;
    std::vector<const Portability*> all;
    for (const Portability& p : answer.devices)
        all.push_back(&p);
    if (format == Format::csv) {
        report.blocks.push_back(leaving_table(all, true));
        return report;
    }
    report.title = "PORTABILITY: " + answer.model->title;
    report.blocks.push_back(Heading{1, report.title});
    report.blocks.push_back(device_table(answer));
    for (const Portability& p : answer.devices) {
        report.blocks.push_back(Heading{2, p.result.hardware});
        if (p.result.ok())
            report.blocks.push_back(Paragraph{accelerator_text(p)});
        Bullets notes;
        for (const LeavingOperators& t : p.types)
            notes.items.push_back(t.reason + ".");
        for (const std::string& note : p.notes)
            notes.items.push_back(note + ".");
        if (!notes.items.empty())
            report.blocks.push_back(std::move(notes));
        if (!p.types.empty())
            report.blocks.push_back(leaving_table({&p}, false));
        if (!p.rewrites.empty())
            report.blocks.push_back(rewrite_table(p));
        if (!p.advice.empty())
            report.blocks.push_back(advice_table(p));
    }
    return report;
}

std::string to_json(const PortabilityAnswer& answer, const PlainView&) {
    Json document = {{"schema", "archsim.check_model/1"},
                     {"version", version()},
                     {"model", answer.model->name},
                     {"batch_size", answer.request.workload.batch},
                     {"devices", Json::array()}};
    for (const Portability& p : answer.devices) {
        const Result& r = p.result;
        Json row = {{"hardware", r.hardware},
                    {"runtime", runtime_label(r)},
                    {"status", name_of(r.estimate.status)},
                    {"latency_s", r.ok() ? Json(r.estimate.latency_s) : Json(nullptr)},
                    {"operators", p.operators},
                    {"leaving", p.leaving},
                    {"operations_share", p.operations_share},
                    {"islands", p.islands},
                    {"fallback_s", p.fallback_s},
                    {"types", Json::array()},
                    {"notes", p.notes},
                    {"rewrites", Json::array()},
                    {"together", p.together ? rewrite_json(*p.together) : Json(nullptr)},
                    {"advice", Json::array()}};
        for (const LeavingOperators& t : p.types)
            row["types"].push_back({{"type", t.type},
                                    {"reason", t.reason},
                                    {"names", t.names},
                                    {"host_s", t.host_s},
                                    {"switch_s", t.switch_s},
                                    {"transfer_s", t.transfer_s}});
        for (const RewriteOutcome& o : p.rewrites)
            row["rewrites"].push_back(rewrite_json(o));
        for (const RewriteOutcome& o : p.advice)
            row["advice"].push_back(rewrite_json(o));
        document["devices"].push_back(std::move(row));
    }
    return document_text(document);
}

} // namespace archsim
