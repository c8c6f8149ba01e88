#include "answers/sweep/best_rows.hpp"

#include <algorithm>

namespace archsim {

bool BestRows::before(const SweepRow& a, const SweepRow& b) const {
    if ((a.standing == Standing::leads) != (b.standing == Standing::leads))
        return a.standing == Standing::leads;
    const double x = *a.value(*metric_), y = *b.value(*metric_);
    return x != y ? better(*metric_, x, y) : a.point < b.point;
}

void BestRows::keep_best(std::vector<SweepRow>& rows) const {
    std::sort(rows.begin(), rows.end(),
              [this](const SweepRow& a, const SweepRow& b) { return before(a, b); });
    if (most_ > 0 && rows.size() > most_)
        rows.resize(most_);
}

void BestRows::add(const SweepRow& row) {
    if (!row.value(*metric_))
        return;
    std::vector<SweepRow>& rows = kept_[row.model];
    // From `most_` rows on the first ones are sorted, and what is no better than the last of them is not
    // copied.
    if (most_ > 0 && rows.size() >= most_ && !before(row, rows[most_ - 1]))
        return;
    rows.push_back(row);
    if (most_ > 0 && (rows.size() == most_ || rows.size() == 2 * most_))
        keep_best(rows);
}

std::vector<SweepRow> BestRows::rows() const {
    std::vector<SweepRow> all;
    for (const auto& [model, kept] : kept_) {
        std::vector<SweepRow> best = kept;
        keep_best(best);
        all.insert(all.end(), best.begin(), best.end());
    }
    return all;
}

} // namespace archsim
