#include "answers/sweep/sweep.hpp"

#include "answers/sweep/ordered_work.hpp"
#include "answers/sweep/sweep_worker.hpp"
#include "result/cost_terms.hpp"
#include "result/format_parts.hpp"
#include "result/generation_metrics.hpp"
#include "session/prepared.hpp"
#include "session/usual_precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

namespace archsim {

namespace {

constexpr std::uint64_t kRange = 256;         ///< points that a thread takes at a time
constexpr std::uint64_t kLargestRange = 8192; ///< with all of a model
constexpr std::uint64_t kMostShards = 1'000'000;

std::uint64_t checked_product(std::uint64_t a, std::uint64_t b) {
    if (b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b)
        throw UsageError("the design space has more points than can be counted; leave an axis out");
    return a * b;
}

} // namespace

struct Sweep::State {
    State(const Session& s, SweepRequest r) : session(s), request(std::move(r)) {
        for (const std::string& name : request.models)
            models.push_back(session.load(name));
        if (request.precisions.empty())
            request.precisions.push_back(usual_format());
        check();
        for (const Model& model : models)
            sizes.push_back(
                of_shared_sizes({model, request.batches.front(), request.sizes, request.prompt}, models)
                    .sizes);
        if (request.prompt) {
            for (const Model& model : models) // those that answer none are refused now
                session.facts({model, request.batches.front(), request.sizes, request.prompt});
            if (request.view.metrics == &MetricTable::standard())
                request.view.metrics = &generation_metrics();
        }
        std::vector<std::shared_ptr<const Device>> devices;
        for (const std::string& name : request.hardware)
            devices.push_back(session.hardware().device(name).device);
        request.view.conditions = on_one_basis(devices, request.view.conditions);
        size = 1;
        for (const std::size_t n : {request.models.size(), request.batches.size(), request.hardware.size(),
                                    request.precisions.size()})
            size = checked_product(size, n);
        for (const SweepAxis& axis : request.axes)
            size = checked_product(size, axis.factors.size());
    }

    /// The format that all models have by themselves; fp32 where they differ.
    std::string usual_format() const {
        const auto of = [&](const Model& model) {
            return usual_precision({.model = model, .prompt = request.prompt},
                                   request.conditions.precision.strict_fp32)
                .compute;
        };
        const bool alike = !models.empty() && std::all_of(models.begin(), models.end(), [&](const Model& m) {
            return of(m) == of(models.front());
        });
        return std::string(name_of(alike ? of(models.front()) : Precision::fp32));
    }

    void check() {
        if (request.models.empty() || request.hardware.empty() || request.batches.empty() ||
            request.precisions.empty())
            throw UsageError("a sweep needs at least one model, device, batch size and precision");
        if (request.shards == 0 || request.shards > kMostShards || request.shard >= request.shards)
            throw UsageError(fmt::format("shard {}/{}: expected INDEX/COUNT with a count from 1 to {} and an "
                                         "index from 0 to one less than the count",
                                         request.shard, request.shards, kMostShards));
        for (const std::int64_t batch : request.batches)
            if (batch < 1)
                throw UsageError(fmt::format("{} is no batch size", batch));
        for (const std::string& name : request.hardware)
            session.hardware().device(name);
        for (const std::string& name : request.precisions) {
            Conditions& format = formats.emplace_back(request.conditions);
            format.weights = request.weights;
            ask_precision(format, name);
            format.precision.weights = request.weights.value_or(format.precision.weights);
        }
        if (request.conditions.devices == 0 && !request.prompt)
            throw UsageError("as many devices as needed: only for language models with a prompt");
        std::set<std::string> names;
        for (const SweepAxis& axis : request.axes)
            if (!names.insert(axis.name).second)
                throw UsageError(fmt::format("\"{}\" is varied twice", axis.name));
    }

    SweepPoint at(std::uint64_t number) const {
        SweepPoint point;
        point.number = number;
        point.factors.resize(request.axes.size());
        const auto take = [&number](std::size_t n) {
            const auto index = static_cast<std::size_t>(number % n);
            number /= n;
            return index;
        };
        for (std::size_t i = request.axes.size(); i-- > 0;)
            point.factors[i] = request.axes[i].factors[take(request.axes[i].factors.size())];
        point.batch = take(request.batches.size());
        point.precision = take(request.precisions.size());
        point.hardware = take(request.hardware.size());
        point.model = take(request.models.size());
        return point;
    }

    /// A thread that has a model for itself waits for nobody, if there are enough of them.
    std::uint64_t range(unsigned threads) const {
        const std::uint64_t of_model = size / request.models.size();
        const bool whole_models = request.models.size() >= std::size_t{4} * threads;
        return whole_models && of_model <= kLargestRange ? std::max(kRange, of_model) : kRange;
    }

