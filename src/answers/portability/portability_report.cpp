#include "answers/portability/check_model.hpp"

#include "core/lists.hpp"
#include "fields/question.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/verdict.hpp"
#include "result/ranking.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace archsim {

constexpr std::size_t kMostOperatorNames = 3;

/// The fastest that the rewrites make it.
static double best_latency(const Portability& p) {
    double best = p.result.estimate.latency_s;
    for (const RewriteOutcome& o : p.rewrites)
        best = std::min(best, o.latency_s);
    return p.together ? std::min(best, p.together->latency_s) : best;
}

static Table device_table(const PortabilityAnswer& answer) {
    using P = Portability;
    std::vector<ColumnOf<P>> columns = {
        {{"Hardware", "", "hardware"}, [](const P& p) { return hardware_label(p.result); }},
        {{"Runtime", "", "runtime", Align::left, 2}, [](const P& p) { return runtime_label(p.result); }}};
    append(columns,
           where<P>([](const P& p) { return p.result.ok(); },
                    {{{"Format", "", "precision"}, [](const P& p) { return precision_label(p.result); }},
                     {{"Operators", "", "operators", Align::right, 1}, 1, &P::operators},
                     {least_best("Unsupported", "", "leaving"), 1, &P::leaving},
                     {{"Arithmetic", "on it", "operations_share", Align::right, 1},
                      [](const P& p) { return share_cell(p.operations_share); }},
                     {{"Islands", "", "islands", Align::right}, 1, &P::islands},
                     {least_best("Fallback", "", "fallback_s"),
                      [](const P& p) { return time_cell(p.leaving > 0 ? p.fallback_s : 0); }},
                     {least_best("Latency", "", "latency_s"),
                      [](const P& p) { return time_cell(p.result.estimate.latency_s); }},
                     {least_best("Best rewrite", "", "rewritten_s"),
                      [](const P& p) { return p.rewrites.empty() ? Cell{} : time_cell(best_latency(p)); }}}));
    columns.push_back(evidence_column<P>([](const P& p) { return evidence_of(p.result); }));
    return table_of({}, columns, answer.devices);
}

struct LeavingRow {
    const Portability* device;
    const LeavingOperators* operators; ///< null: none leaves it
};

/// "Softmax_1, Softmax_2, Softmax_3, ..."
static std::string few_names(const std::vector<std::string>& names) {
    const std::size_t shown = std::min(kMostOperatorNames, names.size());
    return fmt::format("{}{}",
                       fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                       shown < names.size() ? ", ..." : "");
}

static Table leaving_table(const std::vector<const Portability*>& devices, bool named) {
    std::vector<LeavingRow> rows;
    for (const Portability* p : devices)
        if (p->types.empty() && named) // a row that says so
            rows.push_back({p, nullptr});
        else
            for (const LeavingOperators& operators : p->types)
                rows.push_back({p, &operators});
    std::vector<ColumnOf<LeavingRow>> columns;
    if (named) {
        const auto of_device = [&](const char* key, auto text) {
            columns.push_back({{"", "", key}, [text](const LeavingRow& row) {
                                   return text_cell(std::string(text(row.device->result)));
                               }});
        };
        of_device("model", [](const Result& r) { return r.model->name; });
        of_device("hardware", [](const Result& r) { return r.hardware; });
        of_device("precision", [](const Result& r) {
            return r.ok() ? precision_name(r.estimate.executed) : std::string();
        });
        of_device("status", [](const Result& r) { return status_text(r.estimate); });
        of_device("reason", [](const Result& r) { return r.ok() ? std::string() : r.estimate.reason; });
    }
    const auto add = [&](Column column, auto cell) {
        columns.push_back({std::move(column), [cell](const LeavingRow& row) {
                               return row.operators != nullptr ? cell(*row.operators) : Cell{};
                           }});
    };
    using Type = LeavingOperators;
    add({"Operator", "", "type"}, [](const Type& t) { return Cell{t.type}; });
    add({"Number", "", "count", Align::right}, [](const Type& t) { return whole_cell(t.names.size()); });
    add(least_best("Host", "", "host_s"), [](const Type& t) { return time_cell(t.host_s); });
    add(least_best("Hand-over", "", "switch_s"), [](const Type& t) { return time_cell(t.switch_s); });
    add(least_best("Transfers", "", "transfer_s"), [](const Type& t) { return time_cell(t.transfer_s); });
    add(least_best("Total", "", "total_s"), [](const Type& t) { return time_cell(t.total_s()); });
    add({"Where", "", "names", Align::left, 1}, [](const Type& t) { return Cell{few_names(t.names)}; });
    return table_of(named ? "" : "Operators that fall back to the host", columns, rows);
}

