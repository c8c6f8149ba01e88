#include "map/tiling.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

namespace archsim::tiling {

/// Tile sizes of an extent, whatever the buffer: even cuts into 1, 2, 3 .. parts, more coarsely spaced the
/// more parts there are, and the smallest tile. They do not follow the room, so that more room never takes
/// one away.
class Cuts {
  public:
    Cuts(double extent, double grain, double spacing) {
        add(extent);
        for (double parts = 2; parts * grain < extent && count_ < sizes_.size() - 1;
             parts = std::max(parts + 1, std::floor(parts * spacing)))
            add(std::ceil(extent / parts / grain) * grain);
        add(std::min(extent, grain));
    }
    const double* begin() const { return sizes_.data(); }
    const double* end() const { return sizes_.data() + count_; }

  private:
    void add(double size) {
        if (count_ == 0 || size < sizes_[count_ - 1])
            sizes_[count_++] = size;
    }
    std::array<double, 64> sizes_{};
    std::size_t count_ = 0;
};

/// Input elements along an axis that so many outputs touch, and how many more each cut of the axis adds.
struct Axis {
    double step, halo, extent;
    Axis(const Nest& n, std::size_t axis)
        : step(n.stride[axis]),
          halo(std::max((n.kernel[axis] - 1) * n.dilation[axis] + 1, n.stride[axis]) - n.stride[axis]),
          extent(n.extent[axis]) {}
    double touched(double outputs, double cuts) const {
        return std::min(outputs * step + halo, extent) + (cuts - 1) * halo;
    }
};

static constexpr std::size_t at(Operand operand) {
    return static_cast<std::size_t>(operand);
}
static constexpr std::size_t at(Stationary kept) {
    return static_cast<std::size_t>(kept);
}

class Search {
  public:
    Search(const Nest& nest, const Limits& limits)
        : n_(nest), l_(limits), rows_(nest, 0), cols_(nest, 1), taps_(nest.kernel[0] * nest.kernel[1]),
          grain_(std::min(nest.outputs, limits.output_grain)),
          sizes_(bytes_of({n_.images, n_.rows, n_.cols, n_.outputs, n_.inputs})), runs_(limits.runs) {
        best_.best_of.fill(kNone);
    }

    Tiling run() {
        const double least_inputs = l_.all_inputs ? n_.inputs : 1;
        const Tile smallest{1, 1, l_.whole_rows ? n_.cols : 1, grain_, least_inputs};
        const std::array<Tile, 3> one_whole = {Tile{n_.images, n_.rows, n_.cols, grain_, n_.inputs},
                                               Tile{1, 1, smallest.cols, n_.outputs, n_.inputs},
                                               Tile{n_.images, n_.rows, n_.cols, n_.outputs, least_inputs}};
        for (const Tile& t : one_whole)
            if (fits(t))
                take(t);
        const auto smaller = at(sizes_[at(Operand::weight)] < sizes_[at(Operand::input)] ? Stationary::weight
                                                                                         : Stationary::input);
        if (l_.keeps_smaller && runs_[smaller]) {
            runs_.fill(false);
            runs_[smaller] = true;
        }
        if (!(best_.bytes <= std::accumulate(sizes_.begin(), sizes_.end(), 0.0) * (1 + 1e-12)))
            search(least_inputs);
        if (best_.bytes == kNone)
            take_least(smallest);
        best_.bytes *= n_.groups;
        for (double& bytes : best_.best_of)
            bytes *= n_.groups;
        return best_;
    }

  private:
    static constexpr double kNone = std::numeric_limits<double>::infinity();
    struct Tile {
        double images, rows, cols, outputs, inputs;
    };

