#include "archsim/run/serving.hpp"

#include "run/csv_reader.hpp"
#include "run/serving_prices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <memory>

namespace archsim {

namespace {

// Chips that are tried to hold a model: a node of eight, and up to eight nodes.
constexpr std::int64_t kLargestGroup = 64;

std::string gigabytes(double bytes) {
    return fmt::format("{:.1f} GB", bytes / 1e9);
}

struct Lengths {
    double prompt = 1, output = 1;
    std::int64_t longest = 1;
};

Lengths lengths_of(const std::vector<ServedRequest>& requests) {
    Lengths l{0, 0, 1};
    for (const ServedRequest& r : requests) {
        l.prompt += static_cast<double>(r.prompt_tokens);
        l.output += static_cast<double>(r.output_tokens);
        l.longest = std::max(l.longest, r.prompt_tokens + r.output_tokens);
    }
    const auto count = static_cast<double>(std::max<std::size_t>(1, requests.size()));
    l.prompt /= count;
    l.output /= count;
    return l;
}

/// A device made ready to serve one model at one way to share it: what runs at different rates have in
/// common.
class Server {
  public:
    Server(const Session& session, const GenerationModel& model, std::string_view hardware,
           const RunOptions& options, const ServingRequest& request)
        : request_(request) {
        result_.model = model.name();
        result_.hardware = hardware;
        if (!model.before().empty() || model.inserted_tokens() > 0)
            result_.notes.emplace_back(
                "prompts are text: parts that run before the language model are left out");
        try {
            make(session, model, hardware, options);
        } catch (const Error& problem) {
            result_.reason = problem.what();
        }
    }

    bool ready() const { return prices_ != nullptr && result_.reason.empty(); }

    ServingResult run(double rate_per_s, bool with_capacity) {
        ServingResult out = result_;
        if (!ready())
            return out;
        RequestPlan load = request_.load;
        load.rate_per_s = rate_per_s;
        out.rate_per_s = plan_.concurrency > 0 ? 0 : rate_per_s;
        std::vector<ServedRequest> requests = make_requests(load);
        try {
            if (with_capacity) {
                if (capacity_ < 0)
                    capacity_ = serving_capacity(plan_, *prices_, requests);
                out.capacity_per_s = capacity_;
                out.overloaded = plan_.concurrency == 0 && rate_per_s > 0 && rate_per_s > capacity_;
            }
            out.outcome = simulate_serving(plan_, *prices_, std::move(requests));
        } catch (const Error& problem) {
            out.reason = problem.what();
            return out;
        }
        if (!prices_->problem().empty()) {
            out.reason = prices_->problem();
            return out;
        }
        if (out.outcome.refused > 0)
            out.notes.push_back(
                fmt::format("{} requests are longer than the cache and were refused", out.outcome.refused));
        out.summary = summarize(out.outcome);
        out.ok = out.outcome.output_tokens > 0;
        if (!out.ok)
            out.reason = "no request fits into the cache";
        return out;
    }

    double capacity() { return run(0, true).capacity_per_s; }

  private:
    void make(const Session& session, const GenerationModel& model, std::string_view hardware,
              const RunOptions& options) {
        Result made;
        auto runner = make_runner(session, model, hardware, options, request_.kv_cache, made);
        result_.precision = name_of(options.precision.weights);
        if (made.runtime)
            result_.runtime = made.runtime->name;
        if (!runner) {
            result_.reason = made.estimate.reason;
            return;
        }
        const Lengths lengths = lengths_of(make_requests(request_.load));
        const auto middle = static_cast<std::int64_t>(lengths.prompt + lengths.output / 2);
        Parallelism way = request_.parallelism.value_or(Parallelism{});
        for (;; way.tensor *= 2) {
            auto prices = std::make_unique<EnginePrices>(*runner, way, middle, lengths.longest);
            if (fits(*prices, way, lengths)) {
                prices_ = std::move(prices);
                break;
            }
            if (request_.parallelism || 2 * way.tensor > kLargestGroup ||
                prices->machine().rate(Resource::link_bytes) <= 0)
                return; // `fits` said why
        }
        if (way.engine_chips() > 1 && prices_->machine().rate(Resource::link_bytes) <= 0) {
            result_.reason = "states no link to others of its kind, so several of them cannot share a model";
            return;
        }
        if (way.pipeline > 1 && prices_->hidden() <= 0) {
            result_.reason = "the model does not say the width that crosses between pipeline stages";
            return;
        }
        result_.reason.clear();
        result_.parallelism = way;
        fill_plan(way, made);
    }

