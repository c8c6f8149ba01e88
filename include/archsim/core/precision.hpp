#pragma once
// Numeric formats: what a tensor stores and what an engine computes in.

#include "archsim/core/export.hpp"
#include "archsim/core/names.hpp"

#include <array>
#include <optional>
#include <string_view>

namespace archsim {

/// Formats an engine can multiply in, narrow to wide within each class.
enum class Precision { fp64, fp32, tf32, bf16, fp16, fp8, fp4, int32, int16, int8, int4 };
inline constexpr std::array kPrecisions = {
    Precision::fp64, Precision::fp32,  Precision::tf32,  Precision::bf16, Precision::fp16, Precision::fp8,
    Precision::fp4,  Precision::int32, Precision::int16, Precision::int8, Precision::int4};
inline constexpr std::size_t kPrecisionCount = kPrecisions.size();

/// Parses a name in any case; also "float16", "half", "float32", "bfloat16".
ARCHSIM_API std::optional<Precision> parse_precision(std::string_view text);
/// Storage size in bits (tf32 is stored in 32).
constexpr int bits_of(Precision p) {
    constexpr std::array<int, kPrecisionCount> kBits = {64, 32, 32, 16, 16, 8, 4, 32, 16, 8, 4};
    return kBits[static_cast<std::size_t>(p)];
}
constexpr double bytes_of(Precision p) {
    return bits_of(p) / 8.0;
}
constexpr bool is_integer(Precision p) {
    return p >= Precision::int32;
}

/// The formats of one run. `compute` is what the matrix units multiply in; weight-only schemes store
/// weights narrower than they compute (int4 weights, fp16 arithmetic).
struct PrecisionConfig {
    Precision compute = Precision::fp32;     ///< multiply format of matrix work
    Precision activations = Precision::fp32; ///< storage of activations
    Precision weights = Precision::fp32;     ///< storage of weights
    Precision kv_cache = Precision::fp32;    ///< storage of attention keys and values
    double weight_bits_overhead = 0.0;       ///< extra bits per weight (scales of block quantisation)
    double head_bits =
        0.0; ///< per weight of the output projection where a scheme keeps it wider; 0: as the others
    double table_bits =
        0.0; ///< per element of embedding tables where a scheme narrows them; 0: as activations
    double cache_bits = 0.0; ///< per cached key or value with its share of scales; 0: as `kv_cache` says
    /// Multiply format of convolutions where a stack treats them apart from other products.
    std::optional<Precision> convolutions;
    /// A request for fp32 products even from stacks that multiply fp32 tensors in a narrower format.
    bool strict_fp32 = false;
    /// Automatic mixed precision: weights stay fp32 in memory, products are in `compute`, and what norms,
    /// softmax and fp32 parameters yield is fp32. A stack runs so, nobody asks for it by name.
    bool autocast = false;
    /// Weights that a checkpoint quantised are narrower than it holds them: of fp8, somebody made fp4
    /// (nvidia/DeepSeek-R1-FP4). A request for such a format means it, nobody asks for it by name.
    bool requantized = false;

    /// The same format everywhere. tf32 stores fp32; int8 and int4 keep activations in the same format.
    static PrecisionConfig uniform(Precision p) {
        const Precision stored = p == Precision::tf32 ? Precision::fp32 : p;
        return {p, stored, stored, stored, 0.0};
    }
    /// Parses "fp16", "int8", "w8a16" (weights int8, activations and arithmetic 16 bit), "w4a16", "mixed".
    ARCHSIM_API static std::optional<PrecisionConfig> parse(std::string_view text);
    /// Equal in every format.
    bool operator==(const PrecisionConfig&) const = default;
};

} // namespace archsim
