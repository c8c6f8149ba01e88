#include "machine/processor_entry.hpp"

#include "machine/entry_writer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;
using Known = EntryWriter::Known;

constexpr double kKibi = 1024, kMebi = kKibi * kKibi, kGibi = kMebi * kKibi, kMega = 1e6, kGiga = 1e9,
                 kTera = 1e12;

// Where nothing is known. A core of the last ten years runs near 3 GHz with all cores busy; it has at least
// 128-bit vectors with two multiply-adds a clock, 32 KiB of L1 and 512 KiB of L2, and streams 10 GB/s from
// DRAM.
constexpr double kUnknownClock = 3e9, kUnknownL1 = 32 * kKibi, kUnknownL2 = 512 * kKibi,
                 kUnknownBandwidth = 10e9;
constexpr double kUnknownLanes = 4, kUnknownPipes = 2, kUnknownMemory = 8 * kGibi;
// All cores busy: a server keeps about 1.3 times its base clock, any chip about 0.9 of its highest.
constexpr double kOverBase = 1.3, kUnderBoost = 0.9;
constexpr int kUnknownYear = 2020;

class Builder {
  public:
    Builder(const ProcessorSeen& seen, const Match& match, const ProbeResult& probe)
        : seen_(seen), match_(match), probe_(probe), out_(std::string(kThisMachine)) {}

    MachineEntry build() {
        whole_ = match_.same && !seen_.hypervisor && seen_.limit.empty() &&
                 seen_.cores == device()->cpu.cores.value_or(0) * device()->cpu.sockets.value_or(1);
        identity();
        clocks();
        engines();
        caches();
        memory();
        power();
        threads();
        out_.document["runtimes"] = stacks();
        out_.document["default_runtime"] = "onnxruntime-cpu";
        remarks();
        return out_.finish();
    }

  private:
    const Device* device() const { return match_.device.get(); }

    static Known detected(double value, std::string from) {
        return {value, Origin::detected, std::move(from)};
    }
    static Known assumed(double value, std::string from) { return {value, Origin::assumed, std::move(from)}; }
    Known borrowed(double value, const std::string& why = {}) const {
        return {value, Origin::database,
                why.empty() ? device()->id : fmt::format("{}: {}", device()->id, why)};
    }
    /// Seen, else the device's, else the assumption.
    Known first_of(const std::optional<double>& seen, const char* from, const Fact* fact,
                   const Known& otherwise) const {
        if (seen)
            return detected(*seen, from);
        return fact != nullptr && fact->known() ? borrowed(fact->value) : otherwise;
    }

    void identity() {
        MachineEntry& entry = out_.entry();
        entry.title = !seen_.name.empty() ? seen_.name
                      : seen_.core        ? std::string(seen_.core->title)
                                          : "unknown processor";
        entry.matched = device() != nullptr ? device()->id : "";
        entry.match = match_.reason;
        Json& d = out_.document;
        d["id"] = kThisMachine;
        d["name"] = fmt::format("{}, {:g} core{}", entry.title, seen_.cores, seen_.cores == 1 ? "" : "s");
        d["vendor"] = seen_.core            ? std::string(seen_.core->vendor)
                      : device() != nullptr ? device()->vendor
                                            : "unknown";
        d["family"] = "cpu";
        d["codename"] = seen_.core ? std::string(seen_.core->title) : "unknown";
        d["generation"] = seen_.core            ? std::string(seen_.core->generation)
                          : device() != nullptr ? device()->generation
                                                : "unknown";
        d["year"] = seen_.core ? seen_.core->year : device() != nullptr ? device()->year : kUnknownYear;
        if (device() != nullptr && device()->process_nm.known())
            d["process"] = out_.quantity(borrowed(device()->process_nm.value), "nm");
        cores_ = seen_.cores_counted
                     ? detected(seen_.cores, seen_.limit.empty() ? "/proc/cpuinfo" : seen_.limit)
                     : assumed(1, "nothing says how many there are");
        out_.fact("cores", fmt::format("{:g}", cores_.value), cores_);
    }

