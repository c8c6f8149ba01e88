#include "fit/errors/serving_peers.hpp"

#include "archsim/core/finding.hpp"
#include "core/data_dir.hpp"
#include "core/in_parallel.hpp"
#include "fit/errors/quantile.hpp"
#include "fit/rows/measurements.hpp"
#include "result/format_parts.hpp"
#include "session/server/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <tuple>

namespace archsim {

namespace {

constexpr double kLayoutMilliseconds = 1e3;

std::int64_t whole_number(const NamedTable& table, std::size_t row, std::string_view column) {
    constexpr double kMost = 1e6;
    const double value = table.number(row, column);
    if (value > kMost || value != std::floor(value))
        throw InputError(
            fmt::format("{}: {}: {:g} is no whole number up to a million", table.where(row), column, value));
    return static_cast<std::int64_t>(value);
}

/// The columns whose names begin so.
Parallelism way_in(const NamedTable& table, std::size_t row, const std::string& of) {
    Parallelism way;
    way.tensor = whole_number(table, row, of + "tensor");
    way.pipeline = whole_number(table, row, of + "pipeline");
    way.experts = whole_number(table, row, of + "experts");
    if (table.has(of + "engines"))
        way.data = whole_number(table, row, of + "engines");
    if (way.experts > 1 && way.experts % way.tensor != 0)
        throw InputError(fmt::format("{}: {}experts: {} is no multiple of {}tensor, {}", table.where(row), of,
                                     way.experts, of, way.tensor));
    return way;
}

LayoutRow layout_row(const NamedTable& table, std::size_t row) {
    LayoutRow out;
    out.model = table.text(row, "model");
    out.hardware = table.text(row, "hardware");
    out.runtime = table.text(row, "runtime");
    out.precision = table.text(row, "precision");
    out.source = table.text(row, "source");
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

MeasuredRow as_measured_row(const LayoutRow& row) {
    MeasuredRow told;
    told.model = row.model;
    told.runtime = row.runtime;
    told.hardware = row.hardware;
    told.devices = static_cast<double>(row.way.devices());
    told.precision = row.precision;
    told.client = row.client;
    told.batch = static_cast<int>(row.in_flight);
    told.prompt_tokens = std::to_string(row.prompt_tokens);
    told.generated_tokens = std::to_string(row.output_tokens);
    return told;
}

/// Rows of one engine, which differ in the requests in flight: its steps are priced once.
void estimate_rows(const Session& session, std::vector<LayoutRow>& rows,
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
        Conditions conditions;
        conditions.stack = first.runtime;
        if (!first.precision.empty())
            conditions.precision = precision_named(first.precision);
        conditions.kv_cache =
            published_cache(*session.hardware().runtime(conditions.stack), conditions.precision);
        const Model model = session.load(first.model);
        Server server(session, model, first.hardware, conditions, request);
        if (!server.ready()) {
            fail(server.basis().reason);
            return;
        }
        const Spread waits = waiting_spread(server.prices().machine(), SpreadOf::first_token);
        const Spread steps = waiting_spread(server.prices().machine(), SpreadOf::later_token);
        const Family family = server.prices().machine().device->family;
        for (const std::size_t i : members) {
            LayoutRow& row = rows[i];
            row.network = model.name();
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

std::vector<std::vector<std::size_t>> rows_by_engine(const std::vector<LayoutRow>& rows) {
    std::map<std::string, std::vector<std::size_t>> by;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const LayoutRow& r = rows[i];
        by[fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", r.model, r.hardware, r.runtime, r.precision,
                       to_string(r.way), r.prompts ? to_string(*r.prompts) : "", r.prompt_tokens,
                       r.output_tokens, r.client)]
            .push_back(i);
    }
    std::vector<std::vector<std::size_t>> out;
    for (auto& [key, members] : by)
        out.push_back(std::move(members));
    return out;
}

/// Of the rows within a limit by `waits` the one with the most tokens of a device, of a layout where one is
/// named.
template <class Waits>
std::optional<std::size_t> most_tokens(const std::vector<LayoutRow>& rows, const LayoutGroup& group,
                                       const Parallelism* way, Waits&& waits) {
    std::optional<std::size_t> best;
    for (const std::size_t i : group.rows)
        if (waits(rows[i]).token_ms <= group.limit_ms && (way == nullptr || rows[i].way == *way) &&
            (!best ||
             rows[i].tokens_per_device(waits(rows[i])) > rows[*best].tokens_per_device(waits(rows[*best]))))
            best = i;
    return best;
}

void judge_group(const std::vector<LayoutRow>& rows, LayoutGroup& group) {
    const auto measured = [](const LayoutRow& row) { return row.measured; };
    const auto ours = [](const LayoutRow& row) { return *row.ours; };
    group.best = most_tokens(rows, group, nullptr, measured);
    group.chosen = most_tokens(rows, group, nullptr, ours);
    if (!group.chosen) // none within the limit: what is nearest to it
        group.chosen = *std::min_element(group.rows.begin(), group.rows.end(), [&](auto a, auto b) {
            return ours(rows[a]).token_ms < ours(rows[b]).token_ms;
        });
    if (!group.best)
        return;
    if (const auto own = most_tokens(rows, group, &rows[*group.chosen].way, measured))
        group.share = rows[*own].tokens_per_device(rows[*own].measured) /
                      rows[*group.best].tokens_per_device(rows[*group.best].measured);
}

std::vector<LayoutGroup> layout_groups(const std::vector<LayoutRow>& rows) {
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
        const bool several = std::any_of(members.begin(), members.end(), [&](std::size_t i) {
            return !(rows[i].way == rows[members.front()].way);
        });
        if (!several)
            continue;
        std::vector<double> tokens;
        for (const std::size_t i : members)
            tokens.push_back(rows[i].measured.token_ms);
        std::sort(tokens.begin(), tokens.end());
        for (const double quartile : {0.25, 0.5, 0.75}) {
            LayoutGroup group;
            group.rows = members;
            group.limit_ms = quantile(tokens, quartile);
            judge_group(rows, group);
            groups.push_back(std::move(group));
        }
    }
    return groups;
}

} // namespace

double LayoutRow::tokens_per_device(const MeanWaits& waits) const {
    const auto tokens = static_cast<double>(output_tokens);
    const double seconds = (waits.first_ms + (tokens - 1) * waits.token_ms) / kLayoutMilliseconds;
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
            ErrorRow error;
            error.family = row.family;
            error.runtime = row.runtime;
            error.device = row.hardware;
            error.model = row.network;
            error.metric = metric;
            error.value = std::log(measured / ours);
            errors.push_back(std::move(error));
        };
        add(SpreadOf::first_token, row.measured.first_ms, row.ours->first_ms);
        add(SpreadOf::later_token, row.measured.token_ms, row.ours->token_ms);
    }
    return errors;
}

bool is_serving_layouts(const std::string& file) {
    const NamedTable table(file);
    return table.has("tpot_ms") && table.has("in_flight");
}

} // namespace archsim
