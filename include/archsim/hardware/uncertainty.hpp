#pragma once
// How far estimates were from measurements they were not fitted on: hardware_db/uncertainty.json, written by
// the validation tool, never by hand.

#include "archsim/core/export.hpp"
#include "archsim/hardware/device.hpp"
#include "archsim/hardware/runtime.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// Measured value lies between `low` x and `high` x the prediction with nominal 90 % probability.
struct Spread {
    double low = 1, high = 1;
    int rows = 0;           ///< left-out measurements behind it
    std::string_view basis; ///< "GPU, launch-bound, fitted device"; owned by the table
};

/// What a width is for. Prefill and decode are the time per prompt and per generated token of a language
/// model; first and later token what clients of a server wait for under load.
enum class SpreadOf : std::uint8_t {
    latency,
    throughput,
    prefill,
    decode,
    energy,
    power,
    first_token,
    later_token
};

/// What an estimate's parameters rest on: measurements of this very device under this stack, of the stack on
/// other devices, or of neither. Only the parameters that price the part which dominates count: `regime` is
/// "compute", "memory" or "overhead".
enum class Evidence : std::uint8_t { device, stack, none };
ARCHSIM_API Evidence evidence_for(const Device& device, const Runtime& runtime, std::string_view regime);
/// "device", "stack" or "none", as hardware_db/uncertainty.json spells it.
ARCHSIM_API std::string_view name_of(Evidence evidence);
/// "latency", "throughput", ...
ARCHSIM_API std::string_view name_of(SpreadOf metric);

/// Widths of intervals by family, regime and kind of provenance.
class ARCHSIM_API UncertaintyTable {
  public:
    /// Classes of residuals: {"metric", "family", "generation", "device", "runtime", "regime", "evidence",
    /// "low", "high", "rows", "basis"}; a selector that is left out covers everything.
    explicit UncertaintyTable(const std::filesystem::path& file);
    ~UncertaintyTable();
    /// Tables move; they are not copied.
    UncertaintyTable(UncertaintyTable&&) noexcept;
    /// Tables move; they are not copied.
    UncertaintyTable& operator=(UncertaintyTable&&) noexcept;

    /// True where measurements of this very chip are known, or of chips of its family under this stack. What
    /// is neither is a projection: an estimate that nothing measured stands behind.
    bool measured(const Device& device, const Runtime& runtime) const;

    /// evidence_for, and `device` instead of `stack` where this very device was measured under this stack:
    /// its rows took part in the fit, so that what is new of an estimate is its network.
    Evidence evidence(const Device& device, const Runtime& runtime, std::string_view regime) const;

    /// The narrowest class with enough rows ("minimum_rows" of the file) that covers the case: device first,
    /// then generation, runtime, family, evidence, regime. `regime` is "compute", "memory" or "overhead".
    /// A projection takes at least the width of "projection" in the file.
    Spread spread(SpreadOf metric, const Device& device, const Runtime& runtime,
                  std::string_view regime) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace archsim
