#include "archsim/run/sweep.hpp"

#include "archsim/hardware/device_changes.hpp"
#include "archsim/map/machine_changes.hpp"
#include "run/ordered_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <list>
#include <mutex>
#include <set>

namespace archsim {

namespace {

constexpr std::uint64_t kRange = 256; ///< points that a thread takes at a time

/// Where a point lies along every dimension.
struct Coordinates {
    std::size_t model = 0, batch = 0, hardware = 0, precision = 0;
    std::vector<std::size_t> factor;
};

struct MachineKey {
    std::size_t hardware = 0;
    DeviceChanges structure;
    auto operator<=>(const MachineKey&) const = default;
};

std::uint64_t checked_product(std::uint64_t a, std::uint64_t b) {
    if (b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b)
        throw UsageError("the design space has more points than can be counted; leave an axis out");
    return a * b;
}

} // namespace

struct Sweep::State {
    State(const Session& s, SweepRequest r) : session(s), request(std::move(r)) {
        check();
        for (const std::string& name : request.models)
            models.push_back(session.load(name));
        size = 1;
        for (const std::size_t n : {request.models.size(), request.batches.size(), request.hardware.size(),
                                    request.precisions.size()})
            size = checked_product(size, n);
        for (const SweepAxis& axis : request.axes)
            size = checked_product(size, axis.factors.size());
    }

    void check() {
        if (request.models.empty() || request.hardware.empty() || request.batches.empty() ||
            request.precisions.empty())
            throw UsageError("a sweep needs at least one model, device, batch size and precision");
        if (request.shards == 0 || request.shard >= request.shards)
            throw UsageError(
                fmt::format("shard {}/{}: shards are counted from 0", request.shard, request.shards));
        for (const std::int64_t batch : request.batches)
            if (batch < 1)
                throw UsageError(fmt::format("{} is no batch size", batch));
        for (const std::string& name : request.hardware)
            session.hardware().device(name);
        for (const std::string& name : request.precisions) {
            const auto parsed = PrecisionConfig::parse(name);
            if (!parsed)
                throw UsageError(fmt::format("precision \"{}\" is not known", name));
            precisions.push_back(*parsed);
        }
        std::set<std::string> names;
        for (const SweepAxis& axis : request.axes)
            if (!names.insert(axis.name).second)
                throw UsageError(fmt::format("\"{}\" is varied twice", axis.name));
    }

    Coordinates at(std::uint64_t point) const {
        Coordinates c;
        c.factor.resize(request.axes.size());
        const auto take = [&point](std::size_t n) {
            const auto index = static_cast<std::size_t>(point % n);
            point /= n;
            return index;
        };
        for (std::size_t i = request.axes.size(); i-- > 0;)
            c.factor[i] = take(request.axes[i].factors.size());
        c.precision = take(request.precisions.size());
        c.hardware = take(request.hardware.size());
        c.batch = take(request.batches.size());
        c.model = take(request.models.size());
        return c;
    }

    /// The model at a batch; those that were used last are kept.
    std::shared_ptr<const BoundModel> bound(std::size_t model, std::size_t batch) const {
        const std::lock_guard lock(mutex);
        return bound_once(model, batch);
    }

    std::shared_ptr<const BoundModel> bound_once(std::size_t model, std::size_t batch) const {
        for (const auto& [key, value] : recent)
            if (key == std::pair(model, batch))
                return value;
        auto made = smaller_of_another(model, request.batches[batch]);
        if (!made)
            made = session.bind(models[model], request.batches[batch], request.bindings);
        const std::size_t kept = 2 * request.batches.size(); // threads are at two models at most
        if (recent.size() >= kept)
            recent.pop_back();
        recent.emplace_front(std::pair(model, batch), std::move(made));
        return recent.front().second;
    }

    /// The one that a larger batch of the sweep is cut into (BoundModel::smaller): bound and counted once for
    /// both uses. Null where there is none.
    std::shared_ptr<const BoundModel> smaller_of_another(std::size_t model, std::int64_t batch) const {
        if (request.bindings.dims.contains(batch_symbol(*models[model].graph)))
            return nullptr; // the batch is given, whatever the sweep says
        for (std::size_t i = 0; i < request.batches.size(); ++i)
            if (request.batches[i] > batch && next_smaller_batch(request.batches[i]) == batch)
                return bound_once(model, i)->smaller();
        return nullptr;
    }

    /// The device as the database states it but for its structure; null with a reason where it cannot be
    /// made.
    std::shared_ptr<const Machine> machine(const MachineKey& key, std::string& reason) const {
        const std::lock_guard lock(mutex);
        if (const auto known = machines.find(key); known != machines.end())
            return known->second;
        RunOptions options = request.options;
        options.structure = key.structure;
        try {
            return machines.emplace(key, session.machine(request.hardware[key.hardware], options))
                .first->second;
        } catch (const Error& problem) {
            reason = problem.what();
            return nullptr;
        }
    }

