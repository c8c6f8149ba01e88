// compare_models: one or more models on several devices, ranked and explained.

#include "archsim/report/compare_models.hpp"
#include "archsim/run/compare_models.hpp"
#include "archsim/run/study.hpp"
#include "common/check_options.hpp"
#include "common/explain_options.hpp"
#include "common/tool.hpp"

#include <array>

namespace {

constexpr const char* kExamples = R"(  compare_models resnet50 --deployment edge
  compare_models mobilenet_v2 --hardware H100 A100 Jetson-Orin-Nano@15W KPU-T64
  compare_models resnet50 vit_b_16 --deployment datacenter --precision fp16 --batch-size 16
  compare_models llama-3-8b --hardware H100 L4 --precision fp16 --prompt-tokens 512 --generate-tokens 128
  compare_models ./my_model.onnx --hardware H100 --dim sequence=384 --format json
  compare_models resnet50 --hardware RTX-4090 --runtime tensorrt cuda-eager directml --cold-start
  compare_models resnet50 --hardware A100 T4 --precision int8 --explain-energy --cost --years 3
  compare_models --study docs/examples/quick_test.json --output results.csv)";

/// Flags that a study file decides instead.
constexpr std::array kDecidedByStudy = {"model",
                                        "--deployment",
                                        "--hardware",
                                        "--precision",
                                        "--batch-size",
                                        "--runtime",
                                        "--dim",
                                        "--input",
                                        "--scenario",
                                        "--scope",
                                        "--prompt-tokens",
                                        "--weights",
                                        "--activations",
                                        "--kv-cache",
                                        "--devices",
                                        "--generate-tokens",
                                        "--verbose",
                                        "--cold-start",
                                        "--max-latency",
                                        "--max-power",
                                        "--max-energy",
                                        "--max-memory",
                                        "--max-cost",
                                        "--min-throughput",
                                        "--pareto",
                                        "--explain-energy",
                                        "--show-memory",
                                        "--cost",
                                        "--kwh-price",
                                        "--years",
                                        "--utilization",
                                        "--pue",
                                        "--grid-intensity",
                                        "--top",
                                        "--subgraphs"};

/// The answer in the format asked for: a document, a flat table for spreadsheets, or blocks for people.
template <class Document, class Tabulate, class Describe>
std::string rendered(const archsim::cli::OutputOptions& output, Document&& document, Tabulate&& tabulated,
                     Describe&& described) {
    using namespace archsim;
    const Format format = output.chosen();
    if (format == Format::json)
        return document();
    return render(format == Format::csv ? tabulated() : described(), format, output.render_options());
}

std::vector<const archsim::Result*> pointers_to(const std::vector<archsim::Result>& results) {
    std::vector<const archsim::Result*> pointers;
    for (const archsim::Result& result : results)
        pointers.push_back(&result);
    return pointers;
}

} // namespace

int main(int argc, char** argv) {
    using namespace archsim;
    CompareModelsRequest request;
    cli::WorkloadOptions workload;
    cli::GenerationOptions text;
    cli::DecisionOptions decisions;
    cli::ExplainOptions explain;
    cli::CheckOptions check;
    cli::OutputOptions output;
    CompareModelsView view;
    std::string study_file, subgraphs;
    const auto setup = [&](cli::Flags& flags) {
        flags.add_option("model", request.models, "catalogue name(s), or path(s) of .onnx files");
        flags.add_option("--deployment", request.deployment,
                         "deployment scenario: datacenter, edge, embedded (default: datacenter)");
        flags.add_option("--hardware", request.hardware, "devices: NAME, NAME@MODE or a device file");
        workload.add_to(flags);
        text.add_to(flags);
        decisions.add_to(flags);
        explain.add_to(flags);
        check.add_to(flags);
        flags.add_flag("--cold-start", view.cold_start,
                       "the first inference too: building the network and loading its weights");
        flags.add_option("--top", view.top, "rows of the ranking; 0: all").within(0, 1 << 20).show_default();
        flags.add_option("--subgraphs", subgraphs, "also write every subgraph of every device to a CSV file");
        flags.add_flag("-v,--verbose", view.verbose, "details of every device, with its subgraphs");
        flags.add_option("--study", study_file,
                         "run every combination that a study file names (docs/studies.md)");
        for (const char* flag : kDecidedByStudy)
            flags.exclude("--study", flag);
        output.add_to(flags, "text, markdown, json, csv, html");
    };
    const auto body = [&] {
        if (!study_file.empty()) {
            const Session session = workload.open();
            const Study study = run_study(session, read_study(session, study_file), workload.allow_unknown);
            output.emit(rendered(
                output, [&] { return to_json(study); }, [&] { return tabulate(study); },
                [&] { return describe(study); }));
            return exit_code(study);
        }
        if (request.models.empty())
            throw UsageError("name a model, or a study with --study (see compare_models --help)");
        request.runtimes = workload.runtimes;
        request.precision = workload.precision;
        request.batch_size = workload.batch_size;
        RunOptions options = workload.run_options();
        text.apply(options);
        const std::optional<GenerationRequest> generation = text.request(workload.batch_size);
        if (options.chips == 0 && !generation)
            throw UsageError("--devices auto: only with --prompt-tokens or --generate-tokens");
        request.devices = options.chips;
        if (generation) {
            request.prompt_tokens = generation->prompt_tokens;
            request.generate_tokens = generation->generate_tokens;
        }
        request.scenario = options.scenario;
        request.scope = options.scope;
        request.decision = decisions.request(options.scenario == Scenario::throughput ? Objective::throughput
                                                                                      : Objective::latency);
        const Bindings bindings = workload.bindings();
        request.dims = bindings.dims;
        view.explanations = explain.chosen(view.verbose);
        request.decision.cost = view.explanations.conditions;
        const Session session = workload.open();
        const ModelComparison comparison = compare_models(session, request, bindings, options, generation);
        if (!subgraphs.empty())
            write_file(subgraphs, render(tabulate_subgraphs(comparison), Format::csv));
        view.charts = output.chosen() == Format::html;
        output.emit(rendered(
                        output, [&] { return to_json(comparison, view); },
                        [&] { return tabulate(comparison, view); },
                        [&] { return describe(comparison, view); }) +
                    check.text(pointers_to(comparison.results), output));
        return exit_code(comparison);
    };
    return cli::run_tool(argc, argv, "compare_models", "Ranks devices for a neural network, by estimate.",
                         kExamples, setup, body);
}
