#include "answers/serving/serving_report.hpp"
#include "archsim/core/version.hpp"
#include "report/render/answer_document.hpp"

#include <cmath>
#include <fmt/format.h>

namespace archsim {

std::string serving_trace(const ServingResult& result, std::span<const ServedStep> steps) {
    using Json = nlohmann::ordered_json;
    // Viewers count whole nanoseconds and drop slices that overlap: both ends are rounded, so that what
    // touches does.
    const auto nanoseconds = [](double seconds) { return std::round(1e9 * seconds); };
    Json events = Json::array();
    const auto name = [&](const char* what, std::size_t thread, const std::string& text) {
        events.push_back(
            {{"name", what}, {"ph", "M"}, {"pid", 1}, {"tid", thread}, {"args", {{"name", text}}}});
    };
    const auto slice = [&](std::string what, std::size_t thread, double from, double to, Json arguments) {
        if (to > from)
            events.push_back({{"name", std::move(what)},
                              {"ph", "X"},
                              {"ts", from / 1e3},
                              {"dur", (to - from) / 1e3},
                              {"pid", 1},
                              {"tid", thread},
                              {"args", std::move(arguments)}});
    };
    name("process_name", 0, fmt::format("{} on {}", result.model, result.hardware));
    std::vector<double> ends; // of the engines: a step is on the first that is free
    for (const ServedStep& step : steps) {
        const double from = nanoseconds(step.begins_s), to = nanoseconds(step.begins_s + step.cost.seconds);
        std::size_t engine = 0;
        while (engine < ends.size() && ends[engine] > from)
            ++engine;
        if (engine == ends.size()) {
            ends.push_back(0);
            name("thread_name", engine + 1, fmt::format("engine {}", engine + 1));
        }
        ends[engine] = to;
        const StepLoad& load = step.load;
        slice(fmt::format("{} generate, {} prompts", load.sequences, load.prompts), engine + 1, from, to,
              {{"sequences", load.sequences},
               {"mean_context", load.context},
               {"prompts", load.prompts},
               {"prompt_tokens", load.prompt_tokens},
               {"energy_j", step.cost.joules}});
        slice("prompts", engine + 1, from,
              std::min(to, nanoseconds(step.begins_s + step.cost.prompt_seconds)), Json::object());
    }
    return document_text({{"displayTimeUnit", "ns"},
                          {"otherData",
                           {{"model", result.model},
                            {"hardware", result.hardware},
                            {"steps", steps.size()},
                            {"made_by", fmt::format("libarchsim {}", version())}}},
                          {"traceEvents", std::move(events)}});
}

} // namespace archsim
