#pragma once
// The least traffic of a contraction between two levels of memory: what its loop nest reads and writes, what
// a buffer must hold for that, and the loop order and tile sizes of the fewest bytes. A pure function; it
// knows neither devices nor time.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace archsim::tiling {

enum class Operand : std::uint8_t { input, weight, output };
inline constexpr std::size_t kOperands = 3;

/// Loops of a contraction: every output is a sum over input channels and taps. A matrix product has one
/// column of outputs and one tap.
struct Nest {
    double images = 1, rows = 1, cols = 1; ///< outputs in space, which reuse weights
    double outputs = 1, inputs = 1;        ///< channels of one group
    std::array<double, 2> kernel{1, 1}, stride{1, 1}, dilation{1, 1};
    /// Rows and columns that inputs have: zeros around them lie in no buffer.
    std::array<double, 2> extent{std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::infinity()};
    double groups = 1; ///< of them share nothing
    bool operator==(const Nest&) const = default;
};

/// The operand that stays in the buffer while the innermost loop runs.
enum class Stationary : std::uint8_t { weight, output, input };
inline constexpr std::size_t kStationary = 3;
std::string_view name_of(Stationary kept); ///< "weight-stationary"

/// The capacity of the buffers, and the tiles that the machine can run.
struct Limits {
    double shared = 0;                            ///< bytes of operands without a buffer of their own
    std::array<double, kOperands> own{};          ///< bytes of one operand's; 0: it lies in the shared one
    std::array<double, kOperands> width{1, 1, 1}; ///< bytes of an element
    std::array<bool, kStationary> runs{true, true, true};
    bool whole_rows = false;      ///< a tile spans the image's width
    bool all_inputs = false;      ///< a tile spans all input channels
    bool double_buffered = false; ///< the next part loads beside the one at work
    bool keeps_rows = false;      ///< rows that neighbouring tiles both read stay from one to the next
    bool keeps_smaller = false;   ///< of inputs and weights the smaller stays where both do not pass once
    double output_grain = 1;      ///< channels that a tile has, unless half of what it holds are weights
    bool operator==(const Limits&) const = default;
};

/// A schedule and what it moves.
struct Tiling {
    Stationary kept = Stationary::output;
    const char* order = ""; ///< outermost first: k outputs, c inputs, s space
    double images = 1, rows = 1, cols = 1, outputs = 1, inputs = 1; ///< of a tile
    std::array<double, kOperands> passes{1, 1, 1};                  ///< bytes moved over bytes there are
    double bytes = std::numeric_limits<double>::infinity();         ///< of all groups
    double held = 0;                                                ///< bytes of a tile's operands
    /// The fewest bytes with each operand kept; infinity where no such order runs.
    std::array<double, kStationary> best_of{};
};

/// The schedule of the fewest bytes. Where not even the smallest tile fits, it is what that one moves: no
/// buffer moves more. Never less than each operand once; more room never moves more, because every tile that
/// fitted still does. Each thread remembers what it searched last: a network asks for the same shapes on
/// every device. Worked: a product of 1024 x 1024 x 1024 bytes with 1 KiB keeps 32 x 30 sums and reads each
/// operand 32 and 35 times.
Tiling least_traffic(const Nest& nest, const Limits& limits);

} // namespace archsim::tiling
