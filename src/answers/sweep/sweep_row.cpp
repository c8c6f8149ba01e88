#include "answers/sweep/sweep_row.hpp"

#include <algorithm>

namespace archsim {

std::optional<double> SweepRow::value(const Metric& metric) const {
    const auto rows = metrics->rows();
    auto at = std::find(rows.begin(), rows.end(), &metric); // the usual case, and quick
    if (at == rows.end())
        at = std::find_if(rows.begin(), rows.end(), [&](const Metric* m) { return *m == metric; });
    const auto i = static_cast<std::size_t>(at - rows.begin());
    return i < measures.size() && measures[i] ? std::optional(measures[i]->value) : std::nullopt;
}

void ParetoFront::add(const SweepRow& row) {
    if (!row.value(*first_) || !row.value(*second_))
        return;
    const auto no_worse = [&](const SweepRow& a, const SweepRow& b, const Metric& metric) {
        return !better(metric, *b.value(metric), *a.value(metric));
    };
    const auto beats = [&](const SweepRow& a, const SweepRow& b) {
        return a.model == b.model && no_worse(a, b, *first_) && no_worse(a, b, *second_);
    };
    std::vector<SweepRow>& front = row.standing == Standing::leads ? front_ : unranked_;
    // The equal row with the lower index stays, whatever the order they come in.
    for (SweepRow& known : front)
        if (beats(known, row)) {
            if (beats(row, known) && row.point < known.point)
                known = row;
            return;
        }
    std::erase_if(front, [&](const SweepRow& known) { return beats(row, known); });
    front.push_back(row);
}

std::vector<SweepRow> ParetoFront::rows() const {
    std::vector<SweepRow> sorted = front_.empty() ? unranked_ : front_;
    std::sort(sorted.begin(), sorted.end(), [this](const SweepRow& a, const SweepRow& b) {
        if (a.model != b.model)
            return a.model < b.model;
        const double x = *a.value(*first_), y = *b.value(*first_);
        return x != y ? better(*first_, x, y) : a.point < b.point;
    });
    return sorted;
}

} // namespace archsim
