#include "family/kpu_schedule.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace archsim::kpu {

double Fabric::elements() const {
    double n = 0;
    for (std::size_t i = 0; i < class_count; ++i)
        n += classes[i].rows * classes[i].cols * classes[i].count * classes[i].pump;
    return n;
}

double Fabric::tiles() const {
    double n = 0;
    for (std::size_t i = 0; i < class_count; ++i)
        n += classes[i].count;
    return n;
}

Fabric fabric_of(const Machine& machine, Precision precision) {
    const auto& facts = machine.device->facts.as<KpuFacts>();
    const auto& [rows, cols] = facts.grid;
    Fabric fabric;
    for (const TileKind& tile : facts.tiles) {
        const Fact& rate = tile.ops_per_clock[static_cast<std::size_t>(precision)];
        if (!rate.known() || rate.value <= 0 || fabric.class_count == Fabric::kMaxClasses)
            continue;
        TileClass c;
        const double macs = rate.value / 2;
        c.rows = tile.rows.known() ? tile.rows.value : std::max(1.0, std::floor(std::sqrt(macs)));
        c.cols = tile.cols.value_or(macs / c.rows >= 1 ? std::floor(macs / c.rows) : 1);
        c.pump = macs / (c.rows * c.cols);
        c.count = std::max(1.0, tile.count * machine.active_fraction);
        fabric.classes[fabric.class_count++] = c;
    }
    if (fabric.class_count == 0) { // no tile kinds stated: equal tiles share the engine's rate
        const double tiles = std::max(1.0, rows.value_or(1) * cols.value_or(1));
        const double macs =
            std::max(machine.matrix_ops(precision), machine.vector_ops(precision)) / 2 / tiles;
        const double side = std::max(1.0, std::floor(std::sqrt(macs)));
        fabric.classes[0] = {side, side, tiles, std::max(macs, 1.0) / (side * side)};
        fabric.class_count = 1;
    }
    const double square = std::ceil(std::sqrt(fabric.tiles()));
    fabric.grid_rows = rows.value_or(square);
    fabric.grid_cols = cols.value_or(square);
    return fabric;
}

/// Blocks and time of one block for one kind of tile.
struct Share {
    double blocks = 1, steps = 1, fill = 0;
};

using Shares = std::array<Share, Fabric::kMaxClasses>;

/// Deals the work out over the kinds in `mask` so that all finish together, in whole blocks of the slowest
/// kind; 0 cycles when the mask holds none.
static Schedule deal(const Fabric& fabric, unsigned mask, bool whole_blocks, const Shares& shares) {
    Schedule s;
    double rate = 0, longest = 0, fill = 0, tiles = 0, fewest = 0;
    for (std::size_t i = 0; i < fabric.class_count; ++i) {
        if (!(mask & 1u << i))
            continue;
        const Share& share = shares[i];
        rate += fabric.classes[i].count / (share.blocks * share.steps);
        longest = std::max(longest, share.steps);
        fill = std::max(fill, share.fill);
        tiles += fabric.classes[i].count;
        fewest = fewest > 0 ? std::min(fewest, share.blocks) : share.blocks;
    }
    if (rate <= 0)
        return s;
    const double steps = 1 / rate;
    s.waves = whole_blocks ? std::max(1.0, std::ceil(steps / longest - 1e-9)) : steps / longest;
    s.cycles = s.waves * longest + fill;
    s.tiles_used = whole_blocks ? std::min(tiles, fewest) : tiles;
    return s;
}

constexpr double kRounding = 1e-9;

/// Tiles of which a part of the rows and of the columns works.
static Fabric part_of(Fabric fabric, double share) {
    for (std::size_t i = 0; i < fabric.class_count; ++i) {
        for (double* side : {&fabric.classes[i].rows, &fabric.classes[i].cols})
            *side = std::max(1.0, std::floor(*side * share + kRounding));
    }
    return fabric;
}

struct Mix {
    Schedule schedule;
    Fabric fabric; ///< with the part of each tile that works
    unsigned mask = 1;
};