    /// Clock with all visible cores busy in vector code.
    Known sustained() const {
        if (const auto& clock = probe_.vector_clock_hz ? probe_.vector_clock_hz : probe_.clock_hz)
            return {*clock, Origin::measured, "loop of dependent instructions"};
        if (device() != nullptr)
            for (const Fact* fact :
                 {&device()->clock_vector, &device()->clock_sustained, &device()->clock_boost})
                if (fact->known())
                    return borrowed(fact->value, "clock with all cores busy");
        if (seen_.boost_hz)
            return assumed(*seen_.boost_hz * kUnderBoost, "0.9 of the highest clock");
        if (seen_.base_hz)
            return assumed(*seen_.base_hz * kOverBase, "1.3 times the base clock");
        return assumed(kUnknownClock, "a processor of the last ten years");
    }

    void clocks() {
        const Known sustained_clock = sustained();
        base_ = first_of(seen_.base_hz, "cpufreq, leaf 16h or the time-stamp counter",
                         device() != nullptr ? &device()->clock_base : nullptr,
                         assumed(sustained_clock.value, "as the clock with all cores busy"));
        Known boost = first_of(seen_.boost_hz, "cpufreq or leaf 16h",
                               device() != nullptr ? &device()->clock_boost : nullptr, sustained_clock);
        boost.value = std::max({boost.value, base_.value, sustained_clock.value});
        Json& c = out_.document["clocks"];
        const auto add = [&](const char* key, const char* title, const Known& clock) {
            c[key] = out_.quantity(clock, "MHz", kMega);
            out_.fact(title, fmt::format("{:.2f} GHz", clock.value / kGiga), clock);
        };
        add("base", "clock, base", base_);
        add("boost", "clock, highest", boost);
        add("sustained", "clock, all cores busy", sustained_clock);
    }

    /// Rates of one core by format: the device's own where it has the instructions, else lanes x pipes x 2.
    void add_vector_engine(Json& engines, Json& peaks) {
        Json rates = Json::object();
        Known rate;
        const Engine* like = nullptr;
        if (device() != nullptr)
            for (const Engine& engine : device()->engines)
                if (engine.kind == EngineClass::vector && engine.supports(Precision::fp32) && like == nullptr)
                    like = &engine;
        lanes_ = {kUnknownLanes, Origin::assumed, "128-bit vectors, the narrowest in use"};
        if (like != nullptr) {
            for (const Precision p : kPrecisions)
                if (like->supports(p) && runs(p))
                    rates[std::string(name_of(p))] = like->rate(p).value;
            rate = borrowed(like->rate(Precision::fp32).value, "core of the same design");
            lanes_ =
                borrowed(device()->cpu.vector_lanes_fp32.value_or(kUnknownLanes), "core of the same design");
        } else {
            double pipes = kUnknownPipes;
            if (seen_.core) {
                lanes_ = {seen_.core->lanes_fp32, Origin::detected,
                          fmt::format("identification: {}", seen_.core->title)};
                pipes = seen_.core->multiply_pipes;
            } else if (seen_.has("avx2") || seen_.has("avx")) {
                lanes_ = {8, Origin::assumed, "256-bit vectors, from the instruction sets"};
            }
            const double fp32 = lanes_.value * pipes * 2;
            rate = {fp32, lanes_.origin, lanes_.from};
            rates["fp64"] = fp32 / 2;
            rates["fp32"] = fp32;
            if (seen_.has("asimdhp") || seen_.has("avx512_fp16"))
                rates["fp16"] = 2 * fp32;
            if (seen_.has("avx512_vnni") || seen_.has("avx_vnni") || seen_.has("asimddp"))
                rates["int8"] = 4 * fp32; // four byte products in the place of one fp32 product
        }
        add_engine(engines, peaks, {vector_name(), "vector", seen_.cores}, rates, rate);
        out_.fact("fp32 operations per clock and core", fmt::format("{:g}", rates["fp32"].get<double>()),
                  rate);
    }

    struct EngineName {
        std::string name;
        const char* kind;
        double count;
    };

