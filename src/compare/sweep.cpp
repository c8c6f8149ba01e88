#include "archsim/compare/sweep.hpp"

#include "archsim/core/finding.hpp"

#include <algorithm>
#include <tuple>

namespace archsim {

double value_of(const SweepRow& row, Objective objective) {
    switch (objective) {
    case Objective::latency:
        return row.latency_s;
    case Objective::throughput:
        return row.throughput_per_s;
    case Objective::energy:
        return row.energy_per_inference_j;
    case Objective::power:
        return row.power_w;
    case Objective::memory:
        return row.peak_memory_bytes;
    case Objective::balance:
        return row.energy_per_inference_j * row.latency_s;
    case Objective::cost:
        break;
    }
    throw UsageError("a sweep has no costs; choose latency, throughput, energy, power, memory or balance");
}

void ParetoFront::add(const SweepRow& row) {
    if (row.status != Status::ok)
        return;
    const auto no_worse = [&](const SweepRow& a, const SweepRow& b, Objective objective) {
        return !better(objective, value_of(b, objective), value_of(a, objective));
    };
    const auto beats = [&](const SweepRow& a, const SweepRow& b) {
        return a.model == b.model && no_worse(a, b, first_) && no_worse(a, b, second_);
    };
    // Of equal rows the one with the lower index stays, whatever the order they come in.
    for (SweepRow& known : front_)
        if (beats(known, row)) {
            if (beats(row, known) && row.point < known.point)
                known = row;
            return;
        }
    std::erase_if(front_, [&](const SweepRow& known) { return beats(row, known); });
    front_.push_back(row);
}

std::vector<SweepRow> ParetoFront::rows() const {
    std::vector<SweepRow> sorted = front_;
    std::sort(sorted.begin(), sorted.end(), [this](const SweepRow& a, const SweepRow& b) {
        if (a.model != b.model)
            return a.model < b.model;
        const double x = value_of(a, first_), y = value_of(b, first_);
        return x != y ? better(first_, x, y) : a.point < b.point;
    });
    return sorted;
}

} // namespace archsim
