#include "answers/compare/compare_models_report.hpp"

#include "core/lists.hpp"
#include "report/blocks/finding_text.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/ranking_table.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/subgraph_table.hpp"
#include "report/blocks/verdict.hpp"
#include "result/cost_terms.hpp"
#include "result/decisions.hpp"
#include "result/format_parts.hpp"
#include "result/generation_metrics.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace archsim {

static void add_details(const Result& r, const CompareModelsView& view, const MetricView& shown,
                        Detail detail, Report& report) {
    add_blocks(report, Heading{view.verbose ? 2 : 3, fmt::format("{} ({})", r.device->name, family_label(r))},
               device_facts(r));
    if (!r.ok()) {
        report.blocks.push_back(Paragraph{fmt::format("No estimate: {}.", r.estimate.reason), Tone::bad});
        return;
    }
    report.blocks.push_back(performance_facts(r, shown, detail));
    if (detail == Detail::all && !r.estimate.interval_basis.empty())
        report.blocks.push_back(
            Paragraph{fmt::format("  90 % interval from {}.", r.estimate.interval_basis)});
    if (view.verbose)
        report.blocks.push_back(subgraph_table(r));
}

/// A failure of a model: one line for all models that fail on the same devices for the same reason.
static void add_reason(const std::string& note, const std::string& model, NamesByText& reasons) {
    const std::string of_devices = model + " on ";
    if (!note.starts_with(of_devices)) // on all of them
        reasons.push_back({note, {}});
    else
        names_under(note.substr(of_devices.size()), reasons).push_back(model);
}

static Table matrix(const ModelComparison& c, const Metric& by, const CostOptions& conditions) {
    const std::string unit = by.column_unit.empty() ? by.heading : by.column_unit;
    const std::vector<std::string> labels = hardware_labels(results_of(c, 0), false); // stacks stand below
    const bool one_device =
        c.request.stacks.size() > 1 && labels.size() > 1 &&
        std::ranges::all_of(labels, [&](const std::string& label) { return label == labels.front(); });
    std::vector<ColumnOf<std::size_t>> columns = {
        {{"Model", "", "model"}, [&](std::size_t m) { return c.models[m]->name; }}};
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const Result& r = results_of(c, 0)[i];
        const std::string stack = c.request.stacks.size() > 1 ? runtime_label(r) : std::string();
        // A column per stack, and the device in the title, where there is one.
        columns.emplace_back(Column{one_device ? stack : labels[i], one_device ? std::string() : stack,
                                    r.hardware, Align::right, 0, column_of(by).best},
                             [&, i](std::size_t m) {
                                 const Result& own = results_of(c, m)[i];
                                 if (!own.ok())
                                     return Cell{status_words(own.estimate)};
                                 Cell cell = cell_of(by, measure_of(own, by, conditions));
                                 cell.text = cell.value ? marked_value(cell.text, own) : cell.text;
                                 return cell;
                             });
    }
    Table table = table_of(fmt::format("{} of every model{} ({})", by.title,
                                       one_device ? " on " + labels.front() : std::string(), unit),
                           columns, indices(c.models.size()));
    NamesByText reasons;                    // and the models that they are of
    std::map<std::string, MarkNotes> marks; // by device, so that each is named once
    for (std::size_t m = 0; m < c.models.size(); ++m) {
        std::vector<const Result*> all_of_model;
        for (const Result& r : results_of(c, m)) {
            all_of_model.push_back(&r);
            if (r.ok())
                add_mark_notes(r, hardware_label(r), marks[hardware_label(r)]);
        }
        for (const std::string& note : failure_notes(all_of_model, c.models[m]->name))
            add_reason(note, c.models[m]->name, reasons);
    }
    MarkNotes all;
    for (const auto& [device, own] : marks)
        for (const auto& [what, names] : own)
            append(all[what], names);
    for (const auto& [text, models] : reasons)
        table.notes.emplace_back(models.empty()                    ? text
                                 : models.size() < c.models.size() ? names_text(models) + " on " + text
                                                                   : text);
    append(table.notes, value_lines_of(std::move(all)));
    return table;
}

static std::vector<Block> duty_blocks_of(std::span<const Result> results, const CompareModelsView& view) {
    const auto at = view.explanations.conditions.power_at;
    return duty_blocks(duty_cycles(results, view.slices, at), at.value_or(PowerBoundary::chip));
}

