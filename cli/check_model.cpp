// check_model: what of a model leaves an accelerator, why, at which cost, and which rewrite would help.

#include "answers/portability/check_model.hpp"
#include "common/tool.hpp"
#include "core/lists.hpp"

constexpr const char* kExamples = R"(  check_model vit_b_16 --hardware Coral-Edge-TPU Hailo-8 --precision int8
  check_model yolov8n --hardware Hailo-8 Snapdragon-8-Elite --precision int8
  check_model mobilenet_v2 --hardware H100 --precision fp16 --advise
  check_model resnet18 --hardware Hailo-8 --precision int8 --format json)";

constexpr std::size_t kAdvice = 5;

int main(int argc, char** argv) {
    using namespace archsim;
    PortabilityRequest request;
    cli::QuestionOptions question;
    cli::ModelOption model;
    cli::OutputOptions output;
    bool plain = false, advise = false;
    const auto setup = [&](cli::Flags& flags) {
        flags.add_document("check_model", schema_of<PortabilityAnswer, PlainView>);
        model.add_to(flags);
        flags
            .add_option("--hardware", request.hardware, "devices: NAME, NAME@MODE or a device file", "DEVICE")
            .required();
        flags.add_flag("--no-rewrites", plain, "do not try the known rewrites");
        flags
            .add_flag("--advise", advise,
                      "also the five changes of the model that save most time, on any device")
            .in_group("Advice");
        question.add_to(flags, {.without = keys_of({FieldOf::answer})});
        output.add_order_to(flags);
        output.add_to(flags, "text, markdown, json, csv, html");
    };
    const auto body = [&] {
        request.rewrites = !plain;
        request.advice = advise ? kAdvice : 0;
        question.put_into(request);
        request.model = model.taken("check_model");
        const Session session = question.open();
        request.hardware = cli::with_modes(session, request.hardware);
        const PortabilityAnswer answer = check_model(session, request);
        output.emit_answer(answer);
        std::vector<Result> results = mapped(answer.devices, &Portability::result);
        return cli::exit_code_of(results);
    };
    return cli::run_tool(
        argc, argv, "check_model",
        "Lists operators that fall back to the host, what that costs, and rewrites that avoid it.", kExamples,
        setup, body);
}
