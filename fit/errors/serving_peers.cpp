#include "fit/errors/serving_peers.hpp"

#include "archsim/core/finding.hpp"
#include "archsim/run/serve.hpp"
#include "core/csv_reader.hpp"
#include "core/parse_number.hpp"
#include "fit/rows/measurements.hpp"
#include "result/format_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>

namespace archsim {

namespace {

constexpr double kMillisecondsPerSecond = 1e3;
constexpr std::string_view kPredictedBy = "by ";
constexpr double kLongestStage = 1e4; // seconds

/// The run that a row was measured in.
ServingRequest request_of(const NamedTable& table, std::size_t row) {
    ServingRequest request;
    RequestPlan& load = request.load;
    load.rate_per_s = table.number(row, "rate_per_s");
    load.prompt_tokens = table.number(row, "prompt_tokens");
    load.output_tokens = table.number(row, "output_tokens");
    const std::string& arrivals = table.text(row, "arrivals");
    if (arrivals != "constant" && arrivals != "poisson")
        throw InputError(
            fmt::format("{}: arrivals: \"{}\" is neither constant nor poisson", table.where(row), arrivals));
    load.arrivals = arrivals == "constant" ? Arrivals::constant : Arrivals::poisson;
    const auto whole = [&](std::string_view column) {
        return static_cast<std::int64_t>(table.number(row, column));
    };
    load.distinct_prompts = whole("distinct_prompts");
    if (table.has("system_prompts")) {
        load.system_prompts = whole("system_prompts");
        load.system_tokens = whole("system_tokens");
    }
    // A stage goes through the prompts again and again. One that follows another finds them in the cache: so
    // many passes before it is counted.
    constexpr std::int64_t kPasses = 4;
    const std::string& stage = table.text(row, "stage");
    request.plan.warm_up = stage == "0" ? 0 : kPasses * load.distinct_prompts;
    load.count = request.plan.warm_up +
                 std::llround(load.rate_per_s * std::min(kLongestStage, table.number(row, "stage_s")));
    request.plan.engine.step_tokens = whole("step_tokens");
    request.plan.engine.sequences = whole("max_sequences");
    request.parallelism = Parallelism{.tensor = whole("tensor_parallel")};
    request.find_capacity = false;
    return request;
}

/// "ttft_p99_ms" of a run, in milliseconds; nothing for a metric that is none.
std::optional<double> value_of(const ServingSummary& s, std::string_view metric) {
    const std::size_t first = metric.find('_'), last = metric.rfind('_');
    if (first == std::string_view::npos || first == last || metric.substr(last) != "_ms")
        return std::nullopt;
    const std::string_view what = metric.substr(0, first), part = metric.substr(first + 1, last - first - 1);
    const Percentiles* times = what == "ttft"  ? &s.time_to_first_s
                               : what == "itl" ? &s.time_per_token_s
                               : what == "e2e" ? &s.end_to_end_s
                                               : nullptr;
    const double Percentiles::*at = part == "mean"  ? &Percentiles::mean
                                    : part == "p50" ? &Percentiles::p50
                                    : part == "p90" ? &Percentiles::p90
                                    : part == "p99" ? &Percentiles::p99
                                                    : nullptr;
    if (times == nullptr || at == nullptr)
        return std::nullopt;
    return kMillisecondsPerSecond * times->*at;
}

double median_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.empty() ? 0 : values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// What the rows of other models than `without` ask a request to take beside the engine: the mean over models
/// of the median by which mean times to the first token were longer than without it. In milliseconds.
double request_ms(const std::map<std::string, std::vector<double>>& longer, const std::string& without) {
    double sum = 0, count = 0;
    for (const auto& [model, by] : longer)
        if (model != without) {
            sum += median_of(by);
            ++count;
        }
    return count > 0 ? std::max(0.0, sum / count) : 0;
}

} // namespace

ServingPeers compare_serving_peers(const Session& session, const std::vector<std::string>& files) {
    ServingPeers out;
    out.simulators = {"archsim", "archsim, model left out"};
    std::vector<std::function<ServingResult(double)>> runs; // with so much time outside the engine
    std::vector<std::size_t> run_of;                        // by row
    std::map<std::string, std::vector<double>> longer;
    for (const std::string& file : files) {
        const NamedTable table(file);
        std::map<std::string, ServingResult> shipped, without;
        std::map<std::string, std::size_t> places;              // of runs
        std::vector<std::pair<std::size_t, std::size_t>> peers; // column, and place among the simulators
        for (std::size_t column = 0; column < table.head().size(); ++column)
            if (const std::string& name = table.head()[column]; name.starts_with(kPredictedBy)) {
                const std::string who = name.substr(kPredictedBy.size());
                const auto known = std::find(out.simulators.begin(), out.simulators.end(), who);
                peers.emplace_back(column, static_cast<std::size_t>(known - out.simulators.begin()));
                if (known == out.simulators.end())
                    out.simulators.push_back(who);
            }
        for (std::size_t i = 0; i < table.rows(); ++i) {
            PeerRow row;
            row.run = table.text(i, "experiment") + "." + table.text(i, "stage");
            row.model = table.text(i, "model");
            row.metric = table.text(i, "metric");
            row.measured = table.number(i, "measured");
            row.predicted.resize(out.simulators.size());
            if (!shipped.contains(row.run)) {
                const auto before = std::chrono::steady_clock::now();
                Conditions conditions;
                conditions.precision = precision_named(table.text(i, "precision"));
                conditions.stack = table.text(i, "runtime");
                const auto serve = [&session, conditions, model = session.load(row.model),
                                    hardware = table.text(i, "hardware"),
                                    request = request_of(table, i)](double request_s) {
                    ServingRequest asked = request;
                    asked.plan.request_s = request_s;
                    return run_serving(session, model, hardware, conditions, asked);
                };
                constexpr double kOfTheStack = -1;
                shipped[row.run] = serve(kOfTheStack);
                if (!shipped[row.run].ok)
                    out.problems.push_back(fmt::format("run {}: {}", row.run, shipped[row.run].reason));
                const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
                out.seconds += took.count();
                without[row.run] = serve(0);
                places[row.run] = runs.size();
                runs.emplace_back(serve);
            }
            run_of.push_back(places[row.run]);
            if (const ServingResult& run = shipped[row.run]; run.ok) {
                row.predicted[0] = value_of(run.summary, row.metric);
                if (!row.predicted[0])
                    throw InputError(
                        fmt::format("{}: metric: \"{}\" is none that is known, such as ttft_p99_ms",
                                    table.where(i), row.metric));
                if (row.metric == "ttft_mean_ms")
                    longer[row.model].push_back(row.measured -
                                                *value_of(without[row.run].summary, row.metric));
            }
            for (const auto& [column, place] : peers)
                if (!table.cell(i, column).empty())
                    row.predicted[place] = parse_real(table.cell(i, column));
            out.rows.push_back(std::move(row));
        }
    }
    std::map<std::size_t, ServingResult> left_out; // by run, with what the other models ask for
    for (std::size_t i = 0; i < out.rows.size(); ++i) {
        PeerRow& row = out.rows[i];
        row.predicted.resize(out.simulators.size());
        if (!row.predicted[0])
            continue;
        if (!left_out.contains(run_of[i]))
            left_out[run_of[i]] = runs[run_of[i]](request_ms(longer, row.model) / kMillisecondsPerSecond);
        row.predicted[1] = value_of(left_out[run_of[i]].summary, row.metric);
    }
    out.models = longer.size();
    out.request_s = request_ms(longer, "") / kMillisecondsPerSecond;
    double sum = 0;
    for (const auto& [model, by] : longer)
        sum += std::abs(median_of(by) - request_ms(longer, model));
    out.request_error_s =
        longer.empty() ? 0 : sum / static_cast<double>(longer.size()) / kMillisecondsPerSecond;
    return out;
}

} // namespace archsim