    void add_engine(Json& engines, Json& peaks, const EngineName& name, const Json& rates,
                    const Known& rate) {
        engines.push_back({{"name", name.name},
                           {"class", name.kind},
                           {"unit", "core"},
                           {"count", name.count},
                           {"clock", out_.quantity(base_, "MHz", kMega)},
                           {"ops_per_clock", rates},
                           {"source", out_.source(rate.origin, rate.from)}});
        const double clock = engines.back()["clock"]["value"].get<double>() * kMega;
        for (const auto& [format, per_clock] : rates.items())
            peaks[name.kind][format] = out_.quantity({name.count * per_clock.get<double>() * clock,
                                                      Origin::assumed, "arithmetic on the other figures"},
                                                     format.starts_with("int") ? "TOPS" : "TFLOPS", kTera);
    }

    /// False for formats whose instructions a virtual machine or an older model does not show.
    bool runs(Precision p) const {
        if (seen_.flags.empty())
            return true;
        const bool arm = seen_.has("asimd");
        switch (p) {
        case Precision::int8:
            return arm ? seen_.has("asimddp") : seen_.has("avx512_vnni") || seen_.has("avx_vnni");
        case Precision::bf16:
            return arm ? seen_.has("bf16") : seen_.has("avx512_bf16");
        case Precision::fp16:
            return arm ? seen_.has("asimdhp") : seen_.has("avx512_fp16");
        default:
            return true;
        }
    }

    std::string vector_name() const {
        return seen_.has("avx512f") ? "AVX-512"
               : seen_.has("avx2")  ? "AVX2"
               : seen_.has("sve")   ? "SVE"
               : seen_.has("asimd") ? "NEON"
                                    : "vector";
    }

    void engines() {
        Json engines = Json::array(), peaks = Json::object();
        if (whole_) {
            // Every core is here: hybrid chips keep both of their kinds.
            for (const Engine& engine : device()->engines) {
                Json rates = Json::object();
                for (const Precision p : kPrecisions)
                    if (engine.supports(p))
                        rates[std::string(name_of(p))] = engine.rate(p).value;
                add_engine(
                    engines, peaks,
                    {engine.name, engine.kind == EngineClass::matrix ? "matrix" : "vector", engine.count},
                    rates, borrowed(0));
            }
            lanes_ = borrowed(device()->cpu.vector_lanes_fp32.value_or(kUnknownLanes));
        } else {
            add_vector_engine(engines, peaks);
            add_matrix_engine(engines, peaks);
        }
        out_.document["engines"] = engines;
        out_.document["peaks"] = peaks;
    }

    void add_matrix_engine(Json& engines, Json& peaks) {
        if (device() == nullptr)
            return;
        for (const Engine& engine : device()->engines) {
            if (engine.kind != EngineClass::matrix)
                continue;
            if (!seen_.flags.empty() && !seen_.has("amx_tile")) {
                out_.remark(fmt::format("{} of {} is not shown by this machine: no matrix engine",
                                        engine.name, device()->id));
                return;
            }
            Json rates = Json::object();
            for (const Precision p : kPrecisions)
                if (engine.supports(p))
                    rates[std::string(name_of(p))] = engine.rate(p).value;
            add_engine(engines, peaks, {engine.name, "matrix", seen_.cores}, rates,
                       borrowed(0, "core of the same design"));
        }
    }

    const MemoryLevel* level(const char* name) const {
        return device() != nullptr ? device()->level(name) : nullptr;
    }

    void caches() {
        constexpr const char* kFrom = "/sys/devices/system/cpu or the identification leaves";
        Json& memory = out_.document["memory"] = Json::array();
        const auto add = [&](const char* name, const char* scope, const Known& size, const char* unit,
                             double scale) {
            Json at = {{"name", name}, {"scope", scope}, {"capacity", out_.quantity(size, unit, scale)}};
            if (const MemoryLevel* like = level(name); like != nullptr && like->bytes_per_clock.known())
                at["bytes_per_clock"] = out_.quantity(borrowed(like->bytes_per_clock.value), "B/clk");
            memory.push_back(at);
            out_.fact(fmt::format("{}{}", name, std::string_view(scope) == "core" ? " of a core" : ""),
                      fmt::format("{:g} {}", size.value / scale, unit), size);
        };
        const auto like = [&](const char* name) {
            return level(name) != nullptr ? &level(name)->capacity : nullptr;
        };
        add("L1", "core", first_of(seen_.l1_bytes, kFrom, like("L1"), assumed(kUnknownL1, "usual size")),
            "KiB", kKibi);
        add("L2", "core", first_of(seen_.l2_bytes, kFrom, like("L2"), assumed(kUnknownL2, "usual size")),
            "KiB", kKibi);
        add_shared_cache(add);
    }

