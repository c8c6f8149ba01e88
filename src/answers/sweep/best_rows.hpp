#pragma once
// Points of a design space go in, one by one; the best few, and of each model, come out.

#include "answers/sweep/sweep_row.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace archsim {

/// The best rows of each model by one metric; fed one row at a time, so that a million rows need the memory
/// of the best alone. Rows without the metric are left out.
class BestRows {
  public:
    /// Keeps `most` rows per model, 0: all, by `metric`, which must outlive it.
    BestRows(const Metric& metric, std::size_t most) : metric_(&metric), most_(most) {}
    /// Takes a row in; it may leave again when better ones come.
    void add(const SweepRow& row);
    /// By model, best first, what may not lead behind the others; of equal values the lower point first.
    std::vector<SweepRow> rows() const;
    /// What ranks them.
    const Metric& metric() const { return *metric_; }

  private:
    bool before(const SweepRow& a, const SweepRow& b) const;
    void keep_best(std::vector<SweepRow>& rows) const;

    const Metric* metric_;
    std::size_t most_;
    std::map<std::string, std::vector<SweepRow>> kept_; ///< at most twice as many as wanted
};

} // namespace archsim
