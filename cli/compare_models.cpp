// compare_models: one or more models on several devices, ranked and explained.

#include "archsim/report/compare_models.hpp"
#include "archsim/run/compare_models.hpp"
#include "common/tool.hpp"

#include <fmt/format.h>

namespace {

constexpr const char* kExamples = R"(  compare_models resnet50 --deployment edge
  compare_models mobilenet_v2 --hardware H100 A100 Jetson-Orin-Nano@15W KPU-T64
  compare_models resnet50 vit_b_16 --deployment datacenter --precision fp16 --batch-size 16
  compare_models llama-3-8b --hardware H100 L4 --precision fp16 --prompt-tokens 512 --generate-tokens 128
  compare_models ./my_model.onnx --hardware H100 --dim sequence=384 --format json)";

} // namespace

int main(int argc, char** argv) {
    using namespace archsim;
    CompareModelsRequest request;
    cli::WorkloadOptions workload;
    cli::GenerationOptions text;
    cli::OutputOptions output;
    bool verbose = false;
    const auto setup = [&](CLI::App& app) {
        app.add_option("model", request.models, "catalogue name(s), or path(s) of .onnx files")->required();
        app.add_option("--deployment", request.deployment,
                       "deployment scenario: datacenter, edge, embedded (default: datacenter)");
        app.add_option("--hardware", request.hardware, "devices: NAME, NAME@MODE or a device file");
        workload.add_to(app);
        text.add_to(app);
        app.add_flag("-v,--verbose", verbose, "details of every device, with its subgraphs");
        output.add_to(app, "text, markdown, json, csv, html");
    };
    const auto body = [&] {
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
        const Bindings bindings = workload.bindings();
        request.dims = bindings.dims;
        const Format format = output.chosen();
        const Session session = workload.open();
        const ModelComparison comparison = compare_models(session, request, bindings, options, generation);
        output.emit(format == Format::json
                        ? to_json(comparison)
                        : render(describe(comparison, {verbose}), format, output.render_options()));
        return exit_code(comparison);
    };
    return cli::run_tool(argc, argv, "compare_models", "Ranks devices for a neural network, by estimate.",
                         kExamples, setup, body);
}