/// A row per result, for spreadsheets.
static Report flat_table(const ModelComparison& c, const CompareModelsView& view) {
    const auto rows = flattened(indices(c.models.size()), [&](std::size_t m) {
        return ranked({results_of(c, m), static_cast<double>(c.request.workload.batch),
                       &order_of(c, results_of(c, m), view)},
                      view.metric_view());
    });
    Report report{"Model comparison", {}};
    std::vector<ColumnOf<RankedResult>> columns = result_columns(view.metric_view());
    const MetricView shown = shown_metrics(c.results, view.metric_view());
    for (ColumnOf<RankedResult>& more : result_columns(shown)) // tokens, where answers are compared
        if (std::ranges::none_of(columns,
                                 [&](const auto& column) { return column.column.key == more.column.key; }))
            columns.push_back(std::move(more));
    report.blocks.push_back(table_of({}, columns, rows));
    if (view.cold_start)
        report.blocks.push_back(cold_start_table(c.results));
    if (view.percentiles)
        report.blocks.push_back(percentile_table(c.results, *view.percentiles));
    add_blocks(report, duty_blocks_of(c.results, view));
    append(report.blocks, explanation_blocks(c.results, view.explanations));
    return report;
}

/// "Batch size 1, precision fp32; device time only, no transfers and no host work.": the batch that runs.
static std::string asked_text(const ModelComparison& c, std::span<const Result> results) {
    std::string batch = fmt::format("Batch size {}", c.request.workload.batch);
    for (const Result& r : results)
        if (r.ok() && r.estimate.batch != static_cast<double>(c.request.workload.batch)) {
            batch = fmt::format("Batch size {:.0f} (what the sizes make it; {} requested)", r.estimate.batch,
                                c.request.workload.batch);
            break;
        }
    const auto ran = std::ranges::find_if(results, &Result::ok);
    const bool asked = !c.request.precisions.empty() || c.request.conditions.precision.named();
    const bool alike = std::ranges::all_of(results, [&](const Result& r) {
        return r.conditions.precision == results.front().conditions.precision;
    });
    const std::string precision =
        asked || results.empty() ? asked_formats(c)
        : ran == results.end() && alike
            ? precision_name(results.front().conditions.precision) // as its rows say
        : ran == results.end() || mixed_formats(results) ? std::string("usual of each device")
                                                         : multiplied_format(*ran);
    return fmt::format("{}, precision {}; {}.", batch, precision,
                       c.request.conditions.scope == Scope::kernel
                           ? "device time without transfers and host work"
                           : "end to end, with transfers and host work");
}

/// One model's part of the report.
class ModelSection {
  public:
    ModelSection(const ModelComparison& c, std::size_t model, const CompareModelsView& view, Format format,
                 Report& report)
        : c_(c), model_(model), view_(view), format_(format), report_(report), results_(results_of(c, model)),
          labels_(hardware_labels(results_)), by_(in_its_words(order_of(c, results_, view), results_)),
          shown_(shown_metrics(results_, view.metric_view())),
          decision_(decide(results_, c.request.decision)) {}

    /// Verdict, facts, ranking, what was asked for beside it, the best device, what would help.
    void add_whole() {
        const ModelFacts& facts = *c_.models[model_];
        add(Heading{1, fmt::format("MODEL ANALYSIS: {}", facts.title)});
        add(verdict_block(verdict()));
        add(Paragraph{conditions_text()});
        add(Heading{3, "Model Characteristics:"});
        add(model_facts(facts, results_));
        const auto said = [&](const FindingLine& found) { // as the reason of a device, under the ranking
            return std::ranges::any_of(results_, [&](const Result& r) {
                return r.estimate.reason.find(found.text) != std::string::npos;
            });
        };
        for (FindingLine& found : finding_lines(facts.findings))
            if (!said(found))
                add(Paragraph{std::move(found.text),
                              found.severity == Severity::error ? Tone::bad : Tone::muted});
        if (view_.details.empty()) {
            Table ranking = ranking_table(results_, by_, shown_, view_.top);
            append(ranking.notes, generation_notes(results_));
            add(std::move(ranking));
        }
        add_asked(BesideRanking::yes);
        if (format_ == Format::html) {
            add(Heading{2, "Charts"});
            add_all(comparison_charts(results_));
        }
        add_best();
        add_all(view_.details);
        Explanations asked = view_.explanations;
        asked.memory = asked.memory || view_.verbose;
        add_all(explanation_blocks(results_, asked));
        if (view_.details.empty())
            add_next();
    }

