// serve_model: a language model under load on devices: waiting times, throughput, power, cost, and where it
// overflows.

#include "archsim/core/finding.hpp"
#include "archsim/core/parse_number.hpp"
#include "archsim/report/serving_report.hpp"
#include "archsim/run/serve.hpp"
#include "common/save_options.hpp"
#include "common/tool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace {

using namespace archsim;

constexpr const char* kExamples = R"(  serve_model llama-3-8b --hardware H100 --precision fp16 --rate 4
  serve_model qwen3-32b --hardware H100 H200 --precision fp8 --parallel tp=2 --concurrency 32
  serve_model ./config.json --hardware H100 --precision fp16 --rate 2 --prompt-tokens 2000 --output-tokens 300
  serve_model llama-3-70b --hardware H100 H200 B200 --precision fp8 --parallel tp=2 --parallel tp=4 \
      --ttft-p99 500ms --tpot-p99 40ms
  serve_model llama-3-8b --hardware H100 --precision fp16 --rate 8 --drafted 4 --accepted 0.7)";

/// "500ms", "0.5s", "40 ms" in seconds; 0 for nothing.
double parse_time(const std::string& text, const std::string& flag) {
    if (text.empty())
        return 0;
    const auto seconds = parse_seconds(text);
    if (!seconds || *seconds <= 0)
        throw UsageError(
            fmt::format("{}: expected a time with a unit (500ms, 0.5s), got \"{}\"", flag, text));
    return *seconds;
}

LengthShape parse_shape(const std::string& text) {
    return text == "uniform"       ? LengthShape::uniform
           : text == "exponential" ? LengthShape::exponential
                                   : LengthShape::constant;
}

struct ServeOptions {
    bool whole_prompts = false, no_prefix_cache = false, frontier = false;
    std::string shape = "constant", length_range, lengths, ttft, tpot, e2e, request_time;
    std::vector<std::string> hardware, parallel;
    std::vector<std::string> devices;
    std::int64_t context = 0;
    cli::ModelOption model;
    cli::QuestionOptions question;
    ServingRequest request;

    void add_to(cli::Flags& flags) {
        model.add_to(flags);
        flags.add_option("--hardware", hardware, "devices: NAME, NAME@MODE or a device file")
            .value_named("DEVICE")
            .required();
        add_load(flags);
        add_engine(flags);
        question.add_to(flags,
                        {.without = {"batch_size", "steps", "image_size", "frames", "prompt_tokens",
                                     "generate_tokens", "context", "sampling", "parallel", "devices"}});
        const char* sharing = "Language models and several devices";
        flags
            .add_option("--parallel", parallel,
                        "how devices share the model, such as tp=4,pp=2,dp=2,ep=8; repeatable (default: the "
                        "fewest that hold it)")
            .value_named("WAYS")
            .in_group(sharing);
        flags
            .add_option("--devices", devices,
                        "the same as --parallel tp=N, for each count; auto: the fewest that hold it")
            .value_named("N")
            .in_group(sharing);
        flags
            .add_option("--ttft-p99", ttft,
                        "limit: the highest rate whose P99 time to first token stays below, 500ms")
            .value_named("TIME");
        flags.add_option("--tpot-p99", tpot, "limit on the P99 time per output token, 40ms")
            .value_named("TIME");
        flags.add_flag("--frontier", frontier,
                       "requests in flight from 1 on, on every device and every --parallel (default: 1, 2, 4 "
                       "and 8 devices): throughput against the speed that a user sees");
        flags.add_option("--e2e-p99", e2e, "limit on the P99 time of a whole answer, 10s")
            .value_named("TIME");
    }

    ServiceLevel level() const {
        return {parse_time(ttft, "--ttft-p99"), parse_time(tpot, "--tpot-p99"), parse_time(e2e, "--e2e-p99")};
    }

    void finish() {
        request.load.shape = parse_shape(shape);
        if (!length_range.empty())
            read_range();
        request.plan.engine.chunked = !whole_prompts;
        request.plan.engine.prefix_cache = !no_prefix_cache;
        request.plan.request_s = parse_time(request_time, "--request-time");
        if (!lengths.empty())
            request.load.lengths = read_request_lengths(lengths);
        for (const std::string& count : devices)
            if (count != "auto") // as without the flag
                parallel.push_back("tp=" + count);
        if (context > 0)
            reserve_context();
        if (!(request.load.rate_per_s >= 0) || !(request.load.prompt_tokens >= 1) ||
            !(request.load.output_tokens >= 1) || request.plan.engine.draft_cost < 0)
            throw UsageError("--rate and --draft-cost must not be negative, lengths not below one token");
        check_load();
    }