    /// A hypervisor shows the third level of the whole socket or die, which its other machines fill as well:
    /// a virtual machine gets the share of its cores. Without a third level in sight there may be none.
    template <class Add>
    void add_shared_cache(const Add& add) {
        constexpr const char* kFrom = "/sys/devices/system/cpu or the identification leaves";
        const Fact* like =
            level("L3") != nullptr && level("L3")->capacity.known() ? &level("L3")->capacity : nullptr;
        if (!seen_.l3_bytes && (seen_.l1_bytes || like == nullptr))
            return;
        const Known size = first_of(seen_.l3_bytes, kFrom, like, {});
        const double cores = device() != nullptr ? device()->cpu.cores.value_or(0) : 0;
        if (!seen_.hypervisor || like == nullptr || seen_.cores >= cores) {
            add("L3", "socket", size, "MiB", kMebi);
            return;
        }
        out_.fact("L3 seen", fmt::format("{:g} MiB", size.value / kMebi), size);
        add("L3", "socket",
            assumed(std::min(size.value, like->value * seen_.cores / cores),
                    fmt::format("share of {:g} of the {:g} cores of {}", seen_.cores, cores, device()->id)),
            "MiB", kMebi);
    }

    /// Bytes/s that `cores` of them stream: each has a limited number of misses in flight, all share the
    /// socket's.
    Known bandwidth_of(double cores) const {
        if (cores >= seen_.cores && probe_.memory_bandwidth)
            return {*probe_.memory_bandwidth, Origin::measured, "reading a buffer beyond the caches"};
        if (cores == 1 && probe_.core_bandwidth)
            return {*probe_.core_bandwidth, Origin::measured, "reading a buffer beyond the caches"};
        const double one = seen_.core ? seen_.core->core_bandwidth * kGiga : kUnknownBandwidth;
        const Known by_cores = assumed(one * cores, fmt::format("{:g} GB/s a core", one / kGiga));
        if (device() == nullptr || !device()->dram || !device()->dram->bandwidth.known())
            return by_cores;
        const double socket =
            device()->dram->bandwidth.value * device()->dram->achievable_fraction.value_or(1);
        return socket <= by_cores.value ? borrowed(socket, "achievable bandwidth of a socket") : by_cores;
    }

    void memory() {
        const Known capacity =
            first_of(seen_.memory_bytes, seen_.memory_limited ? "limit of the container" : "/proc/meminfo",
                     nullptr, assumed(kUnknownMemory, "a small machine"));
        const Known bandwidth = bandwidth_of(seen_.cores);
        out_.document["dram"] = {
            {"type", device() != nullptr && device()->dram ? device()->dram->type : "unknown"},
            {"capacity", out_.quantity(capacity, "GiB", kGibi)},
            {"bandwidth", out_.quantity(bandwidth, "GB/s", kGiga)}};
        out_.fact("memory", fmt::format("{:.3g} GiB", capacity.value / kGibi), capacity);
        out_.fact("memory bandwidth", fmt::format("{:.3g} GB/s", bandwidth.value / kGiga), bandwidth);
    }

    void power() {
        const double all =
            device() != nullptr ? device()->cpu.cores.value_or(0) * device()->cpu.sockets.value_or(1) : 0;
        if (all <= 0 || !device()->tdp.known())
            return;
        const double share = std::min(1.0, seen_.cores / all);
        Json& power = out_.document["power"];
        const auto add = [&](const char* key, const char* title, const Fact& fact) {
            if (!fact.known())
                return;
            const Known watts =
                whole_ ? borrowed(fact.value)
                       : assumed(fact.value * share,
                                 fmt::format("{:g} of the {:g} cores of {}", seen_.cores, all, device()->id));
            power[key] = out_.quantity(watts, "W");
            out_.fact(title, fmt::format("{:.3g} W", watts.value), watts);
        };
        add("tdp", "rated power", device()->tdp);
        add("idle", "idle power", device()->idle);
        add("active_idle", "power with clocks up", device()->active_idle);
    }

