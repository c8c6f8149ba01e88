#pragma once
// An estimate in the numbers that its differences are explained by: per kernel the operations, bytes and
// fixed costs behind its time, and the events behind its energy. It needs neither model nor device any more,
// so that an estimate of last week, read from a file, can be taken apart against one of today.

#include "archsim/compare/metric.hpp"
#include "result/common_regions.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace archsim {

/// Time of one kernel, or of several that are compared as one, by what it is made of. Whole batch, all
/// repeats.
struct RegionTime {
    double compute_s = 0;                        ///< of the compute lane, at the clock that runs
    double operations = 0;                       ///< useful operations (1 MAC = 2)
    double device_operations = 0;                ///< those that the device executes, not its host
    double starts = 0;                           ///< kernels or layers started
    double on_chip_clocked_s = 0, on_chip_s = 0; ///< at full clock; part that no clock scales
    double bytes = 0, memory_s = 0;              ///< activations
    double weight_bytes = 0, weight_s = 0;       ///< weights
    double fixed_clocked_s = 0, fixed_s = 0;     ///< per kernel and layer
    double host_s = 0;                           ///< unsupported operators and transfers
    double body_s = 0;        ///< overlapped part as estimated, without fixed and host time
    double serialisation = 1; ///< body / combine(lanes): kernels of one region do not overlap each other

    /// Both, one after the other; `serialisation` is left to whoever sums.
    RegionTime& operator+=(const RegionTime& other);
    /// Everything that grows with the work, times `factor`.
    RegionTime& scale(double factor);
};

/// A number of a struct and its key in files. (The struct is spelled: the browser's compiler does not deduce
/// the arguments of aggregates.)
template <class Struct>
struct Number {
    const char* key;
    double Struct::*member;
};
/// The terms that add up over kernels.
inline constexpr std::array kRegionTimes = {
    Number<RegionTime>{"compute_s", &RegionTime::compute_s},
    Number<RegionTime>{"operations", &RegionTime::operations},
    Number<RegionTime>{"device_operations", &RegionTime::device_operations},
    Number<RegionTime>{"starts", &RegionTime::starts},
    Number<RegionTime>{"on_chip_clocked_s", &RegionTime::on_chip_clocked_s},
    Number<RegionTime>{"on_chip_s", &RegionTime::on_chip_s},
    Number<RegionTime>{"bytes", &RegionTime::bytes},
    Number<RegionTime>{"memory_s", &RegionTime::memory_s},
    Number<RegionTime>{"weight_bytes", &RegionTime::weight_bytes},
    Number<RegionTime>{"weight_s", &RegionTime::weight_s},
    Number<RegionTime>{"fixed_clocked_s", &RegionTime::fixed_clocked_s},
    Number<RegionTime>{"fixed_s", &RegionTime::fixed_s},
    Number<RegionTime>{"host_s", &RegionTime::host_s},
    Number<RegionTime>{"body_s", &RegionTime::body_s}};

/// One operator, as far as it says which operator of another graph is the same.
struct OperatorRecord {
    std::string name, type;
    std::string shape; ///< of its results and weights, without the batch
};

struct KernelRecord {
    std::string name;
    std::string kind;                     ///< operator class, see operator_class()
    std::vector<std::uint32_t> operators; ///< into GraphRecord::operators
    RegionTime time;
    double latency_s = 0;
    Bound bound = Bound::compute;
    EventCounts events;
    EnergyBreakdown energy;
};

struct GraphRecord {
    std::string name; ///< of the part; empty for a model of one graph
    double repeat = 1, batch = 1;
    double peak = 0;      ///< operations per second of the engine that runs, at full clock
    double bandwidth = 0; ///< bytes per second; infinite without external memory
    double exponent = 4;  ///< of the lanes' overlap
    double clock_ratio = 1;
    bool prefetch = false; ///< weights stream ahead over the whole network
    double latency_s = 0;
    double interval_s = 0; ///< between finished batches
    double static_power_w = 0;
    std::vector<OperatorRecord> operators; ///< with run-time work; may be left out where nothing is aligned
    std::vector<KernelRecord> kernels;
    KernelRecord network; ///< once per inference
};

struct EstimateRecord {
    std::string model, hardware, stack;
    std::string question;      ///< every other field that was asked for, as one text; empty: not known
    PrecisionConfig precision; ///< as asked for
    double batch = 1;
    std::map<std::string, std::int64_t> dims; ///< sizes of symbolic dimensions
    std::map<std::string, Measure> values;    ///< by key of the metric; those it has
    double weight_bytes = 0, activation_bytes = 0, kv_cache_bytes = 0, workspace_bytes = 0;
    double chip_j = 0, chip_w = 0; ///< energy and power without what lies around the chip
    double price_per_s = 0, seconds_per_inference = 0, electricity = 0; ///< USD; zeros where it has no cost
    std::vector<double> inputs; ///< by Factor: its value over the whole network; empty where not asked for
    std::vector<GraphRecord> graphs;
};

/// How much record_of() writes down.
enum class RecordDetail : std::uint8_t {
    numbers, ///< without operators and inputs: for one graph against itself
    all,
};

/// Takes an estimate with its subgraphs apart.
EstimateRecord record_of(const Result& result, const CostOptions& cost = {},
                         RecordDetail detail = RecordDetail::all);

struct DeviceTime {
    double peak = 0;      ///< operations per second at full clock
    double bandwidth = 0; ///< bytes per second; infinite without external memory
    double exponent = 4;
    double clock_ratio = 1;
    double stretch = 1;              ///< pauses of a device that exceeds its power limit at its lowest clock
    double concurrency = 1;          ///< interval between batches over latency
    bool prefetch = false;           ///< weights stream ahead over the whole network
    std::vector<RegionTime> regions; ///< one per common region of this graph
    RegionTime network;              ///< once per inference
};

/// `index` of the side among those the regions were made from; `part` of the graph. All times are multiplied
/// by `scale` (executions per inference; inferences per batch).
DeviceTime time_model(const GraphRecord& graph, const std::vector<CommonRegion>& regions, std::size_t index,
                      std::size_t part, double scale = 1);

/// The numbers of one graph on its device that time_model() and the energy of regions need.
GraphRecord record_of_graph(const Result& leaf, RecordDetail detail);

} // namespace archsim