  private:
    /// One load: what another of them would leave aside is refused.
    void check_load() const {
        std::vector<std::string> loads;
        if (request.load.rate_per_s > 0)
            loads.emplace_back("--rate");
        if (request.plan.concurrency > 0)
            loads.emplace_back("--concurrency");
        if (frontier)
            loads.emplace_back("--frontier");
        if (level().any())
            loads.emplace_back("limits on P99 (the highest rate that meets them)");
        if (loads.empty())
            throw UsageError(
                "give a load: --rate, --concurrency, --frontier, or limits such as --ttft-p99 500ms");
        if (loads.size() > 1)
            throw UsageError(fmt::format("give one load: {} and {} exclude each other", loads[0], loads[1]));
        const EngineLimits& engine = request.plan.engine;
        if (engine.drafted == 0 && (engine.accepted > 0 || engine.draft_cost > 0))
            throw UsageError("--accepted and --draft-cost: only with --drafted");
        if ((engine.wait_tokens > 0) != (engine.wait_steps > 0))
            throw UsageError("--wait-tokens and --wait-steps: give both or neither");
        if (!lengths.empty() && (shape != "constant" || !length_range.empty()))
            throw UsageError("--lengths: the file has the lengths; no --shape or --length-range beside it");
    }

    /// One block for every sequence, as engines without a paged cache keep it.
    void reserve_context() {
        RequestPlan& load = request.load;
        const double longest = (load.prompt_tokens + load.output_tokens) *
                               (load.shape == LengthShape::uniform ? load.longest : 1.0);
        if (static_cast<double>(context) < longest)
            throw UsageError(fmt::format("--context: {} positions do not hold a prompt and its answer of up "
                                         "to {:.0f}",
                                         context, longest));
        request.plan.engine.block_tokens = context;
    }

    void read_range() {
        const std::size_t comma = std::min(length_range.find(','), length_range.size() - 1);
        const auto read = [&](std::size_t from, std::size_t to, double& value) {
            const auto [end, problem] =
                std::from_chars(length_range.data() + from, length_range.data() + to, value);
            return problem == std::errc() && end == length_range.data() + to && value > 0;
        };
        RequestPlan& load = request.load;
        if (!read(0, comma, load.shortest) || !read(comma + 1, length_range.size(), load.longest) ||
            load.longest < load.shortest)
            throw UsageError(
                fmt::format("--length-range: \"{}\" is no pair of parts in ascending order, such as 0.8,1",
                            length_range));
        if (load.shape != LengthShape::uniform)
            throw UsageError("--length-range is the range of --shape uniform");
    }

    void add_load(cli::Flags& flags) {
        RequestPlan& load = request.load;
        flags.add_option("--rate", load.rate_per_s, "requests per second, Poisson arrivals")
            .value_named("RATE");
        flags.add_option("--concurrency", request.plan.concurrency, "requests in flight, instead of a rate")
            .within(1, 1 << 20);
        flags.add_option("--requests", load.count, "requests to simulate").within(1, 1 << 24).show_default();
        flags.add_option("--prompt-tokens", load.prompt_tokens, "mean length of prompts").show_default();
        flags.add_option("--output-tokens,--generate-tokens", load.output_tokens, "mean length of answers")
            .show_default();
        flags
            .add_option("--shape", shape,
                        "spread of lengths: constant, uniform (over --length-range), exponential")
            .one_of({"constant", "uniform", "exponential"})
            .show_default();
        flags
            .add_option("--length-range", length_range,
                        "ends of the uniform spread as parts of the lengths: 0.8,1 (default: 0.5,1.5)")
            .value_named("LOW,HIGH");
        flags.add_option("--lengths", lengths, "CSV file with prompt_tokens and output_tokens to draw from");
        flags
            .add_option("--distinct-prompts", load.distinct_prompts,
                        "prompts that repeat in turn (default: 0, none repeats)")
            .within(0, 1 << 24)
            .in_group("Engine");
        flags.add_option("--seed", load.seed, "of arrivals, lengths and accepted drafts")
            .show_default()
            .in_group("Engine");
    }

