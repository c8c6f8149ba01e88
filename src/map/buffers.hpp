#pragma once
// Statements of devices about their buffers beside a capacity (which operand lies where, which tiles and loop
// orders the machine runs), and what a subgraph then moves beyond reading and writing everything once. For
// the mappers alone.

#include "archsim/extend/mapper.hpp"
#include "hardware/family_table.hpp"
#include "map/tiled.hpp"

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// Part of the facts of a family that tiles contractions.
struct BufferFacts : FamilyFacts {
    Fact input_buffer, weight_buffer, output_buffer, output_grain;
    std::vector<std::string> tile_orders;
    bool whole_rows = false, all_inputs = false, keeps_rows = false, double_buffered = false,
         keeps_smaller = false;
};

/// Base of the facts of such a family, as FactsOf of others: `struct CgraFacts : TiledFacts<CgraFacts>`.
template <class Facts>
struct TiledFacts : BufferFacts {
    std::unique_ptr<FamilyFacts> clone() const override {
        return std::make_unique<Facts>(static_cast<const Facts&>(*this));
    }
    const void* type() const override { return &kFactsType<Facts>; }
};

inline constexpr std::array<std::string_view, tiling::kStationary> kTileOrders = {
    "weight-stationary", "output-stationary", "input-stationary"};

/// Their rows in the block of a family.
inline constexpr std::array kBufferRows = {
    fact("input_buffer", &BufferFacts::input_buffer,
         "Buffer of inputs alone; absent: they lie in the shared one.",
         {.unit = "B", .high = 1e12, .scales_with = Structure::on_chip_memory}),
    fact("weight_buffer", &BufferFacts::weight_buffer,
         "Buffer of weights alone; absent: they lie in the shared one.",
         {.unit = "B", .high = 1e12, .scales_with = Structure::on_chip_memory}),
    fact("output_buffer", &BufferFacts::output_buffer,
         "Buffer of outputs alone, from which no later layer reads; absent: they lie in the shared one.",
         {.unit = "B", .high = 1e12, .scales_with = Structure::on_chip_memory}),
    fact("output_grain", &BufferFacts::output_grain,
         "Output channels that a tile has, unless half of what it holds are their weights; absent: as "
         "many as the array makes at once.",
         {.high = 65536}),
    fact("tile_orders", &BufferFacts::tile_orders,
         "Loop orders that the machine runs, by the operand that stays in the buffer; absent: all.",
         {.words = kTileOrders}),
    fact("whole_rows", &BufferFacts::whole_rows, "A tile spans the width of an image."),
    fact("all_inputs", &BufferFacts::all_inputs, "A tile spans all input channels."),
    fact("keeps_rows", &BufferFacts::keeps_rows,
         "Rows that two neighbouring tiles read stay in the buffer from one to the next."),
    fact("keeps_smaller", &BufferFacts::keeps_smaller,
         "Of inputs and weights the smaller stays, and fills what the smallest tile of the other leaves."),
    fact("double_buffered", &BufferFacts::double_buffered,
         "The next part of an operand loads beside the one at work."),
};

/// The rows of a family with those behind them.
template <std::size_t N, std::size_t M>
constexpr std::array<FactRow, N + M> with_rows(const std::array<FactRow, N>& own,
                                               const std::array<FactRow, M>& more) {
    return [&]<std::size_t... I, std::size_t... K>(std::index_sequence<I...>, std::index_sequence<K...>) {
        return std::array<FactRow, N + M>{own[I]..., more[K]...};
    }
    (std::make_index_sequence<N>(), std::make_index_sequence<M>());
}

/// `capacity` is what operands share that have no buffer of their own. An array makes `channels` of the
/// output at once: a tile of fewer would leave a part of it without work, so that they are the grain where
/// none is stated.
tiling::Limits limits_of(const BufferFacts& facts, double capacity, double channels = 1);
/// Bytes in which results may wait for the layer that reads them: none where they lie in a buffer of their
/// own.
double between_layers(const BufferFacts& facts, double capacity);

/// Bytes beyond reading and writing everything once, because buffers do not hold it.
struct Again {
    double activations = 0, weights = 0;
};
/// The sum over the subgraph's products outside the host, of which each of `parts` runs a part of the images
/// in a buffer of its own; widths of `limits` are factors on what elements take. A fused attention keeps its
/// scores by its own schedule and is left out.
Again moved_again(const SubgraphWork& work, const Machine& machine, const tiling::Limits& limits,
                  double parts);

/// That of the largest product, with the limits of a machine; nothing where no product is tiled.
std::optional<KnowsTiling::Tiled> largest_tiled(const SubgraphWork& work, const Machine& machine,
                                                const tiling::Limits& limits, double parts, bool on_chip);

} // namespace archsim
