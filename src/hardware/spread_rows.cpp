#include "hardware/spread_rows.hpp"

#include "core/text.hpp"
#include "hardware/json_reader.hpp"

#include <fmt/format.h>

namespace archsim {

struct SpreadPercentile {
    std::string_view key;
    double SpreadRow::*value;
    Need need;
};

// In rising order.
constexpr std::array kSpreadPercentiles = {SpreadPercentile{"p50", &SpreadRow::p50_ms, Need::required},
                                           SpreadPercentile{"p90", &SpreadRow::p90_ms, Need::optional},
                                           SpreadPercentile{"p99", &SpreadRow::p99_ms, Need::required},
                                           SpreadPercentile{"p999", &SpreadRow::p999_ms, Need::optional}};
// A microsecond to an hour.
constexpr Bounds kSpreadTime{1e-3, 3.6e6};

static void read_percentiles(ObjectReader& table, SpreadRow& row) {
    double before = 0;
    for (const auto& [key, value, need] : kSpreadPercentiles) {
        const double ms = table.number(key, kSpreadTime, need);
        if (std::isnan(ms))
            continue;
        row.*value = ms;
        if (ms < before)
            table.refuse(key, FindingKind::inconsistent,
                         fmt::format("a percentile of {:g} ms lies below a lower one of {:g} ms", ms, before),
                         "state them as the source does");
        before = ms;
    }
}

static SpreadRow read_spread_row(ObjectReader& entry) {
    SpreadRow row{.stack = entry.text("stack", Need::required),
                  .family = entry.text("family", Need::required)};
    if (!row.family.empty())
        stated_family(entry, "family", row.family, FindingKind::unknown_name);
    row.integrated = entry.flag("integrated", false);
    row.hardware = entry.text("hardware", Need::required);
    row.network = entry.text("network", Need::required);
    if (!entry.has("ms"))
        entry.missing("ms", "add \"ms\" with the percentiles in milliseconds");
    entry.object("ms", [&](ObjectReader& table) { read_percentiles(table, row); });
    row.source = entry.source();
    if (!entry.has("source"))
        entry.context().report(FindingKind::missing_source, Severity::error, entry.place(),
                               "the row names no source", "add \"source\" with a key of \"sources\"");
    row.run = entry.text("run", Need::required);
    return row;
}

std::vector<SpreadRow> read_spread_rows(const std::filesystem::path& file, std::vector<Finding>& findings) {
    std::vector<SpreadRow> rows;
    const ReadContext context = read_table(file, [&](ObjectReader& reader) {
        reader.each("rows", [&](ObjectReader& entry) {
            const std::size_t before = entry.context().findings.size();
            SpreadRow row = read_spread_row(entry);
            if (entry.context().findings.size() == before)
                rows.push_back(std::move(row));
        });
    });
    findings.insert(findings.end(), context.findings.begin(), context.findings.end());
    return rows;
}

} // namespace archsim