    /// One mode for each number of threads that people ask for: NAME@2-threads.
    void threads() {
        Json& modes = out_.document["power_modes"] = Json::array();
        const auto mode_name = [](double n) { return fmt::format("{:g}-thread{}", n, n == 1 ? "" : "s"); };
        for (double n = 1; n <= seen_.cores; n = n < seen_.cores ? std::min(2 * n, seen_.cores) : n + 1)
            modes.push_back({{"name", mode_name(n)},
                             {"active_units", n},
                             {"unit", "core"},
                             {"memory_bandwidth", out_.quantity(bandwidth_of(n), "GB/s", kGiga)},
                             {"source", out_.source(cores_.origin, cores_.from)}});
        out_.document["default_power_mode"] = mode_name(seen_.cores);
        Json& cpu = out_.document["cpu"];
        cpu["cores"] = out_.quantity(cores_, "1");
        cpu["threads"] =
            out_.quantity({std::max(seen_.threads, seen_.cores), cores_.origin, cores_.from}, "1");
        cpu["sockets"] = out_.quantity(assumed(1, "one entry is one memory domain"), "1");
        cpu["vector_lanes_fp32"] = out_.quantity(lanes_, "1");
        Json isa = Json::array();
        static constexpr std::array kNamed = {std::pair{"avx2", "avx2"},
                                              std::pair{"avx512f", "avx512f"},
                                              std::pair{"avx512_vnni", "avx512-vnni"},
                                              std::pair{"avx512_bf16", "avx512-bf16"},
                                              std::pair{"avx512_fp16", "avx512-fp16"},
                                              std::pair{"amx_int8", "amx-int8"},
                                              std::pair{"amx_bf16", "amx-bf16"},
                                              std::pair{"asimd", "neon"},
                                              std::pair{"asimddp", "dotprod"},
                                              std::pair{"sve", "sve"}};
        for (const auto& [flag, name] : kNamed)
            if (seen_.has(flag))
                isa.push_back(name);
        cpu["isa"] = isa;
    }

    Json stacks() const {
        Json names = Json::array({"onnxruntime-cpu"});
        const std::vector<std::string> usual = {"openvino",    "onednn",    "openmp",
                                                "pytorch-cpu", "llama.cpp", "tflite"};
        for (const std::string& name : device() != nullptr ? device()->runtimes : usual)
            if (name != "onnxruntime-cpu")
                names.push_back(name);
        return names;
    }

    void remarks() {
        if (seen_.hypervisor)
            out_.remark(fmt::format(
                "a virtual machine{}: cores and caches are those seen, not the socket's; neighbours may "
                "take cache and memory bandwidth",
                seen_.hypervisor_name.empty() || seen_.hypervisor_name == "unnamed"
                    ? std::string()
                    : fmt::format(" ({})", seen_.hypervisor_name)));
        if (!seen_.limit.empty())
            out_.remark(seen_.limit);
        if (device() == nullptr)
            out_.remark(fmt::format(
                "no device of the database is like it ({}): clocks, widths and bandwidth are assumed; "
                "give --probe to measure them",
                match_.reason));
        if (seen_.threads > seen_.cores)
            out_.remark(fmt::format("{:g} hardware threads on {:g} cores: estimates use one thread a core",
                                    seen_.threads, seen_.cores));
    }

    const ProcessorSeen& seen_;
    const Match& match_;
    const ProbeResult& probe_;
    EntryWriter out_;
    bool whole_ = false; ///< all cores of the matched product, on the metal
    Known cores_, base_, lanes_;
};

} // namespace

MachineEntry processor_entry(const ProcessorSeen& seen, const Match& match, const ProbeResult& probe) {
    return Builder(seen, match, probe).build();
}

} // namespace archsim