    /// Sums that stay, or whole reductions, want square tiles of outputs; weights that stay a tile of
    /// channels with few pixels; inputs that stay one of pixels and inputs with few outputs. What is left
    /// takes the room.
    void search(double least_inputs) {
        const Cuts cols(n_.cols, l_.whole_rows ? n_.cols : 1, 1.2);
        if (grain_ > 1)
            for (const double q : cols)
                most_rows(q, grain_, n_.inputs);
        for (const double k : Cuts(n_.outputs, 1, 1.12)) {
            if (least_with(k) >= best_.bytes)
                break;
            for (const double q : cols) {
                most_rows(q, k, n_.inputs);
                if (least_inputs < n_.inputs)
                    most_rows(q, k, least_inputs);
            }
        }
        if (l_.all_inputs)
            return;
        const Cuts few_cols(n_.cols, l_.whole_rows ? n_.cols : 1, 2), few_rows(n_.rows, 1, 2);
        for (const double c : Cuts(n_.inputs, 1, 1.2)) {
            const double sums = 2 * std::ceil(n_.inputs / c) - 1;
            if (sums * sizes_[at(Operand::output)] + sizes_[at(Operand::input)] +
                    sizes_[at(Operand::weight)] >=
                best_.bytes)
                break;
            for (const double q : few_cols) {
                most_rows(q, grain_, c);
                for (const double p : few_rows)
                    most_outputs(p, q, c);
            }
        }
    }
    /// Where not even the smallest tile that the machine runs fits, it turns over parts of one: of its
    /// outputs, then of its columns and inputs. Nothing is moved for less than with a tile that fits.
    void take_least(Tile t) {
        grain_ = 1;
        for (double Tile::*part : {&Tile::outputs, &Tile::cols, &Tile::inputs}) {
            for (const double size : Cuts(t.*part, 1, 1.12)) {
                t.*part = size;
                if (fits(t)) {
                    take(t);
                    return;
                }
            }
        }
        take(t);
    }
    /// The least that a tile of so many outputs moves: inputs pass for each, unless they stay.
    double least_with(double k) const {
        const bool stays = runs_[at(Stationary::input)];
        return sizes_[at(Operand::input)] * (stays ? 1 : std::ceil(n_.outputs / k)) +
               sizes_[at(Operand::weight)] + sizes_[at(Operand::output)];
    }

    std::array<double, kOperands> bytes_of(const Tile& t) const {
        return {t.images * rows_.touched(t.rows, 1) * cols_.touched(t.cols, 1) * t.inputs *
                    l_.width[at(Operand::input)],
                t.outputs * t.inputs * taps_ * l_.width[at(Operand::weight)],
                t.images * t.rows * t.cols * t.outputs * l_.width[at(Operand::output)]};
    }
    /// A part of an operand has the next part beside it.
    std::array<double, kOperands> held(const Tile& t) const {
        auto bytes = bytes_of(t);
        for (std::size_t i = 0; i < kOperands; ++i)
            if (l_.double_buffered && bytes[i] < sizes_[i])
                bytes[i] *= 2;
        return bytes;
    }
    bool fits(const Tile& t) const { return most(t, t) >= 0; }

    /// The largest whole number of steps from the first tile to the second that fit, where what is held grows
    /// by the same for each; below the grain, inputs take no more than weights. Negative: not even one fits.
    double most(const Tile& first, const Tile& second) const {
        const auto one = held(first), two = held(second);
        double steps = kNone, shared = l_.shared, growth = 0;
        const auto within = [&](double room, double grows) {
            steps = std::min(steps, room < 0 ? -1 : grows > 0 ? std::floor(room / grows) : kNone);
        };
        for (std::size_t i = 0; i < kOperands; ++i) {
            const double grows = two[i] - one[i];
            if (l_.own[i] > 0) {
                within(l_.own[i] - one[i], grows);
            } else {
                shared -= one[i];
                growth += grows;
            }
        }
        within(shared, growth);
        if (first.outputs < grain_)
            within(one[at(Operand::weight)] - one[at(Operand::input)],
                   two[at(Operand::input)] - one[at(Operand::input)]);
        return steps;
    }
    /// The most of an extent, in steps of a grain, that fits as a side of the tile; 0 where none does. Tiles
    /// of one and two steps that are not the whole are held alike.
    double most_of(Tile t, double Tile::*side, double extent, double grain) const {
        const auto with = [&](double size) {
            t.*side = size;
            return t;
        };
        if (fits(with(extent)))
            return extent;
        const double steps =
            extent > 2 * grain ? most(with(grain), with(2 * grain)) : fits(with(grain)) - 1.0;
        return steps < 0 ? 0 : std::min((1 + steps) * grain, extent);
    }
    void most_rows(double q, double k, double c) {
        Tile t{1, n_.rows, q, k, c};
        if (q == n_.cols && fits(t))
            t.images = most_of(t, &Tile::images, n_.images, 1);
        else
            t.rows = most_of(t, &Tile::rows, n_.rows, 1);
        if (t.rows > 0)
            take(t);
    }
    void most_outputs(double p, double q, double c) {
        Tile t{1, p, q, grain_, c};
        t.outputs = most_of(t, &Tile::outputs, n_.outputs, grain_);
        if (t.outputs > 0)
            take(t);
    }

