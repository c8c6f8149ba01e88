#include "run/sweep/sweep_worker.hpp"

#include "run/session/graph_run.hpp"

#include <limits>
#include <utility>

namespace archsim {

namespace {

constexpr auto kNone = std::numeric_limits<std::size_t>::max();

void fill(const Result& result, const MetricView& view, SweepRow& row) {
    const Estimate& e = result.estimate;
    row.runtime = result.runtime ? result.runtime->id : "";
    row.status = e.status;
    row.reason = e.reason;
    row.metrics = view.metrics;
    if (!result.ok())
        return;
    row.executed = name_of(e.executed.compute);
    row.power_limited = e.power_limited;
    row.measures.reserve(view.metrics->rows().size());
    for (const Metric* metric : view.metrics->rows())
        row.measures.push_back(measure_of(result, *metric, view.conditions));
}

} // namespace

SweepWorker::SweepWorker(SweepShared& shared, std::span<const PrecisionConfig> precisions)
    : shared_(shared), request_(shared.request()), precisions_(precisions), model_(kNone) {
    key_.hardware = kNone;
}

MachineChanges SweepWorker::enter(const SweepPoint& point) {
    MachineKey key{.hardware = point.hardware, .structure = {}};
    MachineChanges changes;
    for (std::size_t i = 0; i < point.factors.size(); ++i)
        if (const auto lever = parse_lever(request_.axes[i].name))
            changes[*lever] = point.factors[i];
        else
            key.structure[*parse_structure(request_.axes[i].name)] = point.factors[i];
    if (key == key_ && point.model == model_)
        return changes;
    if (point.model != model_) {
        model_ = point.model;
        bound_.assign(request_.batches.size(), nullptr);
    }
    if (key != key_) {
        key_ = key;
        machine_ = shared_.machine(key, reason_);
        if (request_.axes.empty())
            find_representatives_formats();
    }
    counted_ = BatchCounts();
    rows_.assign(request_.axes.empty() ? precisions_.size() * request_.batches.size() : 0, std::nullopt);
    return changes;
}

void SweepWorker::find_representatives_formats() {
    alike_.resize(precisions_.size());
    std::vector<ExecutedPrecision> executed(precisions_.size());
    for (std::size_t p = 0; p < precisions_.size(); ++p) {
        alike_[p] = p;
        if (!machine_)
            continue;
        executed[p] = resolve_precision(*machine_->device, *machine_->runtime, precisions_[p]);
        for (std::size_t before = 0; before < p && alike_[p] == p; ++before)
            if (executed[before].supported && executed[p].supported &&
                executed[before].config == executed[p].config)
                alike_[p] = before;
    }
}

const std::shared_ptr<const BoundModel>& SweepWorker::bound(const SweepPoint& point) {
    auto& model = bound_[point.batch];
    if (!model)
        model = shared_.bound(point.model, point.batch);
    return model;
}

SweepRow SweepWorker::row(const SweepPoint& point) {
    const MachineChanges changes = enter(point);
    SweepRow row;
    row.hardware = request_.hardware[point.hardware];
    row.precision = request_.precisions[point.precision];
    row.batch = request_.batches[point.batch];
    row.factors = point.factors;
    row.point = point.number;
    if (!request_.axes.empty())
        return estimate(point, changes, std::move(row));
    const std::size_t batches = request_.batches.size();
    if (const auto& same = rows_[alike_[point.precision] * batches + point.batch]) {
        SweepRow copy = *same;
        copy.precision = row.precision;
        copy.point = row.point;
        return copy;
    }
    return *(rows_[point.precision * batches + point.batch] = estimate(point, changes, std::move(row)));
}

SweepRow SweepWorker::estimate(const SweepPoint& point, const MachineChanges& changes, SweepRow row) {
    const auto& model = bound(point);
    row.model = model->facts()->name;
    if (!machine_) {
        row.reason = reason_;
        row.status = Status::unsupported;
        return row;
    }
    Conditions conditions = request_.conditions;
    conditions.precision = precisions_[point.precision];
    conditions.keep_subgraphs = false;
    if (changes == MachineChanges{}) {
        fill(run_graph_on(model, row.hardware, machine_, conditions, &counted_), request_.view, row);
        return row;
    }
    auto changed = std::make_shared<Machine>(*machine_);
    apply(changes, *changed);
    fill(run_graph_on(model, row.hardware, std::move(changed), conditions), request_.view, row);
    return row;
}

} // namespace archsim
