// size_service: how many of which devices a load of a language model needs, within limits on waiting.

#include "answers/sizing/size_service.hpp"
#include "answers/sizing/launch.hpp"
#include "answers/sizing/sizing_fields.hpp"
#include "answers/sizing/sizing_report.hpp"
#include "common/answer_options.hpp"
#include "common/progress.hpp"
#include "common/serving_options.hpp"
#include "session/named_format.hpp"

#include <algorithm>

using namespace archsim;

constexpr const char* kExamples =
    R"(  size_service qwen3-30b-a3b --rate 50 --prompt-tokens 2k --output-tokens 300 --ttft-p99 2s --tpot-p99 30ms
  size_service qwen3-30b-a3b --users 200 --think-time 60s --prompt-tokens 8k --ttft-p99 1s --hardware H100 GB10 Apple-M4-Max-GPU
  size_service llama-3-70b --rate 5 --tpot-p99 50ms --precision bf16 fp8 --budget 60USD/h --hardware H100 H200
  size_service qwen3-8b --rate 8 --ttft-p99 500ms --hardware L40S --emit vllm)";

struct SizeOptions {
    std::string emit;
    std::vector<std::string> hardware, clients;
    cli::MoneyOptions money;
    cli::ModelOption model;
    cli::QuestionOptions question;
    cli::FieldOptions<ServingRequest> load{serving_fields()};
    cli::FieldOptions<SizingRequest> own{sizing_fields()};
    SizingRequest request;

    void add_to(cli::Flags& flags) {
        model.add_to(flags);
        flags.add_option("--hardware", hardware,
                         "devices, files of devices, or all (default: rented servers)", "DEVICE");
        load.add_to(flags, {.without = {kNotSized.begin(), kNotSized.end()},
                            .usual = request.serving,
                            .found = {{"requests", "as many as the load needs"}}});
        own.add_to(flags);
        cli::add_client_output(flags, clients);
        question.add_to(flags,
                        {.without = keys_of({FieldOf::pass, FieldOf::answer}), .several = {"precision"}});
        flags
            .add_option("--emit", emit,
                        "what starts the cheapest layout, sized for that engine (or --runtime)")
            .one_of({"vllm", "sglang", "trtllm", "kubernetes"});
        add_money(flags);
        flags.add_rule([this, &flags] {
            request = own.given<SizingTexts>(flags).request(load.given<ServingTexts>(flags));
            request.cost = money.chosen();
        });
    }

    /// Named ones, all, or those that one can rent.
    std::vector<std::string> chosen(const Session& session) const {
        if (hardware.empty()) {
            std::vector<std::string> rented;
            std::vector<Finding> findings;
            for (const auto& device : session.hardware().all_devices(findings))
                if (device->cloud_price && device->cloud_price->amount.known())
                    rented.push_back(device->id);
            return rented;
        }
        return cli::with_modes(session, hardware);
    }

  private:
    void add_money(cli::Flags& flags) {
        flags.group("Energy and money");
        money.add_tenure_to(flags, "prices of rented devices", "prices of bought devices");
        money.add_use_to(flags);
        money.add_running_to(flags, " (default: 480)");
        flags.group("");
    }
};

int main(int argc, char** argv) {
    SizeOptions size;
    cli::OutputOptions output;
    const auto setup = [&](cli::Flags& flags) {
        flags.add_document("size_service", schema_of<SizingAnswer, PlainView>);
        size.add_to(flags);
        output.add_order_to(flags);
        output.add_to(flags, "text, markdown, json, csv, html");
    };
    const auto body = [&] {
        const std::string name = size.model.taken("size_service");
        const Session session =
            cli::open_measured(size.question, size.clients, cli::measured_context(name, size.hardware, 0));
        const Model model = session.load(name);
        std::vector<Conditions> formats;
        const std::size_t count = std::max<std::size_t>(1, size.question.given("precision").size());
        for (std::size_t i = 0; i < count; ++i) {
            const Question asked = size.question.question(i);
            formats.push_back(asked.conditions);
            if (!size.emit.empty() && formats.back().stack.empty())
                formats.back().stack = launch_stack(session, *value_named<LaunchTarget>(size.emit));
            size.request.serving.sizes = asked.workload.sizes;
        }
        const std::vector<std::string> hardware = size.chosen(session);
        SizingAnswer answer;
        {
            cli::Progress progress("sizing", output.quiet);
            answer = size_service(session, model, hardware, formats, size.request,
                                  [&](std::size_t done, std::size_t total) { progress.show(done, total); });
        }
        const std::optional<std::size_t> first = answer.cheapest ? answer.cheapest : answer.fewest;
        if (!size.emit.empty() && first)
            output.emit(launch_text(session, answer, answer.devices[*first],
                                    *value_named<LaunchTarget>(size.emit), checkpoint_of(session, name)));
        else
            output.emit_answer(answer);
        return static_cast<int>(answer.fewest ? cli::Exit::ok : cli::Exit::nothing);
    };
    return cli::run_tool(argc, argv, "size_service",
                         "Finds the fewest devices that serve a language model within limits, by estimate.",
                         kExamples, setup, body);
}
