#pragma once
// Serving runs as report blocks and as a JSON document.
//
//   Serving qwen3-8b: 2 requests/s
//   Hardware  Parallel  Capacity  TTFT P50  P99  Per token P50  P99  Output     Busy  Power  Output Cost
//                       req/s     ms        ms   ms             ms   tokens/s   %     W      J/M tokens USD/M
//   H100      1 chip    18.2      42        97   7.1            8.8  256        31 310    1.2e6         2.4

#include "archsim/extend/renderer.hpp"
#include "archsim/run/serve.hpp"
#include "archsim/serving/serving_result.hpp"
#include "fields/json_members.hpp"

#include <fmt/format.h>
#include <span>
#include <string>
#include <vector>

namespace archsim {

/// "Less sure: on H100, mixtures of experts such as mixtral-8x7b took 0.66 to 2.2 times as long as estimated
/// here.": of a run whose steps measurements refute.
inline std::string less_sure_text(const ServingResult& run) {
    return fmt::format("Less sure: on {}, {}.", run.hardware, run.steps_refuted);
}

/// One row per run, and below it what each run says of load and waiting; with several runs a chart of
/// throughput against waiting.
Report describe_serving(std::span<const ServingResult> results, const ServiceLevel& level);
/// A sweep over requests in flight, ways to share the model and devices: a chart of tokens per second of a
/// chip against those of a user, and the runs that no other beats in both.
Report describe_frontier(std::span<const ServingResult> results);
/// The table alone.
Report tabulate_serving(std::span<const ServingResult> results);
/// The question asked of servers: the same for every result but for its device and how devices share the
/// model.
struct ServedQuestion {
    std::string model;
    std::vector<std::string> hardware;
    Conditions conditions; ///< with the formats that are meant
    ServingRequest request;
    ServiceLevel level = {};                ///< limits whose highest rate was searched
    std::vector<std::string> parallel = {}; ///< how devices share the model, each in turn; empty: the request
    std::vector<std::string> devices = {};  ///< counts that share the model as its stack does, then
    bool frontier = false;                  ///< requests in flight were swept
};
ServedQuestion served_question(const Model& model, std::vector<std::string> hardware,
                               const Conditions& conditions, ServingRequest request, ServiceLevel level = {});
/// The answer in a few sentences.
std::vector<std::string> serving_lines(std::span<const ServingResult> results, const ServedQuestion& asked);
/// Everything, keys with units.
std::string serving_json(std::span<const ServingResult> results, const ServedQuestion& asked);

/// A step that ServingPlan::on_step was told of.
struct ServedStep {
    double begins_s = 0;
    StepLoad load;
    StepCost cost;
};
/// The steps of a run as trace events, which Perfetto draws: a track for each engine, on it its steps, in
/// them what their prompts add.
std::string serving_trace(const ServingResult& result, std::span<const ServedStep> steps);

/// Members of one engine.
Members<Parallelism> engine_parallelism_members();
/// With the engines beside each other.
Members<Parallelism> parallelism_members();

} // namespace archsim
