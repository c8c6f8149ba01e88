#pragma once
// Sweeps that tests of sweeps share.

#include "answers/sweep/sweep.hpp"
#include "answers/sweep/sweep_report.hpp"

#include <span>
#include <string>
#include <vector>

namespace archsim::test {

inline SweepRequest small_request() {
    SweepRequest q;
    q.models = {"resnet18", "mobilenet_v2"};
    q.hardware = {"H100", "TPU-v4", "KPU-T64"};
    q.precisions = {"int8"};
    q.batches = {1, 8};
    q.axes = {parse_sweep_axis("bandwidth=0.5x,1x,2x"), parse_sweep_axis("units=0.5x,0.75x,1x,1.5x,2x")};
    return q;
}

inline std::vector<SweepRow> all_rows(const Sweep& sweep, unsigned threads) {
    std::vector<SweepRow> rows;
    sweep.run(sweep.first(), threads, [&](std::span<const SweepRow> some) {
        rows.insert(rows.end(), some.begin(), some.end());
        return true;
    });
    return rows;
}

inline std::string as_text(const std::vector<SweepRow>& rows, const Sweep& sweep, RowFormat format) {
    std::string text = sweep_header(sweep.request().axes, format);
    append_rows(rows, sweep.request().axes, format, text);
    return text;
}

} // namespace archsim::test