    void add_engine(cli::Flags& flags) {
        EngineLimits& engine = request.plan.engine;
        flags
            .add_option("--context", context,
                        "positions reserved for every sequence, as engines without a paged cache do "
                        "(default: blocks of --block-tokens, as they fill)")
            .within(1, 1 << 24)
            .in_group("Engine");
        flags.add_option("--max-sequences", engine.sequences, "sequences that run at once")
            .within(1, 1 << 20)
            .show_default()
            .in_group("Engine");
        flags
            .add_option("--step-tokens", engine.step_tokens,
                        "tokens of one step; longer prompts are cut into chunks")
            .within(1, 1 << 24)
            .show_default()
            .in_group("Engine");
        flags.add_option("--block-tokens", engine.block_tokens, "positions per block of the cache")
            .within(1, 1 << 16)
            .show_default()
            .in_group("Engine");
        flags.exclude("--context", "--block-tokens");
        flags.add_flag("--whole-prompts", whole_prompts, "process every prompt in one step")
            .in_group("Engine");
        flags
            .add_flag("--whole-graph", engine.whole_graph,
                      "the model is compiled as one graph and captured for steps without prompts alone (vLLM "
                      "with FULL_DECODE_ONLY and no splitting_ops)")
            .in_group("Engine");
        flags
            .add_option("--wait-tokens", engine.wait_tokens,
                        "part of --step-tokens that prompts wait for while others generate (with "
                        "--wait-steps)")
            .value_named("SHARE")
            .in_group("Engine");
        flags.add_option("--wait-steps", engine.wait_steps, "steps that prompts wait at most for others")
            .within(0, 1 << 16)
            .in_group("Engine");
        flags
            .add_option("--request-time", request_time,
                        "of the server for each request beside its steps: parsing, tokens, hand-over; 20ms")
            .value_named("TIME")
            .in_group("Engine");
        flags
            .add_option("--prefix-hit", engine.prefix_hit,
                        "part of every prompt that is in the cache already")
            .value_named("SHARE")
            .in_group("Engine");
        flags.add_flag("--no-prefix-cache", no_prefix_cache, "compute prompts again that repeat")
            .in_group("Engine");
        flags
            .add_option("--drafted", engine.drafted,
                        "tokens that a drafter proposes per step (speculative decoding)")
            .within(0, 1 << 10)
            .in_group("Engine");
        flags.add_option("--accepted", engine.accepted, "probability that a drafted token is right")
            .value_named("SHARE")
            .in_group("Engine");
        flags
            .add_option("--draft-cost", engine.draft_cost, "a drafted token's time as part of a plain step's")
            .value_named("SHARE")
            .in_group("Engine");
        flags
            .add_option("--prompt-devices", request.prompt_devices,
                        "devices for prompts alone; their caches are handed over")
            .within(0, 1 << 12)
            .in_group("Engine");
    }
};

} // namespace

int main(int argc, char** argv) {
    ServeOptions serve;
    cli::OutputOptions output;
    cli::SaveOptions save;
    const auto setup = [&](cli::Flags& flags) {
        serve.add_to(flags);
        output.add_order_to(flags);
        output.add_to(flags, "text, markdown, json, csv, html");
        save.add_to(flags, argc, argv);
    };
    const auto body = [&] {
        serve.finish();
        const ServiceLevel level = serve.level();
        const Session session = serve.question.open();
        const Model model = session.load(serve.model.taken("serve_model"));
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
        save.save_rows(rows);
        const Format format = output.chosen();
        if (format == Format::json) {
            output.emit(serving_json(results));
        } else {
            const Report report = output.ordered(format == Format::csv ? tabulate_serving(results)
                                                 : serve.frontier      ? describe_frontier(results)
                                                                       : describe_serving(results, level));
            output.emit(render(report, format, output.render_options()));
        }
        const bool any =
            std::any_of(results.begin(), results.end(), [](const ServingResult& r) { return r.ok; });
        return static_cast<int>(any ? cli::Exit::ok : cli::Exit::nothing);
    };
    return cli::run_tool(argc, argv, "serve_model", "Serves a language model under load, by estimate.",
                         kExamples, setup, body);
}
