// analyze_batch: throughput, latency, energy and memory against batch, and the best batch under budgets.

#include "answers/batch/batch.hpp"
#include "common/answer_options.hpp"
#include "common/progress.hpp"

#include <fmt/ranges.h>

constexpr const char* kExamples = R"(  analyze_batch resnet50 --hardware A100 --precision fp16
  analyze_batch --model resnet50 --hardware H100 L4 --batch-sizes 1,2,4,8,16,32,64,128
  analyze_batch mobilenet_v2 --hardware Jetson-Orin-Nano@15W --max-latency 20ms --min-throughput 200
  analyze_batch bert-base --hardware T4 --dim sequence=128 --output batches.html)";

int main(int argc, char** argv) {
    using namespace archsim;
    BatchRequest request;
    std::vector<std::string> batches;
    cli::QuestionOptions question;
    cli::DecisionOptions decisions;
    cli::ModelOption model;
    cli::OutputOptions output;
    cli::SaveOptions save;
    const auto setup = [&](cli::Flags& flags) {
        flags.add_document("analyze_batch", schema_of<BatchAnalysis, PlainView>);
        model.add_to(flags);
        flags
            .add_option("--hardware", request.hardware, "devices: NAME, NAME@MODE or a device file", "DEVICE")
            .required();
        flags.add_option(
            "--batch-sizes,--batch-size", batches,
            "rising batch sizes, e.g. 1,8,32 or 1,2,4,...,256 (default: 1,2,4,...,64, and larger "
            "ones while they keep a limit and bring more)",
            "SIZES");
        question.add_to(flags, {.without = {"batch_size"}, .several = {"devices"}});
        decisions.add_to(flags);
        output.add_order_to(flags);
        output.add_to(flags, "text, markdown, json, csv, html");
        save.add_to(flags, argc, argv);
    };
    const auto body = [&] {
        request.models = {model.taken("analyze_batch")};
        constexpr std::int64_t kLargest = 4096;
        request.largest = batches.empty() ? kLargest : 0;
        request.batches = cli::parse_batches(
            batches.empty() ? "1,2,4,...,64" : fmt::format("{}", fmt::join(batches, ",")), "--batch-sizes");
        question.put_into(request);
        const std::vector<std::int64_t> counts = question.numbers("devices");
        request.device_counts.assign(counts.begin(), counts.end());
        request.decision = decisions.request(metric::throughput);
        const Session session = question.open(request.hardware);
        const BatchAnalysis sweep = [&] {
            cli::Progress progress("estimating", output.quiet);
            request.progress = [&](std::size_t done, std::size_t total) { progress.show(done, total); };
            return analyze_batches(session, request);
        }();
        std::vector<AskedResult> saved;
        std::vector<Result> results;
        bool within_limits = false;
        for (const BatchSeries& series : sweep.series)
            for (std::size_t i = 0; i < series.results.size(); ++i) {
                saved.push_back({&series.results[i], series.batches[i]});
                results.push_back(series.results[i]);
                within_limits = within_limits || series.decision.qualifies[i];
            }
        save.save(saved);
        output.emit_answer(sweep);
        const int code = cli::exit_code_of(results);
        return code == 0 && !within_limits ? static_cast<int>(cli::Exit::nothing) : code;
    };
    return cli::run_tool(argc, argv, "analyze_batch",
                         "Shows how throughput, latency, energy and memory grow with batch.", kExamples,
                         setup, body);
}
