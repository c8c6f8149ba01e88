#include "archsim/run/serve.hpp"

#include "session/server/server.hpp"

#include <fmt/format.h>

namespace archsim {

/// Bisection in the rate: percentiles rise with it.
static ServingResult bisect_rate(Server& server, const ServiceLevel& level) {
    ServingResult best = server.run(0, false);
    if (!server.ready() || !best.ok)
        return best;
    const double capacity = server.capacity();
    constexpr double kIdle = 0.01, kPrecision = 0.02;
    double low = kIdle * capacity, high = capacity;
    best = server.run(low, true);
    if (!level.met_by(best.summary)) {
        best.ok = false;
        best.reason = fmt::format(
            "no rate meets the limits: at {:.3g} requests/s the P99 of the first token is {:.0f} ms, "
            "of later tokens {:.1f} ms",
            low, 1e3 * best.summary.time_to_first_s.p99, 1e3 * best.summary.time_per_token_s.p99);
        return best;
    }
    if (ServingResult all = server.run(high, true); level.met_by(all.summary))
        return all;
    while (high > low * (1 + kPrecision)) {
        const double middle = (low + high) / 2;
        ServingResult tried = server.run(middle, true);
        if (level.met_by(tried.summary)) {
            low = middle;
            best = std::move(tried);
        } else {
            high = middle;
        }
    }
    return best;
}

ServingResult run_serving(const Session& session, const Model& model, std::string_view device,
                          const Conditions& conditions, const ServingRequest& request) {
    Server server(session, model, device, conditions, request);
    ServingResult result = server.run(request.load.rate_per_s, request.find_capacity);
    server.add_bounds(result);
    return result;
}

ServingResult highest_rate(const Session& session, const Model& model, std::string_view device,
                           const Conditions& conditions, const ServingRequest& request,
                           const ServiceLevel& level) {
    ServingRequest open = request;
    open.plan.concurrency = 0;
    Server server(session, model, device, conditions, open);
    ServingResult result = bisect_rate(server, level);
    server.add_bounds(result);
    return result;
}

std::vector<ServingResult> search_serving(const Session& session, const Model& model,
                                          std::span<const std::string> hardware,
                                          std::span<const Parallelism> ways, const Conditions& conditions,
                                          const ServingRequest& request, const ServiceLevel& level) {
    std::vector<ServingResult> results;
    for (const std::string& device : hardware)
        for (const Parallelism& way : ways) {
            ServingRequest own = request;
            own.parallelism = way;
            results.push_back(highest_rate(session, model, device, conditions, own, level));
            if (!results.back().ok)
                results.back().parallelism = way;
        }
    return results;
}

std::vector<ServingResult> sweep_serving(const Session& session, const Model& model,
                                         std::span<const std::string> hardware,
                                         std::span<const Parallelism> ways, const Conditions& conditions,
                                         const ServingRequest& request) {
    constexpr double kGain = 1.02;
    std::vector<ServingResult> results;
    const auto sweep = [&](const std::string& device, const std::optional<Parallelism>& way, double devices) {
        ServingRequest own = request;
        own.parallelism = way;
        Conditions counted = conditions;
        counted.devices = devices;
        Server server(session, model, device, counted, own);
        double before = 0;
        const std::int64_t most =
            std::max<std::int64_t>(1, server.sequences()) * server.basis().parallelism.data;
        for (std::int64_t requests = 1; requests <= most; requests *= 2) {
            ServingResult run = server.run_in_flight(requests);
            run.parallelism = way.value_or(server.basis().parallelism);
            const double tokens = run.ok ? run.summary.output_tokens_per_s : 0;
            results.push_back(std::move(run));
            if (tokens < kGain * before || tokens <= 0)
                break;
            before = tokens;
        }
    };
    const std::vector<double> counts =
        conditions.devices > 1 ? std::vector{conditions.devices} : std::vector<double>{2, 4, 8};
    for (const std::string& device : hardware) {
        for (const Parallelism& way : ways)
            sweep(device, way, 1);
        if (ways.empty() && conditions.devices <= 1)
            sweep(device, Parallelism{}, 1);
        for (const double devices : counts) // as the stack divides the model
            if (ways.empty())
                sweep(device, std::nullopt, devices);
    }
    return results;
}

} // namespace archsim