    /// The parts asked for beside the ranking, under the name of the model.
    void add_brief() {
        const std::size_t before = report_.blocks.size();
        add(Heading{2, c_.models[model_]->title});
        add_asked(BesideRanking::no);
        add_all(explanation_blocks(results_, view_.explanations));
        if (report_.blocks.size() == before + 1)
            report_.blocks.pop_back();
    }

    /// "resnet50: fastest H100, 465 us; least energy ..." in one line.
    std::string line() const {
        return fmt::format("{}: {}", c_.models[model_]->name, fmt::join(brief_lines(verdict()), " "));
    }

    VerdictRecord record() const { return verdict_record(verdict()); }

  private:
    VerdictQuestion verdict() const {
        return {results_,
                labels_,
                by_,
                shown_.conditions,
                &decision_,
                of_model(c_.modes, model_),
                of_model(c_.tried, model_),
                of_model(c_.too_large, model_),
                beside_text(),
                may_sleep_text(duty_cycles(results_, view_.slices, shown_.conditions.power_at), results_,
                               decision_),
                overload_text()};
    }

    /// "Overloaded at 5000 per second: T4 (1282 per second; 4 devices carry it)."
    std::string overload_text() const {
        std::vector<std::string> names;
        if (view_.percentiles)
            for (const ShownPercentiles& row : shown_percentiles(results_, *view_.percentiles))
                if (row.found.queued && row.found.queued->overloaded)
                    names.push_back(fmt::format(
                        "{} ({} per second; {:.0f} devices carry it)", hardware_label(*row.result),
                        format_number(row.found.queued->capacity_per_s),
                        std::floor(row.rate_per_s / row.found.queued->capacity_per_s) + 1));
        return names.empty() ? std::string()
                             : fmt::format("Overloaded at {} per second: {}.",
                                           format_number(view_.percentiles->rate_per_s), names_text(names));
    }

    /// The device that the verdict names: within the limits, where any is.
    std::optional<Winner> winner() const {
        const auto within = winner_within(results_, by_, decision_);
        return within ? within : find_winner(results_, by_, shown_.conditions);
    }

    /// "A100 costs $0.52 per million rented. One inference every 100 ms: average power 0.87 W, 23 h on the
    /// battery.": what else was asked of the best.
    std::string beside_text() const {
        const auto winner = this->winner();
        std::string text;
        if (winner && view_.explanations.cost && by_ != metric::cost) {
            const Metric& metric = in_its_words(metric::cost, results_);
            const Cost cost = cost_of(results_[winner->best], shown_.conditions);
            if (cost.best())
                text =
                    fmt::format("{} costs {} {}.", labels_[winner->best], format_value(metric, *cost.best()),
                                cost.way() == Tenure::rent ? "rented" : "bought, with electricity");
            const auto least = find_winner(results_, metric::cost, shown_.conditions);
            if (least && least->leads && least->close.empty() && least->best != winner->best)
                text += fmt::format(
                    "{}Cheapest: {}, {}.", text.empty() ? "" : " ", labels_[least->best],
                    format_value(metric, *cost_of(results_[least->best], shown_.conditions).best()));
        }
        const auto cycles = duty_cycles(results_, view_.slices, shown_.conditions.power_at);
        return cycles.empty() ? text
                              : text + (text.empty() ? "" : " ") + in_words(cycles, results_, decision_);
    }

    std::string conditions_text() const {
        const std::string deployment =
            c_.deployment_title.empty()
                ? ""
                : fmt::format("Deployment: {}{}. ", c_.deployment_title,
                              c_.deployment_use.empty() ? "" : " (" + c_.deployment_use + ")");
        return deployment + asked_text(c_, results_);
    }

    void add_asked(BesideRanking beside) {
        if (decision_.request.active())
            add_all(decision_blocks(decision_, results_, labels_));
        if (view_.cold_start)
            add(cold_start_table(results_));
        if (view_.percentiles)
            add(percentile_table(results_, *view_.percentiles));
        add_all(duty_blocks_of(results_, view_));
        add_generation_and_parts(beside);
    }

