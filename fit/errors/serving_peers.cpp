#include "fit/errors/serving_peers.hpp"

#include "archsim/core/finding.hpp"
#include "archsim/run/serve.hpp"
#include "core/data_dir.hpp"
#include "core/in_parallel.hpp"
#include "core/parse_number.hpp"
#include "fit/rows/measurements.hpp"
#include "fit/rows/validate.hpp"
#include "result/format_parts.hpp"
#include "session/server/server.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace archsim {

constexpr double kMillisecondsPerSecond = 1e3;
constexpr std::string_view kPredictedBy = "by ";
constexpr double kLongestStage = 1e4; // seconds

/// The run that a row was measured in.
static ServingRequest request_of(const NamedTable& table, std::size_t row) {
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
static std::optional<double> value_of(const ServingSummary& s, std::string_view metric) {
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

static double median_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.empty() ? 0 : values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// The time of a request beside the engine, from the rows of other models than `without`: the mean over
/// models of the median by which mean times to the first token were longer than without it. In milliseconds.
static double request_ms(const std::map<std::string, std::vector<double>>& longer,
                         const std::string& without) {
    double sum = 0, count = 0;
    for (const auto& [model, by] : longer)
        if (model != without) {
            sum += median_of(by);
            ++count;
        }
    return count > 0 ? std::max(0.0, sum / count) : 0;
}

static std::int64_t whole_number(const NamedTable& table, std::size_t row, std::string_view column) {
    constexpr double kMost = 1e6;
    const double value = table.number(row, column);
    if (value > kMost || value != std::floor(value))
        throw InputError(
            fmt::format("{}: {}: {:g} is no whole number up to a million", table.where(row), column, value));
    return static_cast<std::int64_t>(value);
}

/// The columns whose names begin so.
static Parallelism way_in(const NamedTable& table, std::size_t row, const std::string& of) {
    Parallelism way{.tensor = whole_number(table, row, of + "tensor"),
                    .pipeline = whole_number(table, row, of + "pipeline"),
                    .experts = whole_number(table, row, of + "experts")};
    if (table.has(of + "engines"))
        way.data = whole_number(table, row, of + "engines");
    if (way.experts > 1 && way.experts % way.tensor != 0)
        throw InputError(fmt::format("{}: {}experts: {} is no multiple of {}tensor, {}", table.where(row), of,
                                     way.experts, of, way.tensor));
    return way;
}

static LayoutRow layout_row(const NamedTable& table, std::size_t row) {
    LayoutRow out{.model = table.text(row, "model"),
                  .hardware = table.text(row, "hardware"),
                  .runtime = table.text(row, "runtime"),
                  .precision = table.text(row, "precision"),
                  .source = table.text(row, "source")};
    if (table.has("version"))
        out.version = table.text(row, "version");
    if (table.has("client"))
        out.client = table.text(row, "client");
    out.way = way_in(table, row, "");
    if (table.has("prompt_tensor") && !table.text(row, "prompt_tensor").empty())
        out.prompts = way_in(table, row, "prompt_");
    out.prompt_tokens = whole_number(table, row, "prompt_tokens");
    out.output_tokens = whole_number(table, row, "output_tokens");
    out.in_flight = whole_number(table, row, "in_flight");
    out.measured = {table.number(row, "ttft_ms"), table.number(row, "tpot_ms")};
    return out;
}

static MeasuredRow as_measured_row(const LayoutRow& row) {
    return {.model = row.model,
            .batch = static_cast<int>(row.in_flight),
            .precision = row.precision,
            .hardware = row.hardware,
            .devices = static_cast<double>(row.way.devices()),
            .runtime = row.runtime,
            .prompt_tokens = std::to_string(row.prompt_tokens),
            .generated_tokens = std::to_string(row.output_tokens),
            .client = row.client,
            .variant = row.version};
}

/// Rows of one engine, which differ in the requests in flight: its steps are priced once.
static void estimate_rows(const Session& session, std::vector<LayoutRow>& rows,
                          const std::vector<std::size_t>& members) {
    const LayoutRow& first = rows[members.front()];
    const auto fail = [&](const std::string& reason) {
        for (const std::size_t i : members)
            rows[i].problem = reason;
    };
    try {
        const std::filesystem::path benchmarks = data_table("server_benchmarks.json");
        const ServedProtocol protocol = protocol_of(as_measured_row(first), benchmarks);
        ServingRequest request = request_of(protocol, first.in_flight);
        request.parallelism = first.way;
        request.prompt_parallelism = first.prompts;
        Conditions conditions{.stack = MeasuredStacks(session.hardware()).of(as_measured_row(first))};
        if (!first.precision.empty())
            conditions.precision = precision_named(first.precision);
        conditions.kv_cache =
            protocol.kv_cache
                ? protocol.kv_cache
                : published_cache(*session.hardware().runtime(conditions.stack), conditions.precision);
        const Model model = session.load(first.model);
        Server server(session, model, first.hardware, conditions, request);
        if (!server.ready()) {
            fail(server.basis().reason);
            return;
        }
        const Machine& machine = server.prices().machine();
        const Spread waits = waiting_spread(machine, SpreadOf::first_token, protocol.defaults);
        const Spread steps = waiting_spread(machine, SpreadOf::later_token, protocol.defaults);
        const Family family = machine.device->family;
        for (const std::size_t i : members) {
            LayoutRow& row = rows[i];
            row.network = model.name();
            row.by_default = protocol.defaults;
            row.family = name_of(family);
            ServingPlan plan = server.plan();
            plan.concurrency = row.in_flight;
            // Scripts start the server anew for every number in flight.
            const ServedProtocol own = protocol_of(as_measured_row(row), benchmarks);
            plan.engine.wait_tokens = own.wait_tokens;
            plan.engine.wait_steps = own.wait_steps;
            plan.engine.poll_steps = own.poll_steps;
            if (own.balance_steps > 0 && row.way.groups() > 1) {
                plan.engine.wait_prompts = row.way.groups();
                plan.engine.wait_steps = own.balance_steps;
            }
            const RequestPlan load = request_of(protocol, row.in_flight).load;
            const ServingOutcome run =
                simulate_serving(plan, server.prices(), make_requests(load), server.prompt_prices());
            if (run.output_tokens == 0 || !server.prices().problem().empty()) {
                row.problem =
                    run.output_tokens == 0 ? "no request fits into the cache" : server.prices().problem();
                continue;
            }
            const MeanWaits ours = mean_waits(run, own, row.in_flight);
            row.ours = ours;
            row.low = {ours.first_ms * waits.low, ours.token_ms * steps.low};
            row.high = {ours.first_ms * waits.high, ours.token_ms * steps.high};
        }
    } catch (const Error& problem) {
        fail(problem.what());
    }
}

static std::vector<std::vector<std::size_t>> rows_by_engine(const std::vector<LayoutRow>& rows) {
    std::map<std::string, std::vector<std::size_t>> by;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const LayoutRow& r = rows[i];
        by[fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", r.model, r.hardware, r.runtime, r.version,
                       r.precision, to_string(r.way), r.prompts ? to_string(*r.prompts) : "", r.prompt_tokens,
                       r.output_tokens, r.client)]
            .push_back(i);
    }
    std::vector<std::vector<std::size_t>> out;
    for (auto& [key, members] : by)
        out.push_back(std::move(members));
    return out;
}