    SweepRow row(std::uint64_t point, const Coordinates& c, std::span<const double> factors) const {
        SweepRow row;
        row.point = point;
        row.hardware = request.hardware[c.hardware];
        row.precision = request.precisions[c.precision];
        row.batch = request.batches[c.batch];
        row.factors.assign(factors.begin(), factors.end());
        MachineKey key{.hardware = c.hardware, .structure = {}};
        MachineChanges changes;
        for (std::size_t i = 0; i < factors.size(); ++i)
            if (const auto lever = parse_lever(request.axes[i].name))
                changes[*lever] = factors[i];
            else
                key.structure[*parse_structure(request.axes[i].name)] = factors[i];
        const auto model = bound(c.model, c.batch);
        row.model = model->facts()->name;
        const auto base = machine(key, row.reason);
        if (!base) {
            row.status = Status::unsupported;
            return row;
        }
        auto changed = base;
        if (changes != MachineChanges{}) {
            auto copy = std::make_shared<Machine>(*base);
            apply(changes, *copy);
            changed = std::move(copy);
        }
        RunOptions options = request.options;
        options.precision = precisions[c.precision];
        options.keep_subgraphs = false;
        fill(Session::run_on(model, row.hardware, changed, options), row);
        return row;
    }

    static void fill(const Result& result, SweepRow& row) {
        const Estimate& e = result.estimate;
        row.runtime = result.runtime ? result.runtime->id : "";
        row.status = e.status;
        row.reason = e.reason;
        if (!result.ok())
            return;
        row.executed = name_of(e.executed.compute);
        row.latency_s = e.latency_s;
        row.latency_interval = e.latency_interval;
        row.throughput_per_s = e.throughput_per_s;
        row.power_w = e.power_w;
        row.energy_per_inference_j = e.energy_per_inference_j;
        row.utilization = e.utilization;
        row.peak_memory_bytes = e.memory.peak_bytes;
        row.power_limited = e.power_limited;
    }

    const Session& session;
    SweepRequest request;
    std::vector<Model> models;
    std::vector<PrecisionConfig> precisions;
    std::uint64_t size = 0;
    mutable std::mutex mutex;
    mutable std::list<std::pair<std::pair<std::size_t, std::size_t>, std::shared_ptr<const BoundModel>>>
        recent;
    mutable std::map<MachineKey, std::shared_ptr<const Machine>> machines;
};

Sweep::Sweep(const Session& session, SweepRequest request)
    : state_(std::make_unique<State>(session, std::move(request))) {}
Sweep::~Sweep() = default;
Sweep::Sweep(Sweep&&) noexcept = default;

const SweepRequest& Sweep::request() const {
    return state_->request;
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

void Sweep::run(std::uint64_t from, unsigned threads,
                const std::function<bool(std::span<const SweepRow>)>& sink) const {
    in_order<std::vector<SweepRow>>(
        from, last(), kRange, threads,
        [this](unsigned, std::uint64_t begin, std::uint64_t end) {
            std::vector<SweepRow> rows;
            rows.reserve(end - begin);
            std::vector<double> factors(state_->request.axes.size());
            for (std::uint64_t point = begin; point < end; ++point) {
                const Coordinates c = state_->at(point);
                for (std::size_t i = 0; i < factors.size(); ++i)
                    factors[i] = state_->request.axes[i].factors[c.factor[i]];
                rows.push_back(state_->row(point, c, factors));
            }
            return rows;
        },
        [&sink](const std::vector<SweepRow>& rows) { return sink(rows); });
}

std::vector<Sensitivity> Sweep::sensitivities(Objective objective) const {
    const auto& axes = state_->request.axes;
    const Coordinates workload = state_->at(0);
    const std::vector<double> own(axes.size(), 1.0);
    const auto value = [&](std::span<const double> factors) {
        const SweepRow row = state_->row(0, workload, factors);
        if (row.status != Status::ok)
            throw InputError(fmt::format("{} on {}: {}", row.model, row.hardware, row.reason));
        return value_of(row, objective);
    };
    std::vector<Sensitivity> found;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const auto [low, high] = std::minmax_element(axes[i].factors.begin(), axes[i].factors.end());
        std::vector<double> one = own;
        Sensitivity s{.axis = axes[i].name, .low_factor = *low, .high_factor = *high};
        s.own_value = value(own);
        one[i] = *low;
        s.low_value = value(one);
        one[i] = *high;
        s.high_value = value(one);
        found.push_back(s);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Sensitivity& a, const Sensitivity& b) { return a.swing() > b.swing(); });
    return found;
}

} // namespace archsim
