// compare_architectures: one model on several architectures: which, and why.

#include "answers/architectures/architectures.hpp"
#include "answers/architectures/model_classes.hpp"
#include "common/answer_options.hpp"
#include "core/lists.hpp"

#include <fmt/format.h>

constexpr const char* kExamples = R"(  compare_architectures resnet18
  compare_architectures --model resnet18 --level detailed --architecture GPU
  compare_architectures --model resnet18 --explain-difference GPU TPU --metric latency
  compare_architectures resnet18 --architectures GPU KPU --what-if bandwidth=2x batch=8
  compare_architectures resnet18 --max-latency 5ms --max-power 30W --pareto energy latency
  compare_architectures --by-class --architectures CPU GPU TPU KPU --precision int8
  compare_architectures resnet18 --precision int8 --batch-sweep 1,2,4,...,64
  compare_architectures --model resnet18 --level subgraph --metric latency
  compare_architectures --model resnet18 --architectures GPU=A100 TPU KPU-T64@6W --batch-size 8)";

int main(int argc, char** argv) {
    using namespace archsim;
    CompareArchitecturesRequest request;
    cli::QuestionOptions question;
    cli::ModelOption model;
    cli::OutputOptions output;
    cli::SaveOptions save;
    cli::DecisionOptions decisions;
    cli::ExplainOptions explain;
    std::string level, metric = "energy";
    std::optional<std::string> sweep;
    bool by_class = false;
    const auto setup = [&](cli::Flags& flags) {
        flags.add_document("compare_architectures", schema_of<ArchitectureComparison, Explanations>);
        flags.add_document("model_classes", schema_of<ModelClassComparison, PlainView>);
        model.add_to(flags);
        flags
            .add_option("--architectures,--hardware", request.architectures,
                        fmt::format("families ({}, or all), FAMILY=DEVICE, or devices",
                                    fmt::join(family_names(), " ")),
                        "NAME")
            .list();
        flags
            .add_option("--level", level,
                        "summary (default), detailed (default with --architecture) or subgraph")
            .one_of({"summary", "detailed", "subgraph"});
        flags.add_option("--architecture", request.architecture, "show only this one at the detailed level",
                         "NAME");
        flags.add_option("--explain-difference", request.explain, "why two architectures differ: A B", "NAME")
            .expects(2);
        flags.add_option("--metric", metric, "what decides: " + MetricTable::standard().keys(), "METRIC")
            .show_default();
        flags.add_option(
            "--baseline", request.baseline,
            "architecture that others are compared with (default: the fastest; in detail the first GPU)",
            "NAME");
        flags
            .add_option(
                "--what-if", request.what_if,
                "changed devices or workload: bandwidth=2x tdp=15W batch=8 precision=int8 GPU:peak=50%",
                "CHANGE")
            .in_group("What if");
        flags
            .add_flag("--sensitivity", request.sensitivity,
                      "vary every assumed input by 20 %: does the winner change?")
            .in_group("What if");
        flags.add_flag(
            "--by-class", by_class,
            "no model: times faster than the CPU over thirteen classes of models, strengths and weaknesses");
        flags.add_optional_value("--batch-sweep", sweep, "batches to compare (default: 1,4,8,16,32,64)")
            .value_named("SIZES")
            .in_group("What if");
        for (const char* other : {"--level", "--architecture", "--explain-difference", "--what-if",
                                  "--sensitivity", "--batch-sweep"})
            flags.exclude("--by-class", other);
        decisions.add_to(flags);
        explain.add_to(flags);
        question.add_to(flags);
        output.add_order_to(flags);
        output.add_to(flags, "text, markdown, json, csv, html");
        save.add_to(flags, argc, argv);
    };
    const auto body = [&] {
        if (by_class) {
            if (const std::string named = model.positional + model.flag; !named.empty())
                throw UsageError(
                    fmt::format("--by-class has thirteen models of its own; \"{}\" is one too many "
                                "(--runtime and --precision take one value here)",
                                named));
            const Question of_all = question.question();
            ModelClassRequest asked{request.architectures, request.baseline, of_all.conditions,
                                    of_all.workload.batch};
            const Session session = question.open();
            const ModelClassComparison comparison = compare_model_classes(session, std::move(asked));
            std::vector<Result> results;
            for (const ModelClassRow& row : comparison.rows)
                append(results, row.results);
            save.save(results, of_all.workload.batch);
            output.emit_answer(comparison);
            return cli::exit_code_of(results);
        }
        request.model = model.taken("compare_architectures");
        if (level.empty())
            level = request.architecture.empty() ? "summary" : "detailed";
        request.level = *value_named<ComparisonLevel>(level);
        request.metric = &request.metrics->at(metric, "--metric");
        question.put_into(request);
        const Explanations explanations = explain.chosen(request.level == ComparisonLevel::detailed);
        request.decision = decisions.request(*request.metric);
        request.decision.cost = explanations.conditions;
        if (sweep)
            request.batch_sweep =
                cli::parse_batches(sweep->empty() ? "1,4,8,16,32,64" : *sweep, "--batch-sweep");
        const Session session = question.open();
        request.architectures = cli::with_modes(session, request.architectures, false);
        const ArchitectureComparison comparison = compare_architectures(session, request);
        save.save(comparison.results, request.workload.batch, request.metric_view());
        output.emit_answer(comparison, explanations);
        return cli::exit_code_of(comparison.results, request.decision);
    };
    return cli::run_tool(
        argc, argv, "compare_architectures",
        "Compares architectures for a neural network, by estimate, and says why they differ.", kExamples,
        setup, body);
}
