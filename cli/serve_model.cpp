// serve_model: a language model under load on devices: waiting times, throughput, power, cost, and where it
// overflows.

#include "answers/serving/serving_report.hpp"
#include "archsim/core/finding.hpp"
#include "common/answer_options.hpp"
#include "common/serving_options.hpp"
#include "report/render/answer_document.hpp"
#include "session/given.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace {

using namespace archsim;

constexpr const char* kExamples = R"(  serve_model llama-3-8b --hardware H100 --precision fp16 --rate 4
  serve_model qwen3-32b --hardware H100 H200 --precision fp8 --parallel tp=2 --concurrency 32
  serve_model ./config.json --hardware H100 --precision fp16 --rate 2 --prompt-tokens 2000 --output-tokens 300
  serve_model llama-3-70b --hardware H100 H200 B200 --precision fp8 --parallel tp=2 --parallel tp=4 \
      --ttft-p99 500ms --tpot-p99 40ms
  serve_model llama-3-8b --hardware H100 --precision fp16 --rate 8 --drafted 4 --accepted 0.7
  serve_model llama-3-8b --hardware L40S --precision fp8 --rate 2 --measured "llama-3-8b fp8 c8 tpot = 14ms")";

struct ServeOptions {
    bool frontier = false;
    std::string ttft, tpot, e2e;
    std::vector<std::string> hardware, parallel, clients;
    std::vector<std::string> devices;
    cli::ModelOption model;
    cli::QuestionOptions question;
    cli::ServingOptions serving;
    ServingRequest request;

    void add_to(cli::Flags& flags) {
        model.add_to(flags);
        flags.add_option("--hardware", hardware, "devices: NAME, NAME@MODE or a device file", "DEVICE")
            .required();
        serving.add_to(flags);
        question.add_to(flags, {.without = keys_of({FieldOf::pass, FieldOf::answer})});
        cli::add_client_output(flags, clients);
        const char* sharing = "Language models and several devices";
        flags
            .add_option("--parallel", parallel,
                        "how devices share the model, such as tp=4,pp=2,dp=2,ep=8; repeatable (default: the "
                        "fewest that hold it)",
                        "WAYS")
            .in_group(sharing);
        flags
            .add_option("--devices", devices,
                        "the same as --parallel tp=N, for each count; auto: the fewest that hold it", "N")
            .in_group(sharing);
        flags.add_option("--ttft-p99", ttft,
                         "limit: the highest rate whose P99 time to first token stays below, 500ms", "TIME");
        flags.add_option("--tpot-p99", tpot, "limit on the P99 time per output token, 40ms", "TIME");
        flags.add_flag("--frontier", frontier,
                       "requests in flight from 1 on, on every device and every --parallel (default: 1, 2, 4 "
                       "and 8 devices): throughput against the speed that a user sees");
        flags.add_option("--e2e-p99", e2e, "limit on the P99 time of a whole answer, 10s", "TIME");
        flags.add_rule([this, &flags] { finish(serving.given(flags)); });
    }

    ServiceLevel level() const {
        return {cli::time_given(ttft, "--ttft-p99"), cli::time_given(tpot, "--tpot-p99"),
                cli::time_given(e2e, "--e2e-p99")};
    }

  private:
    void finish(const ServingTexts& given) {
        request = given.request();
        check_load(given);
    }

    /// One load: what another of them would leave aside is refused.
    void check_load(const ServingTexts& given) const {
        std::vector<std::string> loads;
        if (given.has("--trace"))
            loads.emplace_back("--trace");
        else if (request.load.rate_per_s > 0)
            loads.emplace_back("--rate");
        if (request.plan.concurrency > 0)
            loads.emplace_back("--concurrency");
        if (frontier)
            loads.emplace_back("--frontier");
        if (level().any())
            loads.emplace_back("limits on P99 (the highest rate that meets them)");
        if (loads.empty())
            throw UsageError("give a load: --rate, --concurrency, --trace, --frontier, or limits such as "
                             "--ttft-p99 500ms");
        if (loads.size() > 1)
            throw UsageError(fmt::format("give one load: {} and {} exclude each other", loads[0], loads[1]));
    }
};

} // namespace

int main(int argc, char** argv) {
    ServeOptions serve;
    cli::OutputOptions output;
    cli::SaveOptions save;
    const auto setup = [&](cli::Flags& flags) {
        flags.add_document("serve_model", serve_model_schema);
        serve.add_to(flags);
        output.add_order_to(flags);
        output.add_to(flags, "text, markdown, json, csv, html");
        save.add_to(flags, argc, argv);
    };
    const auto body = [&] {
        for (const std::string& count : serve.devices)
            if (count != "auto") // as without the flag
                serve.parallel.push_back("tp=" + count);
        const ServiceLevel level = serve.level();
        const std::string name = serve.model.taken("serve_model");
        const Session session = cli::open_measured(
            serve.question, serve.clients, cli::measured_context(name, serve.hardware, serve.parallel));
        const Model model = session.load(name);
        serve.hardware = cli::with_modes(session, serve.hardware);
        const Question asked = serve.question.question();
        const Conditions& conditions = asked.conditions;
        serve.request.sizes = asked.workload.sizes;
        std::vector<std::optional<Parallelism>> ways;
        for (const std::string& text : serve.parallel)
            ways.emplace_back(parse_parallelism(text));
        if (ways.empty())
            ways.emplace_back(std::nullopt);
        std::vector<ServingResult> results;
        if (serve.frontier) {
            std::vector<Parallelism> given;
            for (const auto& way : ways)
                if (way)
                    given.push_back(*way);
            results = sweep_serving(session, model, serve.hardware, given, conditions, serve.request);
        }
        for (const std::string& device : serve.frontier ? std::vector<std::string>{} : serve.hardware)
            for (const auto& way : ways) {
                serve.request.parallelism = way;
                results.push_back(level.any()
                                      ? highest_rate(session, model, device, conditions, serve.request, level)
                                      : run_serving(session, model, device, conditions, serve.request));
                if (!results.back().ok && way)
                    results.back().parallelism = *way;
            }
        std::vector<SavedResult> rows;
        for (const ServingResult& result : results)
            rows.push_back(saved_row(result, serve.request, conditions, level));
        const std::string measured = measured_key(session, serve.hardware.front());
        for (SavedResult& row : rows)
            row.key.question = with_measured(std::move(row.key.question), measured);
        save.save_rows(rows);
        const Format format = output.chosen();
        if (format == Format::json) {
            output.emit(
                serving_json(results, {model.name(), serve.hardware, conditions, serve.request, level}));
        } else {
            const Report report = output.ordered(format == Format::csv ? tabulate_serving(results)
                                                 : serve.frontier      ? describe_frontier(results)
                                                                       : describe_serving(results, level));
            output.emit(output.drawn_report(report, format));
        }
        const bool any = std::ranges::any_of(results, &ServingResult::ok);
        return static_cast<int>(any ? cli::Exit::ok : cli::Exit::nothing);
    };
    return cli::run_tool(argc, argv, "serve_model", "Serves a language model under load, by estimate.",
                         kExamples, setup, body);
}