    /// Room for caches on all chips of an engine; false with the reason when one sequence does not fit.
    bool fits(const EnginePrices& prices, const Parallelism& way, const Lengths& lengths) {
        const Machine& m = prices.machine();
        if (m.memory_capacity_bytes <= 0) {
            result_.reason =
                "the device's memory capacity is unknown, and with it how many sequences it serves at once";
            return false;
        }
        const double fixed = prices.fixed_bytes(std::min<std::int64_t>(
            request_.plan.engine.step_tokens, static_cast<std::int64_t>(lengths.prompt) + 1));
        const double room = m.param(Parameter::cache_memory_share, 1) *
                            (m.memory_capacity_bytes - fixed - m.param(Parameter::reserved_memory, 0));
        result_.cache_room_bytes = std::max(0.0, room) * static_cast<double>(way.engine_chips());
        result_.cache_bytes_per_token =
            prices.cache_bytes(lengths.prompt + 1) - prices.cache_bytes(lengths.prompt);
        const double one = prices.cache_bytes(lengths.prompt + lengths.output);
        result_.longest_batch = one > 0 ? std::floor(result_.cache_room_bytes / one) : 0;
        if (result_.longest_batch >= 1)
            return true;
        result_.reason =
            fmt::format("weights and activations take {} of each chip's {}; no room for the {} of one "
                        "sequence's cache; share the model over more chips",
                        gigabytes(fixed), gigabytes(m.memory_capacity_bytes), gigabytes(one));
        return false;
    }

    void fill_plan(const Parallelism& way, const Result& made) {
        const Machine& m = prices_->machine();
        plan_ = request_.plan;
        plan_.engine.cache_bytes = result_.cache_room_bytes;
        plan_.engine.sequences = std::min<std::int64_t>(
            plan_.engine.sequences, static_cast<std::int64_t>(m.param(Parameter::largest_batch, 1e9)));
        plan_.engines = way.data;
        plan_.prompt_engines = request_.prompt_chips / way.engine_chips();
        plan_.transfer_bytes_per_s = m.rate(Resource::link_bytes) * m.param(Parameter::link_efficiency, 1);
        const auto engine_chips = static_cast<double>(way.engine_chips());
        plan_.idle_watts = m.static_power_w * engine_chips;
        if (made.device && made.device->cloud_price)
            result_.usd_per_hour = made.device->cloud_price->amount.value * engine_chips *
                                   static_cast<double>(plan_.engines + plan_.prompt_engines);
        if (m.param(Parameter::static_context, 0) > 0)
            result_.notes.emplace_back(
                "the stack compiles fixed shapes; continuous batching is assumed all the same");
    }

    ServingRequest request_;
    ServingResult result_;
    ServingPlan plan_;
    std::unique_ptr<EnginePrices> prices_;
    double capacity_ = -1;
};

/// Bisection in the rate: percentiles rise with it.
ServingResult bisect(Server& server, const ServiceLevel& level) {
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

} // namespace

ServingResult run_serving(const Session& session, const GenerationModel& model, std::string_view hardware,
                          const RunOptions& options, const ServingRequest& request) {
    Server server(session, model, hardware, options, request);
    return server.run(request.load.rate_per_s, request.find_capacity);
}

ServingResult highest_rate(const Session& session, const GenerationModel& model, std::string_view hardware,
                           const RunOptions& options, const ServingRequest& request,
                           const ServiceLevel& level) {
    ServingRequest open = request;
    open.plan.concurrency = 0;
    Server server(session, model, hardware, options, open);
    return bisect(server, level);
}

std::vector<ServingResult> search_serving(const Session& session, const GenerationModel& model,
                                          std::span<const std::string> hardware,
                                          std::span<const Parallelism> ways, const RunOptions& options,
                                          const ServingRequest& request, const ServiceLevel& level) {
    std::vector<ServingResult> results;
    for (const std::string& device : hardware)
        for (const Parallelism& way : ways) {
            ServingRequest own = request;
            own.parallelism = way;
            results.push_back(highest_rate(session, model, device, options, own, level));
            if (!results.back().ok)
                results.back().parallelism = way;
        }
    return results;
}

std::vector<std::pair<std::int64_t, std::int64_t>> read_request_lengths(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in)
        throw InputError(fmt::format("{}: cannot be read", file));
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    const auto records = parse_csv(text);
    const auto column = [&](const char* name) -> std::size_t {
        const auto found = records.empty()
                               ? std::vector<std::string>::const_iterator{}
                               : std::find(records[0].fields.begin(), records[0].fields.end(), name);
        if (records.empty() || found == records[0].fields.end())
            throw InputError(fmt::format(
                "{}: line 1: no column {}; prompt_tokens and output_tokens are needed", file, name));
        return static_cast<std::size_t>(found - records[0].fields.begin());
    };
    const std::size_t prompt = column("prompt_tokens"), output = column("output_tokens");
    std::vector<std::pair<std::int64_t, std::int64_t>> lengths;
    for (std::size_t i = 1; i < records.size(); ++i) {
        const auto number = [&](std::size_t at) {
            std::int64_t value = 0;
            const std::string& field = at < records[i].fields.size() ? records[i].fields[at] : std::string();
            const auto [end, problem] = std::from_chars(field.data(), field.data() + field.size(), value);
            if (problem != std::errc() || end != field.data() + field.size() || value < 1)
                throw InputError(
                    fmt::format("{}: line {}: \"{}\" is no number of tokens", file, records[i].line, field));
            return value;
        };
        lengths.emplace_back(number(prompt), number(output));
    }
    if (lengths.empty())
        throw InputError(fmt::format("{}: no request in it", file));
    return lengths;
}

} // namespace archsim
