// compare_models: one or more models on several devices, ranked and explained.

#include "answers/compare/compare_models_report.hpp"
#include "answers/study/study.hpp"
#include "common/answer_options.hpp"
#include "common/serving_options.hpp"
#include "core/lists.hpp"
#include "core/new_file.hpp"

#include <algorithm>
#include <fmt/ranges.h>

constexpr const char* kExamples = R"(  compare_models resnet50 --deployment edge
  compare_models mobilenet_v2 --hardware H100 A100 Jetson-Orin-Nano@15W KPU-T64
  compare_models resnet50 vit_b_16 --deployment datacenter --precision fp16 --batch-size 16
  compare_models llama-3-8b --hardware H100 L4 --precision fp16 --prompt-tokens 512 --generate-tokens 128
  compare_models ./my_model.onnx bert-base --hardware H100 --format json
  compare_models resnet50 --hardware RTX-4090 --runtime tensorrt cuda-eager directml --cold-start
  compare_models resnet50 --hardware A100 L4 Jetson-AGX-Orin --percentiles --rate 500
  compare_models resnet50 --hardware A100 T4 --precision int8 --explain-energy --cost --years 3
  compare_models --study docs/examples/quick_test.json --output results.csv)";

static void append(archsim::Report next, archsim::Report& all) {
    if (all.title.empty())
        all.title = next.title;
    append(all.blocks, std::move(next.blocks));
}