/// The fastest of all mixes of kinds, each tile in whole or in part: wavefronts cross a part sooner. `height`
/// and `width` are those of what tiles compute; larger ones than these are as good as equal.
template <class ShareOf>
static Mix best_mix(const Fabric& fabric, bool whole_blocks, double height, double width, ShareOf share_of) {
    double side = 0, needed = 0;
    for (std::size_t i = 0; i < fabric.class_count; ++i)
        side = std::max(side, fabric.classes[i].rows);
    for (std::size_t i = 0; i < fabric.class_count; ++i)
        needed = std::max({needed, height / fabric.classes[i].rows, width / fabric.classes[i].cols});
    Mix best;
    const unsigned all = (1u << fabric.class_count) - 1;
    for (double rows = side * std::min(1.0, needed); rows > 0; rows = std::ceil(rows) - 1) {
        const Fabric part = part_of(fabric, rows / side);
        Shares shares;
        for (std::size_t i = 0; i < fabric.class_count; ++i)
            shares[i] = share_of(part.classes[i]);
        double rate = 0;
        for (std::size_t i = 0; i < fabric.class_count; ++i)
            rate += part.classes[i].count / (shares[i].blocks * shares[i].steps);
        if (best.schedule.cycles > 0 && 1 / rate >= best.schedule.cycles) // less of each tile does less
            break;
        for (unsigned mask = 1; mask <= all; ++mask) {
            const Schedule s = deal(part, mask, whole_blocks, shares);
            if (best.schedule.cycles == 0 || s.cycles < best.schedule.cycles)
                best = {s, part, mask};
        }
    }
    return best;
}

/// The widest kind in `mask` describes the schedule.
static const TileClass& widest(const Fabric& fabric, unsigned mask) {
    std::size_t best = fabric.class_count;
    for (std::size_t i = 0; i < fabric.class_count; ++i)
        if (mask & 1u << i)
            if (best == fabric.class_count || fabric.classes[i].rows > fabric.classes[best].rows)
                best = i;
    return fabric.classes[best];
}

static double blocks_on(const Contraction& p, const TileClass& c) {
    return p.groups * std::ceil(p.m / c.rows) * std::ceil(p.n / c.cols);
}

Schedule schedule_product(const Contraction& p, const Fabric& fabric) {
    auto [s, used, mask] = best_mix(fabric, true, p.m, p.n, [&p](const TileClass& c) {
        return Share{blocks_on(p, c), p.k / c.pump, c.rows + c.cols - 2};
    });
    const TileClass& c = widest(used, mask);
    s.rows = static_cast<std::uint16_t>(c.rows);
    s.cols = static_cast<std::uint16_t>(c.cols);
    s.padded_macs = blocks_on(p, c) * c.rows * c.cols * p.k;
    s.edge_elements = blocks_on(p, c) * (c.rows + c.cols) * p.k;
    s.row_passes = std::ceil(p.n / (c.cols * fabric.grid_cols));
    s.col_passes = std::ceil(p.m / (c.rows * fabric.grid_rows));
    return s;
}

Schedule schedule_depthwise(const Window& w, const Fabric& fabric) {
    const double pixels = w.batch * w.out_pixels();
    const auto blocks = [&w](const TileClass& c) {
        return std::ceil(w.out_channels / c.rows) * std::ceil(w.taps() / c.cols);
    };
    auto [s, used, mask] = best_mix(fabric, false, w.out_channels, w.taps(), [&](const TileClass& c) {
        return Share{blocks(c), pixels / c.pump, c.rows + c.cols - 2};
    });
    const TileClass& c = widest(used, mask);
    s.rows = static_cast<std::uint16_t>(c.rows);
    s.cols = static_cast<std::uint16_t>(c.cols);
    s.padded_macs = blocks(c) * c.rows * c.cols * pixels;
    // A row's operand enters once per pixel; its taps reuse it along the columns.
    s.edge_elements = blocks(c) * c.rows * pixels;
    return s;
}

} // namespace archsim::kpu
