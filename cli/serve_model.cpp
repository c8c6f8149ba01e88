// serve_model: a language model under load on devices: waiting times, throughput, power, cost, and where it
// overflows.

#include "answers/serving/serving_report.hpp"
#include "archsim/core/finding.hpp"
#include "common/answer_options.hpp"
#include "common/serving_options.hpp"
#include "core/new_file.hpp"
#include "report/render/answer_document.hpp"
#include "session/given.hpp"

#include <fmt/format.h>

#include <algorithm>

using namespace archsim;

constexpr const char* kExamples = R"(  serve_model llama-3-8b --hardware H100 --precision fp16 --rate 4
  serve_model qwen3-32b --hardware H100 H200 --precision fp8 --parallel tp=2 --concurrency 32
  serve_model ./config.json --hardware H100 --precision fp16 --rate 2 --prompt-tokens 2000 --output-tokens 300
  serve_model llama-3-70b --hardware H100 H200 B200 --precision fp8 --parallel tp=2 --parallel tp=4 \
      --ttft-p99 500ms --tpot-p99 40ms
  serve_model llama-3-8b --hardware H100 --precision fp16 --rate 8 --drafted 4 --accepted 0.7
  serve_model llama-3-8b --hardware L40S --precision fp8 --rate 2 --measured "llama-3-8b fp8 c8 tpot = 14ms")";

/// How many devices share the model: a layout, or a count that the stack divides it among as it does.
struct Way {
    std::optional<Parallelism> layout; ///< none, and a count of 1: the fewest devices that hold it
    double count = 1;

    double devices() const { return layout ? static_cast<double>(layout->engine_devices()) : count; }
};

struct ServeOptions {
    bool frontier = false;
    std::string trace_events;
    std::vector<ServedStep> steps; ///< for --trace-events
    std::vector<std::string> hardware, parallel, clients;
    std::vector<std::string> devices;
    cli::ModelOption model;
    cli::QuestionOptions question;
    cli::FieldOptions<ServingRequest> serving{serving_fields()};
    cli::FieldOptions<ServiceLevel> limits{level_fields()};
    ServiceLevel level;
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
            .add_option(
                "--devices", devices,
                "so many, for each count, that share the model as its stack does (llama.cpp: --parallel "
                "pp=N, others tp=N); auto: the fewest that hold it",
                "N")
            .in_group(sharing);
        limits.add_to(flags);
        flags.add_flag("--frontier", frontier,
                       "requests in flight from 1 on, on every device and every --parallel (default: 1, 2, 4 "
                       "and 8 devices): throughput against the speed that a user sees");
        flags.add_written("--trace-events", trace_events,
                          "write every step of the run as trace events (Perfetto), a track for each engine");
        flags.add_rule([this, &flags] {
            const auto given = serving.given<ServingTexts>(flags);
            request = given.request();
            level = limits.given<LevelTexts>(flags).level();
            check_load(given);
            if (trace_events.empty())
                return;
            if (frontier || level.any() || hardware.size() > 1 || parallel.size() + devices.size() > 1)
                throw UsageError("--trace-events is of one run: one device, one layout and one load");
            request.plan.on_step = [this](double begins_s, std::span<const StepRequest> held,
                                          const StepCost& cost) {
                steps.push_back({begins_s, StepLoad::of(held, 1 + request.plan.engine.drafted), cost});
            };
        });
    }

    /// Those of --parallel, then those of --devices; the fewest that hold the model where there is none.
    std::vector<Way> ways() const {
        std::vector<Way> all;
        for (const std::string& text : parallel)
            all.push_back({parse_parallelism(text)});
        for (const std::string& count : devices)
            if (count != "auto") // as without the flag
                all.push_back({std::nullopt, static_cast<double>(parse_parallelism("tp=" + count).tensor)});
        for (Way& way : all)
            if (!way.layout && way.count == 1)
                way.layout.emplace();
        if (all.empty())
            all.emplace_back();
        return all;
    }

  private:
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
        if (level.any())
            loads.emplace_back("limits on P99 (the highest rate that meets them)");
        if (loads.empty())
            throw UsageError("give a load: --rate, --concurrency, --trace, --frontier, or limits such as "
                             "--ttft-p99 500ms");
        if (loads.size() > 1)
            throw UsageError(fmt::format("give one load: {} and {} exclude each other", loads[0], loads[1]));
    }
};

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
        const std::vector<Way> ways = serve.ways();
        const ServiceLevel& level = serve.level;
        const std::string name = serve.model.taken("serve_model");
        const Session session = cli::open_measured(
            serve.question, serve.clients,
            cli::measured_context(name, serve.hardware, ways.size() == 1 ? ways.front().devices() : 0));
        const Model model = session.load(name);
        serve.hardware = cli::with_modes(session, serve.hardware);
        const Question asked = serve.question.question();
        Conditions conditions = asked.conditions;
        serve.request.sizes = asked.workload.sizes;
        std::vector<ServingResult> results;
        for (const std::string& device : serve.hardware)
            for (const Way& way : ways) {
                conditions.devices = way.count;
                serve.request.parallelism = way.layout;
                if (serve.frontier) {
                    const std::vector<Parallelism> given(way.layout ? 1 : 0,
                                                         way.layout.value_or(Parallelism{}));
                    for (ServingResult& result : sweep_serving(session, model, std::span(&device, 1), given,
                                                               conditions, serve.request))
                        results.push_back(std::move(result));
                    continue;
                }
                results.push_back(level.any()
                                      ? highest_rate(session, model, device, conditions, serve.request, level)
                                      : run_serving(session, model, device, conditions, serve.request));
                if (!results.back().ok && way.layout)
                    results.back().parallelism = *way.layout;
            }
        if (!serve.trace_events.empty() && results.front().ok)
            write_file(serve.trace_events, serving_trace(results.front(), serve.steps));
        std::vector<SavedResult> rows;
        for (const ServingResult& result : results)
            rows.push_back(saved_row(result, serve.request, asked.conditions, level));
        const std::string measured = measured_key(session, serve.hardware.front());
        for (SavedResult& row : rows)
            row.key.question = with_measured(std::move(row.key.question), measured);
        save.save_rows(rows);
        const Format format = output.chosen();
        if (format == Format::json) {
            ServedQuestion question =
                served_question(model, serve.hardware, asked.conditions, serve.request, level);
            question.parallel = serve.parallel;
            question.devices = serve.devices;
            question.frontier = serve.frontier;
            output.emit(serving_json(results, question));
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