int main(int argc, char** argv) {
    using namespace archsim;
    CompareModelsRequest request;
    std::vector<std::string> deployments;
    cli::QuestionOptions question;
    cli::DecisionOptions decisions;
    cli::ExplainOptions explain;
    cli::CheckOptions check;
    cli::OutputOptions output;
    cli::SaveOptions save;
    CompareModelsView view;
    cli::ModelsOption models;
    std::string study_file, subgraphs, sort;
    PercentileRequest load;
    bool percentiles = false;
    const auto setup = [&](cli::Flags& flags) {
        flags.add_document("compare_models", compare_models_schema);
        flags.add_document("study", schema_of<Study, PlainView>);
        models.add_to(flags);
        flags.add_option("--deployment", deployments,
                         "deployment scenarios: datacenter, edge, embedded (default: datacenter)",
                         "DEPLOYMENT");
        flags.add_option("--hardware", request.hardware,
                         "devices: NAME, NAME@MODE, NAME@all for every power mode, a family (npu), all, or a "
                         "device file",
                         "DEVICE");
        flags.add_rule([&] {
            if (models.flag.empty())
                for (const char* key : {"precision", "batch_size", "devices"})
                    question.pass_on(key, models.positional);
        });
        question.add_to(flags, {.several = {"precision", "batch_size", "runtime", "devices"}, .duty = true});
        decisions.add_to(flags);
        explain.add_to(flags);
        check.add_to(flags);
        flags.add_flag("--cold-start", view.cold_start,
                       "also estimate the first inference, including network build and weight loading");
        flags.add_flag("--percentiles", percentiles, "run-to-run latency percentiles (P50, P90, P99, P99.9)");
        flags.add_option("--rate", load.rate_per_s,
                         "arrival rate in items/s; adds queueing delay to the percentiles", "RATE");
        flags.add_option("--sort", sort, "metric that ranks: " + MetricTable::standard().keys(), "COLUMN");
        flags.add_top(view.top, "rows of the ranking; 0: all");
        flags.add_written("--subgraphs", subgraphs,
                          "also write every subgraph of every device to a CSV file");
        flags.add_flag("-v,--verbose", view.verbose, "details of every device, with its subgraphs");
        flags
            .add_option("--study", study_file,
                        "run every combination that a study file names (docs/studies.md)")
            .file();
        // A study's file decides what is asked, but for what reads its devices.
        flags.exclude_all_but("--study", {"--config", "--allow-unknown", "--hardware-db", "--measured"});
        output.add_to(flags, "text, markdown, json, csv, html");
        save.add_to(flags, argc, argv);
    };
    const auto body = [&] {
        if (!study_file.empty()) {
            const Session session = question.open(request.hardware);
            StudyRequest asked = read_study(session, study_file);
            asked.conditions.allow_unknown =
                asked.conditions.allow_unknown || question.question().conditions.allow_unknown;
            const Study study = run_study(session, std::move(asked));
            std::vector<AskedResult> results;
            for (const StudyGroup& group : study.groups)
                for (const Result& result : group.results)
                    results.push_back({&result, group.batch_size});
            save.save(results);
            output.emit_answer(study);
            return static_cast<int>(study.cells(Status::incomplete) > 0 ? cli::Exit::incomplete
                                    : study.cells(Status::ok) == 0      ? cli::Exit::nothing
                                                                        : cli::Exit::ok);
        }
        const std::vector<std::int64_t> batches = question.numbers("batch_size");
        const std::vector<std::string>& formats = question.given("precision");
        if (formats.size() > 1)
            request.precisions = formats;
        if (formats.size() > 1 && !question.given("activations").empty())
            throw UsageError("--activations: give it with one --precision");
        request.models = models.taken("compare_models");
        request.deployment = fmt::format("{}", fmt::join(deployments, ","));
        request.stacks = question.given("runtime");
        question.put_into(request);
        const std::vector<std::int64_t> counts = question.numbers("devices");
        request.device_counts.assign(counts.begin(), counts.end());
        if (!(load.rate_per_s >= 0))
            throw UsageError("--rate: items per second that arrive, from 0");
        if (percentiles || load.rate_per_s > 0)
            view.percentiles = load;
        if (!sort.empty())
            view.sort_by = &view.metrics->at(sort, "--sort");
        request.decision =
            decisions.request(view.sort_by != nullptr ? *view.sort_by : ranked_by(request.conditions));
        view.explanations = explain.chosen(view.verbose);
        request.decision.cost = view.explanations.conditions;
        // Each subgraph of an estimate takes a kilobyte: of thousands of estimates the totals are kept.
        constexpr std::size_t kDetailed = 4096;
        request.conditions.keep_subgraphs = request.models.size() * request.hardware.size() <= kDetailed ||
                                            view.verbose || !subgraphs.empty() || view.explanations.subgraphs;
        const Session session = question.open(request.hardware);
        if (view.percentiles)
            view.percentiles->rows = session.spread_rows();
        const Format format = output.chosen();
        if (batches.size() > 1 && (format == Format::json || !subgraphs.empty()))
            throw UsageError(
                "--batch-size: several sizes are several answers; JSON and --subgraphs hold one");
        Report all;
        std::string said;
        Takeaway by_batch;
        int worst = 0;
        for (const std::int64_t batch : batches) {
            request.workload.batch = batch;
            const ModelComparison comparison = compare_models(session, request);
            view.explanations.conditions = comparison.request.decision.cost; // on one basis
            view.slices = on_slices(session, comparison);
            if (!subgraphs.empty())
                write_file(subgraphs, render(tabulate_subgraphs(comparison), Format::csv));
            save.save(comparison.results, batch, view.metric_view());
            if (format == Format::json)
                said = to_json(comparison, view);
            else {
                Report own = describe(comparison, view, format);
                if (std::string line = cli::first_line(own); !line.empty())
                    by_batch.lines.push_back(fmt::format("Batch {}: {}", batch, line));
                append(std::move(own), all);
            }
            said += check.text(session, comparison.results, output);
            worst = std::max(worst, cli::exit_code_of(comparison.results, request.decision));
        }
        if (batches.size() > 1 && !by_batch.lines.empty()) // what was asked comes first
            all.blocks.insert(all.blocks.begin(), {Heading{1, "BATCH SIZES"}, std::move(by_batch)});
        output.emit((format == Format::json ? cli::Drawn{} : output.drawn_report(all, format)) + said);
        return worst;
    };
    return cli::run_tool(argc, argv, "compare_models", "Ranks devices for a neural network, by estimate.",
                         kExamples, setup, body);
}