    const Session& session;
    SweepRequest request;
    std::vector<Model> models;
    std::vector<Bindings> sizes;     ///< of each model: those of the request that it has
    std::vector<Conditions> formats; ///< the request's, in each of its formats
    std::uint64_t size = 0;
};

Sweep::Sweep(const Session& session, SweepRequest request)
    : state_(std::make_unique<State>(session, std::move(request))) {}
Sweep::~Sweep() = default;
Sweep::Sweep(Sweep&&) noexcept = default;

const SweepRequest& Sweep::request() const {
    return state_->request;
}

const Metric& Sweep::usual_order() const {
    const Metric& usual = ranked_by(request().conditions.scenario);
    return !request().prompt          ? usual
           : usual == metric::latency ? metric::token_rate
                                      : metric::total_token_rate;
}

std::uint64_t Sweep::size() const {
    return state_->size;
}

std::uint64_t Sweep::first() const {
    const std::uint64_t shards = state_->request.shards, shard = state_->request.shard;
    return size() / shards * shard + std::min(shard, size() % shards);
}

std::uint64_t Sweep::last() const {
    const std::uint64_t shards = state_->request.shards, shard = state_->request.shard;
    return first() + size() / shards + (shard < size() % shards ? 1 : 0);
}

std::string Sweep::content() const {
    return content_of(state_->session, state_->request, state_->models);
}

void Sweep::run(std::uint64_t from, unsigned threads,
                const std::function<bool(std::span<const SweepRow>)>& sink) const {
    threads = std::max(threads, 1U);
    SweepShared shared(state_->session, state_->request, state_->models, state_->sizes, threads);
    std::vector<SweepWorker> workers;
    workers.reserve(threads);
    for (unsigned i = 0; i < threads; ++i)
        workers.emplace_back(shared, state_->formats);
    in_order<std::vector<SweepRow>>(
        from, last(), state_->range(threads), threads,
        [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
            std::vector<SweepRow> rows(end - begin);
            for (std::uint64_t number = begin; number < end; ++number)
                workers[worker].fill(state_->at(number), rows[number - begin]);
            return rows;
        },
        [&sink](const std::vector<SweepRow>& rows) { return sink(rows); });
}

std::vector<AxisSensitivity> Sweep::sensitivities(const Metric& metric) const {
    const auto& axes = state_->request.axes;
    SweepShared shared(state_->session, state_->request, state_->models, state_->sizes, 1);
    SweepWorker worker(shared, state_->formats);
    SweepPoint workload = state_->at(0);
    const std::vector<double> own(axes.size(), 1.0);
    const auto value = [&](const std::vector<double>& factors) {
        workload.factors = factors;
        SweepRow row;
        worker.fill(workload, row);
        const auto found = row.value(metric);
        if (!found)
            throw InputError(fmt::format("{} on {}: {}", row.model, row.hardware,
                                         row.status == Status::ok ? "no " + metric.noun : row.reason));
        return *found;
    };
    std::vector<AxisSensitivity> found;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const auto [low, high] = std::minmax_element(axes[i].factors.begin(), axes[i].factors.end());
        std::vector<double> one = own;
        AxisSensitivity s{.axis = axes[i].name, .low_factor = *low, .high_factor = *high};
        s.own_value = value(own);
        one[i] = *low;
        s.low_value = value(one);
        one[i] = *high;
        s.high_value = value(one);
        found.push_back(s);
    }
    std::stable_sort(found.begin(), found.end(), [](const AxisSensitivity& a, const AxisSensitivity& b) {
        return a.swing() > b.swing();
    });
    return found;
}

std::map<std::string, double> Sweep::factors(std::uint64_t point) const {
    std::map<std::string, double> all;
    const SweepPoint at = state_->at(point);
    for (std::size_t i = 0; i < at.factors.size(); ++i)
        all[state_->request.axes[i].name] = at.factors[i];
    return all;
}

Result Sweep::result(std::uint64_t point, const std::map<std::string, double>& factors) const {
    const SweepRequest& q = state_->request;
    const SweepPoint at = state_->at(point);
    Conditions conditions = state_->formats[at.precision];
    for (const auto& [part, factor] : factors)
        if (const auto lever = parse_lever(part))
            conditions.changes[*lever] = factor;
        else if (const auto structure = value_named<Structure>(part))
            conditions.structure[*structure] = factor;
        else
            throw UsageError(fmt::format("nothing called \"{}\" can be varied", part));
    return state_->session.estimate(
        Workload{state_->models[at.model], q.batches[at.batch], state_->sizes[at.model], q.prompt, !q.prompt},
        q.hardware[at.hardware], conditions);
}

} // namespace archsim