using RewriteColumns = std::vector<ColumnOf<RewriteOutcome>>;

static Table rewrite_table(const Portability& p) {
    using R = RewriteOutcome;
    const RewriteColumns columns = {
        {{"Rewrite", "", "rewrite"}, [](const R& o) { return Cell{o.title}; }},
        {{"Places", "", "places", Align::right}, [](const R& o) { return whole_cell(o.places); }},
        {least_best("Before", "", "before_s"),
         [&](const RewriteOutcome&) {
             return p.result.ok() ? time_cell(p.result.estimate.latency_s) : Cell{};
         }},
        {least_best("After", "", "after_s"), [](const R& o) { return time_cell(o.latency_s); }},
        {least_best("Unsupported after", "", "leaving"), [](const R& o) { return whole_cell(o.leaving); }},
        {{"Changes", "", "note", Align::left, 1}, [](const R& o) { return Cell{o.note}; }}};
    std::vector<RewriteOutcome> rows = p.rewrites;
    if (p.together)
        rows.push_back(*p.together);
    return table_of("Rewrites, done on the graph and estimated", columns, rows);
}

static Table advice_table(const Portability& p) {
    using R = RewriteOutcome;
    const double before = p.result.estimate.latency_s / p.result.estimate.batch;
    const RewriteColumns columns = {
        {{"Change", "", "change"}, [](const R& o) { return Cell{o.title}; }},
        {{"Places", "", "places", Align::right}, [](const R& o) { return whole_cell(o.places); }},
        {least_best("Per item", "", "after_s"), [](const R& o) { return time_cell(o.per_item()); }},
        {{"Saves", "%", "saving", Align::right},
         [&](const R& o) { return percent_cell(1 - o.per_item() / before); }},
        {{"Price", "", "note", Align::left, 1}, [](const R& o) { return Cell{o.note}; }}};
    Table table =
        table_of("Changes of the model that save most, done on the graph and estimated", columns, p.advice);
    table.notes.push_back(fmt::format("An item takes {} as it is.", format_time(before)));
    return table;
}

/// "Hailo-8: all 72 operators stay." or what leaves, what that costs and which rewrite would help.
static std::string device_line(const Portability& p) {
    const std::string name = hardware_label(p.result);
    if (p.result.estimate.status == Status::incomplete)
        return fmt::format("{}: unknown: {}.", name, p.result.estimate.reason);
    if (!p.result.ok())
        return fmt::format("{} does not run it: {}.", name, p.result.estimate.reason);
    if (!p.result.estimate.uncounted.empty())
        return fmt::format("{}: unknown whether all of it runs there: {}; {} of {} known operators fall back "
                           "to the host, {} so far.",
                           name, p.result.estimate.uncounted, p.leaving, p.operators,
                           format_time(p.result.estimate.latency_s));
    const Estimate& e = p.result.estimate;
    const std::string doubt =
        standing_note(e) + "." + (e.refuted.empty() ? "" : " Refuted: " + refuted_text(e) + ".");
    if (p.leaving == 0)
        return fmt::format("{}: runs all {} operators, {}{}", name, p.operators, format_time(e.latency_s),
                           doubt);
    std::string text = fmt::format("{}: {} of {} operators fall back to the host, which takes {} of {} ({})",
                                   name, p.leaving, p.operators, format_time(p.fallback_s),
                                   format_time(p.result.estimate.latency_s),
                                   format_percent(p.fallback_s / p.result.estimate.latency_s));
    if (!p.rewrites.empty())
        text += fmt::format("; {} once rewritten", format_time(best_latency(p)));
    return text + doubt;
}

/// Who runs it whole, and a line for each of the others.
static std::vector<std::string> verdict_lines(const PortabilityAnswer& answer) {
    if (answer.devices.size() == 1)
        return {device_line(answer.devices.front())};
    std::vector<std::string> whole, lines = {""};
    std::size_t unknown = 0;
    for (const Portability& p : answer.devices) {
        const Estimate& e = p.result.estimate;
        unknown += e.status == Status::incomplete || !e.uncounted.empty();
        if (p.result.ok() && e.uncounted.empty() && p.leaving == 0)
            whole.push_back(hardware_label(p.result));
        else
            lines.push_back(device_line(p));
    }
    if (unknown == answer.devices.size())
        lines.front() =
            "Unknown whether it runs entirely on any device: a part of the model is not understood.";
    else
        lines.front() = fmt::format("Runs entirely on {} of {} devices{}{}.", whole.size(),
                                    answer.devices.size(), whole.empty() ? "" : ": ", names_text(whole));
    return lines;
}