    /// Parts of the device that the verdict names; of every one where they are asked for.
    void add_generation_and_parts(BesideRanking beside) {
        const bool all = view_.verbose || format_ == Format::html;
        if (std::ranges::any_of(results_, [&](const Result& r) {
                return r.generation && (all || beside == BesideRanking::no || r.generation->devices > 1 ||
                                        r.generation->serving.sequences > 0);
            }))
            add(generation_table(results_, beside, shown_.conditions.power_at));
        const auto winner = this->winner();
        for (std::size_t i = 0; i < results_.size(); ++i)
            if (!results_[i].parts.empty() && (all || !winner || winner->best == i))
                add(parts_table(results_[i], shown_.conditions));
    }

    /// Blocks of every device, best first; else of the one that the verdict names.
    void add_best() {
        const auto winner = this->winner();
        for (const Rank& rank : rank_results(results_, by_, shown_.conditions))
            if (const Result& r = results_[rank.result];
                r.device && (view_.verbose || (winner && winner->best == rank.result)))
                add_details(r, view_, shown_,
                            view_.verbose || format_ == Format::html ? Detail::all : Detail::brief, report_);
    }

    void add_next() {
        add_all(advice_blocks(of_model(c_.tried, model_), results_, labels_));
        add_all(command_blocks(next_commands(c_, model_, by_, shown_.conditions)));
    }

    void add(Block block) { report_.blocks.push_back(std::move(block)); }
    void add_all(std::vector<Block> blocks) { append(report_.blocks, std::move(blocks)); }

    const ModelComparison& c_;
    const std::size_t model_;
    const CompareModelsView& view_;
    const Format format_;
    Report& report_;
    const std::span<const Result> results_;
    const std::vector<std::string> labels_;
    const Metric& by_;
    const MetricView shown_;
    const Decision decision_;
};

VerdictRecord verdict_of(const ModelComparison& c, std::size_t model, const CompareModelsView& view) {
    Report unused;
    return ModelSection(c, model, view, Format::json, unused).record();
}

/// Several models: a line and a row of the matrix for each; details where they are asked for.
static void add_matrix(const ModelComparison& c, const CompareModelsView& view, Format format,
                       Report& report) {
    auto lines = mapped(indices(c.models.size()),
                        [&](std::size_t m) { return ModelSection(c, m, view, format, report).line(); });
    add_blocks(report,
               Heading{1, fmt::format("MODEL ANALYSIS: {} models on {} device{}", c.models.size(),
                                      c.request.hardware.size(), c.request.hardware.size() == 1 ? "" : "s")},
               Takeaway{std::move(lines)}, Paragraph{asked_text(c, c.results)});
    const Metric& by = order_of(c, c.results, view);
    report.blocks.push_back(matrix(c, by, view.explanations.conditions));
}

Report describe(const ModelComparison& c, const CompareModelsView& given, Format format) {
    CompareModelsView view = given;
    view.explanations.conditions = on_one_basis(c.results, view.explanations.conditions);
    if (format == Format::csv)
        return flat_table(c, view);
    Report report{c.models.size() == 1
                      ? fmt::format("{} on {}", c.models.front()->title, plural(c.results.size(), "device"))
                      : std::string("Model comparison"),
                  {}};
    const bool several = c.models.size() > 1;
    const bool whole = !several || view.verbose || format == Format::html;
    if (several)
        add_matrix(c, view, format, report);
    for (std::size_t m = 0; m < c.models.size(); ++m) {
        ModelSection section(c, m, view, format, report);
        if (whole)
            section.add_whole();
        else
            section.add_brief();
    }
    if (!whole)
        report.blocks.push_back(
            Paragraph{"Ranking and details of every model: --verbose, or one model alone.", Tone::muted});
    return report;
}

Report tabulate_subgraphs(const ModelComparison& comparison) {
    return {"Subgraphs", {all_subgraphs_table(comparison.results)}};
}

Report report_of(const ModelComparison& comparison, Format format) {
    return describe(comparison, {}, format);
}

std::string document_of(const ModelComparison& comparison) {
    return to_json(comparison, {});
}

} // namespace archsim
