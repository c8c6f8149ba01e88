#include "answers/sweep/sweep.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace archsim;

namespace {

SweepRow row_of(std::uint64_t point, double seconds, const char* model = "m") {
    SweepRow row;
    row.point = point;
    row.model = model;
    for (const Metric* m : MetricTable::standard().rows())
        row.measures.push_back(*m == metric::latency ? std::optional(Measure{seconds, {}}) : std::nullopt);
    return row;
}

} // namespace

TEST_CASE("the best rows are those of a full sort, whatever the order they come in", "[compare][sweep]") {
    std::mt19937 random(7);
    for (const std::size_t most : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{10}}) {
        std::vector<SweepRow> rows;
        for (std::uint64_t i = 0; i < 50; ++i)
            rows.push_back(row_of(i, static_cast<double>(random() % 8), i % 3 == 0 ? "a" : "b"));
        std::vector<SweepRow> shuffled = rows;
        std::shuffle(shuffled.begin(), shuffled.end(), random);
        BestRows best(metric::latency, most);
        for (const SweepRow& row : shuffled)
            best.add(row);
        best.add(SweepRow{}); // without a value
        std::vector<std::uint64_t> expected, found;
        for (const char* model : {"a", "b"}) {
            std::vector<SweepRow> own;
            std::copy_if(rows.begin(), rows.end(), std::back_inserter(own),
                         [&](const SweepRow& row) { return row.model == model; });
            std::stable_sort(own.begin(), own.end(), [](const SweepRow& x, const SweepRow& y) {
                return *x.value(metric::latency) < *y.value(metric::latency);
            });
            if (most > 0) // of equal rows the lowest point stands
                own.erase(std::unique(own.begin(), own.end(),
                                      [](const SweepRow& x, const SweepRow& y) {
                                          return *x.value(metric::latency) == *y.value(metric::latency);
                                      }),
                          own.end());
            for (std::size_t i = 0; i < (most == 0 ? own.size() : std::min(most, own.size())); ++i)
                expected.push_back(own[i].point);
        }
        for (const SweepRow& row : best.rows())
            found.push_back(row.point);
        CHECK(found == expected);
    }
}
