#pragma once
// One device of the hardware database, as its JSON file states it. Values are SI; every number is a Fact.

#include "archsim/core/export.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/core/precision.hpp"
#include "archsim/core/provenance.hpp"
#include "archsim/hardware/family.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

enum class EngineClass : std::uint8_t { matrix, vector, special };

/// `count` identical units; each does `ops_per_clock[precision]` dense operations (1 MAC = 2) per clock.
struct Engine {
    std::string name;
    EngineClass kind = EngineClass::vector;
    std::string unit; ///< what is counted: "SM", "core", "tile"
    double count = 0;
    /// Instructions that reach it where a stack needs kernels of its own for them ("amx", "sme"): stacks say
    /// which they have (Runtime::uses). Empty: every stack uses it.
    std::string isa;
    bool shared = false; ///< a unit beside several cores, which take turns at it, with a clock of its own
    Fact clock;          ///< Hz
    std::array<Fact, kPrecisionCount> ops_per_clock{}; ///< of one unit; unknown = not native
    /// Operations per clock of one unit; unknown where the format is not native.
    const Fact& rate(Precision p) const { return ops_per_clock[static_cast<std::size_t>(p)]; }
    /// True when the format is native.
    bool supports(Precision p) const { return rate(p).known(); }
};

/// Where an on-chip memory stands between the compute units and external memory.
enum class MemoryRank : std::uint8_t {
    l1,
    l2,
    last, ///< shared last-level cache: L3, system-level cache
    other ///< register files, scratchpads, buffers
};
/// The unit that a capacity and a rate per clock hold for.
enum class MemoryScope : std::uint8_t {
    unit, ///< each core, multiprocessor, tile, array, cluster
    chip  ///< all units together
};

/// One on-chip level, near the compute units first.
struct MemoryLevel {
    std::string name;       ///< "L2", "VMEM"
    std::string scope_name; ///< "core", "SM", "tile", "chip", "socket", ...
    MemoryRank rank = MemoryRank::other;
    MemoryScope scope = MemoryScope::unit;
    Fact capacity;        ///< bytes per scope
    Fact bandwidth;       ///< bytes/s over all units
    Fact bytes_per_clock; ///< per scope
    double count = 1;     ///< of them on the chip, where these are neither one nor one per compute unit
    /// How many of it a chip of that many compute units has.
    double copies(double units) const { return count > 1 ? count : scope == MemoryScope::unit ? units : 1.0; }
};

/// The external memory.
struct Dram {
    std::string type;
    Fact capacity, bandwidth, achievable_fraction;
};

/// A way to run the device: active units, clocks, memory speed and power limit.
struct PowerMode {
    std::string name;
    Fact active_units;
    Fact clock;                ///< Hz of the compute engines
    Fact memory_bandwidth;     ///< bytes/s, peak in this mode
    Fact measured_bandwidth;   ///< bytes/s, streamed, where published
    Fact limit;                ///< watts; unknown = not published
    bool uncapped = false;     ///< no software limit
    Fact active_idle;          ///< watts with clocks up and nothing running
    Fact cpu_cores, cpu_clock; ///< of the host processor on the same module
    std::vector<std::string> aliases;
};

/// A part that a device can be divided into, with units, cache and memory of its own ("H100@1g.10gb").
struct DeviceSlice {
    std::string name;
    double units = 0;               ///< compute units that work in it
    double compute = 0, memory = 0; ///< of the slices into which the whole is divided; the largest has all
};

/// A machine that is let as one: so many of a device for a price an hour.
struct RentalSize {
    std::string name;
    double devices = 1, usd_per_hour = 0;
};

/// The price of a device, bought or rented.
struct Price {
    Fact amount; ///< USD or USD/h
    std::string date, instance;
    std::vector<RentalSize> instances = {}; ///< sizes that are let, fewest devices first; empty: not known
    /// Who rents it out, "hyperscaler", "specialised cloud" or "marketplace": what the second asks for an
    /// H100 is less than half of what the first does, so that prices of one market alone compare.
    std::string market;
};

