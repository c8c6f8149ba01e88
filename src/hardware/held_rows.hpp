#pragma once
// Which measurements there are, and whether estimates held: hardware_db/evidence.json, every published row
// that the project holds against its estimate, counted by chip, stack, kind of network and kind of time.
// Written by scripts/validate.

#include "archsim/hardware/device.hpp"
#include "archsim/hardware/runtime.hpp"
#include "archsim/ops/shaped_graph.hpp"
#include "hardware/error_model.hpp"

#include <filesystem>

namespace archsim {

/// Times that are measured together: of an inference, a prompt, a token, or what clients of a server wait
/// for.
enum class TimeKind : std::uint8_t { inference, prefill, decode, served };
/// The kind of a time; power and energy count as an inference.
TimeKind time_kind(SpreadOf metric);

/// Rows of one chip under one stack.
struct HeldSet {
    std::string family, vendor, generation, device, runtime;
    NetworkKind kind = NetworkKind::convolution;
    TimeKind time = TimeKind::inference;
    int rows = 0, inside = 0;             ///< inside: measured values within their 90 % intervals
    double low = 1, median = 1, high = 1; ///< measured time over estimated: P10, P50, P90
    std::string example;                  ///< the network that most of the rows are of
};

/// The evidence of the rows for an estimate.
struct HeldEvidence {
    bool projected = true, related = false;
    std::string unlike, refuted, refuted_rows; ///< see Estimate
    double variance = 0; ///< to add where only other kinds of networks were measured of such chips
};

struct HeldRows {
    std::vector<HeldSet> sets;
    /// Variance of what a kind of network has to itself on a chip and stack, in the logarithm.
    double kind_variance = 0;

    /// The evidence for a network on a device. Rows of the same vendor's chips of one generation stand for
    /// each other, those of other vendors never do.
    HeldEvidence of(const Device& device, const Runtime& runtime, TimeKind time, NetworkKind kind) const;
    /// True where any network was measured of the device or of its generation, and the time is of the kind.
    bool measured(const Device& device, const Runtime& runtime, TimeKind time) const;
    /// True where the stack was measured on a chip of the vendor.
    bool same_vendor(const Device& device, const Runtime& runtime) const;
};

/// Reads the table; empty where there is none. Throws InputError for one that is not as it should be.
HeldRows read_held_rows(const std::filesystem::path& file);

/// The words for one network of the kind, and for several: "transformer", "transformers".
std::array<std::string_view, 2> words_of(NetworkKind kind);

} // namespace archsim
