// Reads arbitrary bytes as hardware_db/percentiles.json: rows that rise and name a source, and findings for
// all others.

#include "hardware/spread_rows.hpp"
#include "scratch_file.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<archsim::Finding> findings;
    for (const archsim::SpreadRow& row :
         archsim::read_spread_rows(archsim::fuzz::scratch_file({data, size}, ".json"), findings)) {
        double before = 0;
        for (const double percentile : {row.p50_ms, row.p90_ms, row.p99_ms, row.p999_ms}) {
            if (!std::isfinite(percentile) || (percentile != 0 && percentile < before))
                std::abort();
            before = percentile != 0 ? percentile : before;
        }
        if (!(row.p50_ms > 0) || !(row.p99_ms > 0) || !row.source)
            std::abort();
    }
    return 0;
}
