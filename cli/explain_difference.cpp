// explain_difference: two models, versions, batches, formats, stacks or devices: why they differ, and where.

#include "answers/difference/difference.hpp"
#include "common/progress.hpp"
#include "common/tool.hpp"

#include <algorithm>

using namespace archsim;

constexpr const char* kExamples = R"(  explain_difference resnet18 resnet34 --hardware H100
  explain_difference resnet50 --hardware H100 --batch-size 1 8 --metric throughput
  explain_difference resnet50 --hardware A100 --precision fp32 int8 --metric energy
  explain_difference resnet50 --hardware H100 --runtime tensorrt pytorch-eager --precision fp16
  explain_difference mobilenet_v2 --hardware KPU-T64@3W KPU-T64@6W
  explain_difference llama-3-8b --hardware H100 --precision fp16 --prompt-tokens 512 4096 --generate-tokens 128
  explain_difference resnet18 resnet50 --hardware H100 A100 --output difference.html)";

/// Two questions on one command line: every flag takes one value for both, or one for each.
struct PairOptions {
    cli::ModelsOption models;
    std::vector<std::string> hardware;
    cli::QuestionOptions question;

    void add_to(cli::Flags& flags) {
        models.add_to(flags);
        flags
            .add_option("--hardware", hardware, "one device or two: NAME, NAME@MODE or a device file",
                        "DEVICE")
            .required()
            .expects(1, 2);
        cli::AskedFields fields{.most = 2};
        for (const QuestionField& field : question_fields())
            if (!field.many() && field.kind != FieldKind::truth)
                fields.several.push_back(field.key);
        question.add_to(flags, fields);
    }

    bool two_values_of(const QuestionField& field) const {
        if (field.kind == FieldKind::truth || field.flag.empty())
            return false;
        const std::vector<std::string>& given = question.given(field.key);
        // Sizes of both sides stand in one text: H=224,320.
        return field.many() ? field.kind == FieldKind::sizes &&
                                  std::ranges::any_of(given,
                                                      [](const std::string& text) {
                                                          return text.find(',') != std::string::npos;
                                                      })
                            : given.size() > 1;
    }

    /// The request of both sides. Throws UsageError where nothing tells them apart.
    DifferenceRequest request() const {
        const std::vector<std::string> named = models.taken("explain_difference");
        if (named.size() > 2)
            throw UsageError(fmt::format("{} models: name one or two", named.size()));
        const auto side = [&](std::size_t index) {
            Question asked = question.question(index);
            return DifferenceSide{named[named.size() > 1 ? index : 0],
                                  hardware[hardware.size() > 1 ? index : 0], std::move(asked.workload),
                                  std::move(asked.conditions)};
        };
        DifferenceRequest request{side(0), side(1)};
        const auto& fields = question_fields();
        if (named.size() < 2 && hardware.size() < 2 &&
            std::ranges::none_of(fields, [&](const QuestionField& field) { return two_values_of(field); }))
            throw UsageError("both sides are the same question; give two of something: models, --hardware, "
                             "--precision, --batch-size, --runtime ...");
        return request;
    }
};

int main(int argc, char** argv) {
    PairOptions pair;
    cli::OutputOptions output;
    DifferenceView view;
    std::string metric = "latency";
    const auto setup = [&](cli::Flags& flags) {
        flags.add_document("explain_difference", schema_of<DifferenceAnswer, DifferenceView>);
        pair.add_to(flags);
        flags
            .add_option("--metric", metric,
                        "what is explained: latency, throughput, energy, power, memory, cost", "METRIC")
            .show_default();
        flags.add_top(view.top, "rows of blocks and classes; 0: all");
        output.add_to(flags, "text, markdown, json, csv, html");
    };
    const auto body = [&] {
        const Metric& explained = MetricTable::standard().at(metric, "--metric");
        DifferenceRequest request = pair.request();
        request.metric = &explained;
        try {
            const DifferenceAnswer answer = explain_difference(pair.question.open(), std::move(request));
            output.emit_answer(answer, view);
            return cli::exit_code_of(answer.results);
        } catch (const NoEstimateError& problem) {
            cli::say("explain_difference: {}\n", problem.what());
            return static_cast<int>(cli::Exit::nothing);
        }
    };
    return cli::run_tool(
        argc, argv, "explain_difference",
        "Says why two estimates differ: by cause, by class of operators, by block of the network.", kExamples,
        setup, body);
}
