// analyze_comprehensive: everything about one model on one device, with verdicts against budgets.

#include "answers/comprehensive/comprehensive.hpp"
#include "common/answer_options.hpp"
#include "common/progress.hpp"

constexpr const char* kExamples = R"(  analyze_comprehensive resnet50 --hardware A100 --precision fp16
  analyze_comprehensive mobilenet_v2 --hardware Jetson-Orin-Nano@7W --max-latency 20ms --max-power 7W
  analyze_comprehensive vit_b_16 --hardware H100 --batch-sizes 1,8,64 --output vit.html
  analyze_comprehensive ./my_model.onnx --hardware KPU-T256 --format json
  analyze_comprehensive llama-3-8b --hardware H100 --prompt-tokens 512 --generate-tokens 128)";

int main(int argc, char** argv) {
    using namespace archsim;
    BatchRequest request;
    std::string batches;
    int top = -1; ///< not given
    cli::QuestionOptions question;
    cli::DecisionOptions decisions;
    cli::ModelOption model;
    cli::OutputOptions output;
    cli::SaveOptions save;
    cli::CheckOptions check;
    ComprehensiveView view;
    const auto setup = [&](cli::Flags& flags) {
        flags.add_document("analyze_comprehensive", schema_of<ComprehensiveAnalysis, ComprehensiveView>);
        model.add_to(flags);
        flags
            .add_option("--hardware", request.hardware.emplace_back(),
                        "device: NAME, NAME@MODE or a device file", "DEVICE")
            .required();
        question.add_to(flags, {.duty = true});
        flags.add_option("--batch-sizes", batches, "also at these batch sizes, e.g. 1,8,32 or 1,2,4,...,64",
                         "SIZES");
        flags
            .add_option("--top", top,
                        "longest groups of equal subgraphs described one by one; 0: all (default: 1 with "
                        "--verbose, else none)")
            .within(0, 1 << 20);
        decisions.add_to(flags);
        check.add_to(flags);
        flags.add_flag("-v,--verbose", view.verbose, "every subgraph in a row of its own");
        output.add_to(flags, "text, markdown, json, csv, html");
        save.add_to(flags, argc, argv);
    };
    const auto body = [&] {
        request.models = {model.taken("analyze_comprehensive")};
        view.described = top >= 0;
        view.top = top >= 0 ? top : view.top;
        if (!batches.empty())
            request.batches = cli::parse_batches(batches, "--batch-sizes");
        question.put_into(request);
        request.decision = decisions.request(metric::latency);
        const Session session = question.open(request.hardware);
        const ComprehensiveAnalysis analysis = [&] {
            cli::Progress progress("estimating", output.quiet);
            request.progress = [&](std::size_t done, std::size_t total) { progress.show(done, total); };
            return analyze_comprehensive(session, request);
        }();
        save.save(analysis.comparison.results, request.workload.batch);
        output.emit(output.drawn(analysis, view) + check.text(session, analysis.comparison.results, output));
        return cli::exit_code_of(analysis.comparison.results, request.decision);
    };
    return cli::run_tool(argc, argv, "analyze_comprehensive",
                         "Reports everything about a neural network on one device.", kExamples, setup, body);
}
