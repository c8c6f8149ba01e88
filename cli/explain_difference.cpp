// explain_difference: two models, versions, batches, formats, stacks or devices: why they differ, and where.

#include "answers/difference/difference_report.hpp"
#include "common/pair_options.hpp"
#include "common/tool.hpp"
#include "report/render/answer_document.hpp"

namespace {

constexpr const char* kExamples = R"(  explain_difference resnet18 resnet34 --hardware H100
  explain_difference resnet50 --hardware H100 --batch-size 1 8 --metric throughput
  explain_difference resnet50 --hardware A100 --precision fp32 int8 --metric energy
  explain_difference resnet50 --hardware H100 --runtime tensorrt pytorch-eager --precision fp16
  explain_difference mobilenet_v2 --hardware KPU-T64@3W KPU-T64@6W
  explain_difference llama-3-8b --hardware H100 --precision fp16 --prompt-tokens 512 4096 --generate-tokens 128
  explain_difference resnet18 resnet50 --hardware H100 A100 --output difference.html)";

} // namespace

int main(int argc, char** argv) {
    using namespace archsim;
    cli::PairOptions pair;
    cli::OutputOptions output;
    DifferenceView view;
    std::string metric = "latency";
    const auto setup = [&](cli::Flags& flags) {
        flags.add_document("explain_difference", explain_difference_schema);
        pair.add_to(flags);
        flags
            .add_option("--metric", metric,
                        "what is explained: latency, throughput, energy, power, memory, cost")
            .value_named("METRIC")
            .show_default();
        flags.add_option("--top", view.top, "rows of blocks and classes; 0: all")
            .within(0, 1 << 20)
            .show_default();
        output.add_to(flags, "text, markdown, json, csv, html");
    };
    const auto body = [&] {
        DifferenceRequest request;
        request.metric = &MetricTable::standard().at(metric, "--metric");
        request.before = pair.side(0);
        request.after = pair.side(1);
        if (!pair.differs())
            throw UsageError("both sides are the same question; give two of something: models, --hardware, "
                             "--precision, --batch-size, --runtime ...");
        try {
            const DifferenceAnswer answer = explain_difference(pair.question.open(), std::move(request));
            output.emit_answer(answer, view);
            return cli::exit_code_of(answer.results);
        } catch (const NoEstimateError& problem) {
            return cli::nothing_runs("explain_difference", problem);
        }
    };
    return cli::run_tool(
        argc, argv, "explain_difference",
        "Says why two estimates differ: by cause, by class of operators, by block of the network.", kExamples,
        setup, body);
}