/// Among the rows within a limit by `waits`, the one with the most tokens of a device, of a layout where one
/// is named.
template <class Waits>
static std::optional<std::size_t> most_tokens(const std::vector<LayoutRow>& rows, const LayoutGroup& group,
                                              const Parallelism* way, Waits&& waits) {
    std::optional<std::size_t> best;
    for (const std::size_t i : group.rows)
        if (waits(rows[i]).token_ms <= group.limit_ms && (way == nullptr || rows[i].way == *way) &&
            (!best ||
             rows[i].tokens_per_device(waits(rows[i])) > rows[*best].tokens_per_device(waits(rows[*best]))))
            best = i;
    return best;
}

static void judge_group(const std::vector<LayoutRow>& rows, LayoutGroup& group) {
    const auto measured = [](const LayoutRow& row) { return row.measured; };
    const auto ours = [](const LayoutRow& row) { return *row.ours; };
    group.best = most_tokens(rows, group, nullptr, measured);
    group.chosen = most_tokens(rows, group, nullptr, ours);
    if (!group.chosen) // none within the limit: what is nearest to it
        group.chosen = *std::ranges::min_element(
            group.rows, [&](auto a, auto b) { return ours(rows[a]).token_ms < ours(rows[b]).token_ms; });
    if (!group.best)
        return;
    if (const auto own = most_tokens(rows, group, &rows[*group.chosen].way, measured))
        group.share = rows[*own].tokens_per_device(rows[*own].measured) /
                      rows[*group.best].tokens_per_device(rows[*group.best].measured);
}

