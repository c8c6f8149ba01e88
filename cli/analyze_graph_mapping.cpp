// analyze_graph_mapping: how a network sits on one device, subgraph by subgraph.

#include "answers/mapping/graph_mapping.hpp"
#include "answers/measuring/check_me.hpp"
#include "common/answer_options.hpp"
#include "core/new_file.hpp"
#include "session/bound_model.hpp"

constexpr const char* kExamples = R"(  analyze_graph_mapping resnet50 --hardware A100 --precision fp16
  analyze_graph_mapping mobilenet_v2 --hardware KPU-T64@6W --top 0
  analyze_graph_mapping vit_b_16 --hardware H100 --show-roofline --show-memory --show-partition
  analyze_graph_mapping squeezenet1_0 --hardware this-machine --profile tests/check/outputs/onnxruntime_profile.json
  analyze_graph_mapping resnet18 --hardware TPU-v4 --output resnet18.html
  analyze_graph_mapping llama-3-8b --hardware H100 --prompt-tokens 512 --generate-tokens 128
  analyze_graph_mapping resnet18 --hardware TPU-v4 --dot resnet18.dot --mermaid resnet18.mmd
  analyze_graph_mapping resnet18 --hardware H100 --trace trace.json --annotate resnet18.annotated.onnx)";

/// The file that a copy is made of. Throws UsageError for models that are no ONNX file.
static std::string onnx_file(const archsim::Model& model, const std::string& name) {
    const std::string file = model.info.file.empty() ? name : model.info.file.string();
    if (!file.ends_with(".onnx"))
        throw archsim::UsageError("--annotate: only for ONNX files; " + name + " is none");
    return file;
}

int main(int argc, char** argv) {
    using namespace archsim;
    std::string name, hardware, dot, mermaid, trace, explorer, annotated;
    cli::QuestionOptions question;
    cli::ModelOption model;
    cli::OutputOptions output;
    GraphMappingView view;
    cli::CheckOptions check;
    std::string profile;
    const auto setup = [&](cli::Flags& flags) {
        flags.add_document("analyze_graph_mapping", schema_of<Result, GraphMappingView>);
        model.add_to(flags);
        flags.add_option("--hardware", hardware, "device: NAME, NAME@MODE or a device file", "DEVICE")
            .required();
        question.add_to(flags);
        flags.add_top(view.top, "longest groups of equal subgraphs described one by one; 0: all");
        flags.add_option(
            "--subgraph", view.subgraph,
            "instead: the subgraphs of that name, or with it in their name: loop order, tile, levels",
            "NAME");
        flags.add_flag("--show-roofline", view.roofline,
                       "intensity and rate of every subgraph under the roofs");
        flags.add_flag("--show-memory", view.memory, "live bytes at every step, and the tensors at the peak");
        flags.add_flag("--show-partition", view.partition,
                       "why every operator joined its subgraph or was cut off");
        flags
            .add_option(
                "--profile", profile,
                "instead: measured times of layers (ONNX Runtime's JSON profile, trtexec --dumpProfile) "
                "beside the subgraphs")
            .file();
        check.add_to(flags);
        flags.add_written("--dot", dot, "also write the graph of subgraphs for Graphviz");
        flags.add_written("--mermaid", mermaid, "also write it as a Mermaid flowchart");
        flags.add_flag("-v,--verbose", view.verbose, "every subgraph in a row of its own");
        flags.add_written("--trace,--trace-events", trace,
                          "also write the predicted schedule for Perfetto or chrome://tracing");
        flags.add_written(
            "--annotate", annotated,
            "also write the ONNX file without weights, its nodes noted with time, energy and bound");
        flags.add_written("--model-explorer", explorer, "also write times as node data for Model Explorer");
        output.add_to(flags, "text, markdown, json, csv, html");
    };
    const auto body = [&] {
        name = model.taken("analyze_graph_mapping");
        const Session session = question.open();
        auto [asked, conditions] = question.question();
        asked.model = session.load(name);
        asked.single_pass = !asked.prompt;
        if (!asked.prompt)
            graph_of(asked.model); // a mapping shows one graph; of an answer one of its passes
        const Result result = session.estimate(asked, hardware, conditions);
        if (result.partition && !dot.empty())
            write_file(dot, mapping_to_dot(result));
        if (result.partition && !mermaid.empty())
            write_file(mermaid, mapping_to_mermaid(result));
        if (result.ok() && !trace.empty())
            write_file(trace, to_trace(result));
        if (result.ok() && !explorer.empty())
            write_file(explorer, to_model_explorer(result));
        if (result.ok() && !annotated.empty())
            write_file(annotated, annotated_onnx(onnx_file(asked.model, name), annotations_of(result)));
        if (!profile.empty()) {
            MeasuredContext context{.model = name, .hardware = hardware};
            const Format format = output.chosen();
            if (format == Format::json)
                throw UsageError("--profile: text, markdown, csv or html");
            output.emit(output.drawn_report(describe(match_layers(result, read_tool_output(profile, context)),
                                                     static_cast<std::size_t>(view.top)),
                                            format));
            return cli::exit_code_of(result);
        }
        output.emit(output.drawn(result, view) + check.text(session, {&result, 1}, output));
        return cli::exit_code_of(result);
    };
    return cli::run_tool(argc, argv, "analyze_graph_mapping",
                         "Shows how a neural network sits on one device, subgraph by subgraph.", kExamples,
                         setup, body);
}