/// A peak as the vendor states it; the checker compares it with units x rate x clock.
struct StatedPeak {
    EngineClass kind = EngineClass::matrix;
    Precision precision = Precision::fp32;
    Fact ops_per_second;
    bool nominal = false; ///< a unit rate or clock is unpublished, only the product means anything
};

/// A named value: one fitted on measurements of this very device (at most six), or an energy constant of it.
struct FittedParameter {
    std::string name;
    Fact fact;
    std::string runtime; ///< software stack the fit holds for; empty = every stack
};

/// A device as its file states it, in SI units.
struct Device {
    std::string id, name, vendor, codename, generation;
    std::vector<std::string> aliases;
    Family family;
    int year = 0;
    bool for_servers = false; ///< sold for data centres, which cool it and hold its limit low
    Fact process_nm;
    Fact clock_base, clock_boost; ///< boost: the highest; of CPUs with a single core busy
    Fact clock_all_core;          ///< highest with every core busy
    Fact clock_sustained;         ///< under dense matrix work within the power limit
    Fact clock_vector;
    /// For a changed design: what other devices tell of energy holds at the clock before it, and what is
    /// known of the device's own die grows with its units, the sides of its arrays and its memory.
    double clock_change = 1, unit_change = 1, array_change = 1, memory_change = 1;
    std::vector<Engine> engines;
    std::vector<StatedPeak> peaks;
    std::vector<MemoryLevel> memory;
    std::optional<Dram> dram;
    Fact dispatch_kernel, dispatch_graph_kernel; ///< seconds per kernel; in a captured graph
    Fact dispatch_inference;                     ///< seconds to start one inference of a compiled network
    Fact tdp, idle, active_idle;                 ///< watts
    Fact embodied_carbon;                        ///< kg CO2e of making one device, as its vendor publishes it
    Fact board_draw; ///< watts of the board around chip or module while in use: what neither of them is
    std::vector<PowerMode> power_modes;
    std::string default_power_mode, peak_power_mode;
    std::vector<DeviceSlice> slices;          ///< least first
    Fact link_bandwidth, host_link_bandwidth; ///< bytes/s one way: chip to chip, host to device
    double node_devices = 0;                  ///< devices that the links join; 0: as many as anybody asks for
    Fact network_bandwidth;                   ///< bytes/s one way of one device to those of other nodes
    std::string host_link_type, interconnect_type;
    std::optional<Price> list_price, cloud_price;
    std::optional<Price> server_price;   ///< of a card: its part of the server that holds it
    std::vector<FittedParameter> energy; ///< energy constants given for this device, by event name
    FamilyBlock facts;                   ///< what only its family states; see family_number()
    /// Id of the processor that runs unsupported operators, and from whose memory a chip that has none takes
    /// its weights.
    std::string host;
    /// Named with its host ("Raspberry Pi 5 + Hailo-8L"): its power is that of the whole at the wall, unless
    /// somebody asks for another boundary.
    bool in_computer = false;
    std::vector<std::string> runtimes;
    std::string default_runtime;
    std::vector<FittedParameter> fitted;
    std::vector<std::string> notes;
    std::string file;              ///< where it was read from
    std::vector<Finding> findings; ///< problems of the entry that do not prevent its use

    /// The on-chip level of that name, or null.
    ARCHSIM_API const MemoryLevel* level(std::string_view name) const;
    /// Dense peak: sum over the engines of that class of units x operations per clock x clock, in operations
    /// per second; 0 when none has this precision.
    double peak(EngineClass kind, Precision p) const {
        double sum = 0;
        for (const Engine& engine : engines)
            if (engine.kind == kind && engine.supports(p))
                sum += engine.count * engine.rate(p).value * engine.clock.value_or(0);
        return sum;
    }
    /// True when a native engine of that class has this precision.
    bool supports(EngineClass kind, Precision p) const {
        return std::any_of(engines.begin(), engines.end(),
                           [&](const Engine& engine) { return engine.kind == kind && engine.supports(p); });
    }
    ARCHSIM_API const PowerMode*
    power_mode(std::string_view name) const; ///< case-insensitive; null when absent
};

} // namespace archsim