static std::vector<LayoutGroup> layout_groups(const std::vector<LayoutRow>& rows) {
    std::map<std::tuple<std::string, std::string, std::string, std::string, std::int64_t, std::int64_t>,
             std::vector<std::size_t>>
        alike;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (const LayoutRow& r = rows[i]; r.ours)
            alike[{r.model, r.hardware, r.runtime, r.precision, r.prompt_tokens, r.output_tokens}].push_back(
                i);
    std::vector<LayoutGroup> groups;
    for (const auto& [key, found] : alike) {
        const std::vector<std::size_t>& members = found;
        const bool several = std::ranges::any_of(
            members, [&](std::size_t i) { return !(rows[i].way == rows[members.front()].way); });
        if (!several)
            continue;
        std::vector<double> tokens;
        for (const std::size_t i : members)
            tokens.push_back(rows[i].measured.token_ms);
        std::sort(tokens.begin(), tokens.end());
        for (const double quartile : {0.25, 0.5, 0.75}) {
            LayoutGroup group{.rows = members, .limit_ms = quantile(tokens, quartile)};
            judge_group(rows, group);
            groups.push_back(std::move(group));
        }
    }
    return groups;
}

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
            PeerRow row{.run = table.text(i, "experiment") + "." + table.text(i, "stage"),
                        .model = table.text(i, "model"),
                        .metric = table.text(i, "metric"),
                        .measured = table.number(i, "measured")};
            row.predicted.resize(out.simulators.size());
            if (!shipped.contains(row.run)) {
                const auto before = std::chrono::steady_clock::now();
                Conditions conditions{.precision = precision_named(table.text(i, "precision")),
                                      .stack = table.text(i, "runtime")};
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

double LayoutRow::tokens_per_device(const MeanWaits& waits) const {
    const auto tokens = static_cast<double>(output_tokens);
    const double seconds = (waits.first_ms + (tokens - 1) * waits.token_ms) / kMillisecondsPerSecond;
    return static_cast<double>(in_flight) * tokens / seconds / static_cast<double>(way.devices());
}

ServingLayouts compare_serving_layouts(const Session& session, const std::string& file,
                                       const std::function<void(std::size_t, std::size_t)>& progress) {
    const NamedTable table(file);
    ServingLayouts out;
    for (std::size_t i = 0; i < table.rows(); ++i)
        out.rows.push_back(layout_row(table, i));
    const std::vector<std::vector<std::size_t>> engines = rows_by_engine(out.rows);
    std::atomic<std::size_t> done = 0;
    in_parallel(engines.size(), all_threads(), [&](std::size_t i) {
        estimate_rows(session, out.rows, engines[i]);
        const std::size_t all = done += engines[i].size();
        if (progress)
            progress(all, out.rows.size());
    });
    out.groups = layout_groups(out.rows);
    return out;
}

std::vector<ErrorRow> served_errors(const ServingLayouts& layouts) {
    std::vector<ErrorRow> errors;
    for (const LayoutRow& row : layouts.rows) {
        if (!row.ours)
            continue;
        const auto add = [&](SpreadOf metric, double measured, double ours) {
            errors.push_back({.family = row.family,
                              .runtime = row.runtime,
                              .device = row.hardware,
                              .model = row.network,
                              .metric = metric,
                              .value = std::log(measured / ours)});
        };
        add(row.by_default ? SpreadOf::default_first_token : SpreadOf::first_token, row.measured.first_ms,
            row.ours->first_ms);
        add(row.by_default ? SpreadOf::default_later_token : SpreadOf::later_token, row.measured.token_ms,
            row.ours->token_ms);
    }
    return errors;
}

bool is_serving_layouts(const std::string& file) {
    const NamedTable table(file);
    return table.has("tpot_ms") && table.has("in_flight");
}

} // namespace archsim
