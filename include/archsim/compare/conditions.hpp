#pragma once
// Under what conditions a workload is estimated: the half of a question that is not the workload.

#include "archsim/core/precision.hpp"
#include "archsim/extend/fusion_policy.hpp"
#include "archsim/hardware/device_changes.hpp"
#include "archsim/map/machine.hpp"
#include "archsim/map/machine_changes.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// The formats that a question names, or none: then those that are usual for what is asked (settled()).
/// @code
/// Conditions conditions;
/// assert(!conditions.precision.named()); // an answer to a prompt runs in bf16
/// conditions.precision = PrecisionConfig::uniform(Precision::fp32);
/// assert(conditions.precision.named()); // and now in fp32
/// @endcode
class AskedPrecision : public PrecisionConfig {
  public:
    /// None.
    AskedPrecision() = default;
    /// These.
    AskedPrecision(const PrecisionConfig& formats) : PrecisionConfig(formats), assigned_(true) {}

    /// Whether formats were assigned, whole or one by one; `strict_fp32` alone names none.
    bool named() const {
        PrecisionConfig none;
        none.strict_fp32 = strict_fp32;
        return assigned_ || !(static_cast<const PrecisionConfig&>(*this) == none);
    }

  private:
    bool assigned_ = false;
};

struct ParameterOverride;

/// Another network on the same device, and how often it runs: "midas@5fps".
struct Companion {
    std::string model; ///< as Session::load takes it
    double every_s = 0;
    /// The same in everything.
    bool operator==(const Companion&) const = default;
};

/// Nominal, of a lithium-ion cell (IEC 61960-3).
inline constexpr double kCellVolts = 3.7;

/// How often a device works, and for whom else; it is idle in what time is left. Power, energy and money of
/// a result are then those of all the time, and a device that cannot keep up misses a limit.
struct Duty {
    double every_s = 0; ///< from the start of one inference to that of the next; 0: none is stated
    std::vector<Companion> with = {};
    double battery_wh = 0; ///< 0: none
    double cell_volts = kCellVolts;
    double idle_w = 0; ///< of every device between inferences; 0: what the database says of each
    /// True when time is left, or shared.
    bool stated() const { return every_s > 0 || !with.empty(); }
    /// The same in everything.
    bool operator==(const Duty&) const = default;
};

/// How a workload runs. The defaults are those of the tools.
struct Conditions {
    AskedPrecision precision; ///< what runs is Estimate::executed
    /// In place of fp32, where no format is named and neither the file nor the question has one of its own:
    /// what is usual for the device: the fastest of deployed_on().
    bool format_of_device = false;
    std::optional<Precision> weights = {}; ///< storage of weights where it differs from that of `precision`
    /// Storage of cached keys and values; absent: that of `precision`, and on stacks for language models what
    /// their scheme does.
    std::optional<Precision> kv_cache = {};
    Scenario scenario = Scenario::latency;
    Scope scope = Scope::kernel;
    double devices = 1;     ///< of one kind that share every layer; 0: as many as a language model needs
    std::string stack = {}; ///< software stack by name or alias; empty: the device's default
    std::optional<FusionPolicy> fusion = {}; ///< instead of the stack's
    /// The stack keeps on chip whatever fits, between layers and between inferences, also where its compiler
    /// is known not to.
    bool ideal_mapping = false;
    bool allow_unknown = false;   ///< estimate although a part of the model is not understood
    bool keep_subgraphs = true;   ///< false: totals only, for searches
    MachineChanges changes = {};  ///< to the rates and costs of the device as the database states it
    DeviceChanges structure = {}; ///< to its structure
    /// Parameters to take instead of those that the database states; null: none.
    std::shared_ptr<const std::vector<ParameterOverride>> overrides = {};
    Duty duty = {}; ///< without: one inference after another

    /// The formats asked for, with the cache's.
    PrecisionConfig formats() const {
        PrecisionConfig config = precision;
        config.kv_cache = kv_cache.value_or(config.kv_cache);
        return config;
    }
};

} // namespace archsim