static Members<RewriteOutcome> rewrite_members() {
    using R = RewriteOutcome;
    return {{"name", "", &R::name},
            {"title", "", &R::title},
            {"note", "", &R::note},
            {"places", "where it was done", &R::places},
            {"latency_s", "after it, of the batch", &R::latency_s},
            {"items", "of the batch", &R::items},
            {"leaving", "operators that still leave the accelerator", &R::leaving}};
}

static Members<Portability> portability_members() {
    using P = Portability;
    using L = LeavingOperators;
    return {
        {"hardware", "", [](const P& p) { return p.result.hardware; }},
        {"runtime", "software stack", [](const P& p) { return runtime_label(p.result); }},
        {"status", "", [](const P& p) { return status_text(p.result.estimate); }, result_status()},
        evidence_member<P>([](const P& p) { return evidence_of(p.result); }),
        {"latency_s", "of the batch",
         [](const P& p) { return known(p.result.ok(), p.result.estimate.latency_s); }},
        {"operators", "with run-time work", &P::operators},
        {"leaving", "operators that leave the accelerator", &P::leaving},
        {"operations_share", "of the arithmetic that stays", &P::operations_share},
        {"islands", "stretches of the schedule on the accelerator between those on the host", &P::islands},
        {"fallback_s", "that leaving costs", &P::fallback_s},
        {"types", "of operators that leave, most expensive first", &P::types,
         Members<L>{{"type", "", &L::type},
                    {"reason", "", &L::reason},
                    {"names", "of the operators", &L::names},
                    {"host_s", "arithmetic on the host", &L::host_s},
                    {"switch_s", "hand-over to the host and back", &L::switch_s},
                    {"transfer_s", "tensors to the host and back", &L::transfer_s}}},
        {"notes", "what else keeps the model from running as it is", &P::notes},
        {"rewrites", "of the graph that make it faster, fastest first", &P::rewrites, rewrite_members()},
        {"together", "all of these at once, where there are several", &P::together, rewrite_members()},
        {"advice", "what was asked for, largest saving per item first", &P::advice, rewrite_members()}};
}

Report describe(const PortabilityAnswer& answer, const PlainView&, Format format) {
    Report report;
    std::vector<const Portability*> all = mapped(answer.devices, [](const Portability& p) { return &p; });
    if (format == Format::csv)
        return {report.title, {leaving_table(all, true)}};
    report.title = "PORTABILITY: " + answer.model->title;
    add_blocks(report, Heading{1, report.title}, Takeaway{verdict_lines(answer)}, device_table(answer));
    for (const Portability& p : answer.devices) {
        Bullets notes;
        for (const LeavingOperators& t : p.types) // several types may leave for one reason
            if (!contains(notes.items, t.reason + "."))
                notes.items.push_back(t.reason + ".");
        for (const std::string& note : p.notes)
            if (p.result.ok() || p.result.estimate.reason.empty() ||
                note.find(p.result.estimate.reason) == std::string::npos) // the verdict says it
                notes.items.push_back(note + ".");
        if (p.types.empty() && notes.items.empty() && p.rewrites.empty() && p.advice.empty())
            continue;
        report.blocks.push_back(Heading{2, hardware_label(p.result)});
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

AnswerDocument document_of(const PortabilityAnswer& answer, const PlainView&) {
    using A = PortabilityAnswer;
    const Members<A> request = request_members()
                                   .of<A>([](const A& a) { return a.devices.front().result; })
                                   .with({{"hardware", "", [](const A& a) { return a.request.hardware; }}})
                                   .under([](const std::string& key) { // an answer's, which it does not take
                                       const QuestionField* const field = find_question_field(key);
                                       return field != nullptr && field->of == FieldOf::answer ? "" : key;
                                   });
    return {answer,
            "check_model",
            "what of a model leaves an accelerator",
            {{"request", "what was asked", std::identity{}, request},
             {"model", "", [](const A& a) { return a.model->name; }},
             {"batch_size", "items", [](const A& a) { return a.request.workload.batch; }},
             {"verdict", "the answer", [](const A& a) { return verdict_lines(a); }, lines_members()},
             {"devices", "in the order asked", &A::devices, portability_members()}}};
}

} // namespace archsim