    /// An operand passes again for each turn of a loop that does not index it, where one that does turns
    /// inside. Sums that are not complete come back.
    void take(const Tile& t) {
        const double row_cuts = std::ceil(n_.rows / t.rows), col_cuts = std::ceil(n_.cols / t.cols);
        const double nk = std::ceil(n_.outputs / t.outputs), nc = std::ceil(n_.inputs / t.inputs),
                     ns = std::ceil(n_.images / t.images) * row_cuts * col_cuts;
        const double halo = rows_.touched(n_.rows, l_.keeps_rows ? 1 : row_cuts) *
                            cols_.touched(n_.cols, col_cuts) /
                            (rows_.touched(n_.rows, 1) * cols_.touched(n_.cols, 1));
        const double input = halo * sizes_[at(Operand::input)], weight = sizes_[at(Operand::weight)],
                     output = sizes_[at(Operand::output)], sums = 2 * nc - 1;
        const bool k = nk > 1, c = nc > 1, s = ns > 1;
        const auto order = [&](const char* loops, Stationary kept, double inputs, double weights,
                               double partial) {
            if (!runs_[at(kept)])
                return;
            const double bytes = input * inputs + weight * weights + output * partial;
            best_.best_of[at(kept)] = std::min(best_.best_of[at(kept)], bytes);
            if (!(bytes < best_.bytes))
                return;
            best_ = {kept,   loops,     t.images,     t.rows,
                     t.cols, t.outputs, t.inputs,     {halo * inputs, weights, partial},
                     bytes,  0,         best_.best_of};
            for (const double part : held(t))
                best_.held += part;
        };
        order("kcs", Stationary::weight, c || s ? nk : 1, 1, s ? sums : 1);
        order("cks", Stationary::weight, s ? nk : 1, 1, k || s ? sums : 1);
        order("ksc", Stationary::output, c || s ? nk : 1, c ? ns : 1, 1);
        order("skc", Stationary::output, c ? nk : 1, k || c ? ns : 1, 1);
        order("csk", Stationary::input, 1, k ? ns : 1, k || s ? sums : 1);
        order("sck", Stationary::input, 1, k || c ? ns : 1, k ? sums : 1);
    }

    const Nest& n_;
    const Limits& l_;
    const Axis rows_, cols_;
    const double taps_;
    double grain_;
    const std::array<double, kOperands> sizes_;
    std::array<bool, kStationary> runs_;
    Tiling best_;
};

std::string_view name_of(Stationary kept) {
    constexpr std::array<std::string_view, kStationary> kNames = {"weight-stationary", "output-stationary",
                                                                  "input-stationary"};
    return kNames[at(kept)];
}

Tiling least_traffic(const Nest& nest, const Limits& limits) {
    struct Known {
        Nest nest;
        Limits limits;
        Tiling tiling;
    };
    constexpr std::size_t kSlots = 256; // shapes of a few networks
    thread_local std::vector<Known> known(kSlots);
    std::uint64_t hash = 0;
    for (const double x : {nest.images, nest.rows, nest.cols, nest.outputs, nest.inputs, nest.kernel[0],
                           nest.stride[0], nest.groups, limits.shared, limits.own[1], limits.width[0]})
        hash = (hash ^ std::bit_cast<std::uint64_t>(x)) * 0x9E3779B97F4A7C15U;
    Known& slot = known[(hash >> 32U) % kSlots];
    if (!(slot.nest == nest && slot.limits == limits && slot.tiling.bytes > 0 && *slot.tiling.order != '\0'))
        slot = {nest, limits, Search(nest, limits).run()};
    return slot.tiling;
}

} // namespace archsim::tiling
