#include "machine/processor_entry.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace archsim {

namespace {

using Known = EntryWriter::Known;

// Where nothing is known. A core of the last ten years runs near 3 GHz with all cores busy and streams 10
// GB/s from DRAM.
constexpr double kUnknownClock = 3e9, kUnknownBandwidth = 10e9, kUnknownMemory = 8 * kGibi;
// All cores busy: a server keeps about 1.3 times its base clock, any chip about 0.9 of its highest.
constexpr double kOverBase = 1.3, kUnderBoost = 0.9;
constexpr int kUnknownYear = 2020;

class Builder : ProcessorFacts {
  public:
    Builder(const ProcessorSeen& seen, const Match& match, const ProbeResult& probe)
        : ProcessorFacts(seen, match, probe), out_(std::string(kThisMachine)) {}

    MachineEntry build() {
        identity();
        clocks();
        lanes_ = write_engines(*this, base_, out_);
        write_caches(*this, out_);
        memory();
        power();
        threads();
        out_.document["runtimes"] = stacks();
        out_.document["default_runtime"] = "onnxruntime-cpu";
        remarks();
        return out_.finish();
    }

  private:
    void identity() {
        MachineEntry& entry = out_.entry();
        entry.title = !seen().name.empty() ? seen().name
                      : seen().core        ? std::string(seen().core->title)
                                           : "unknown processor";
        entry.matched = device() != nullptr ? device()->id : "";
        entry.match = match().reason;
        Json& d = out_.document;
        d["id"] = kThisMachine;
        d["name"] = fmt::format("{}, {:g} core{}", entry.title, seen().cores, seen().cores == 1 ? "" : "s");
        d["vendor"] = seen().core           ? std::string(seen().core->vendor)
                      : device() != nullptr ? device()->vendor
                                            : "unknown";
        d["family"] = "cpu";
        d["codename"] = seen().core ? std::string(seen().core->title) : "unknown";
        d["generation"] = seen().core           ? std::string(seen().core->generation)
                          : device() != nullptr ? device()->generation
                                                : "unknown";
        d["year"] = static_cast<double>(seen().core           ? seen().core->year
                                        : device() != nullptr ? device()->year
                                                              : kUnknownYear);
        if (device() != nullptr && device()->process_nm.known())
            d["process"] = out_.quantity(borrowed(device()->process_nm.value), "nm");
        cores_ = seen().cores_counted
                     ? detected(seen().cores, seen().limit.empty() ? "/proc/cpuinfo" : seen().limit)
                     : assumed(1, "nothing says how many there are");
        out_.fact("cores", fmt::format("{:g}", cores_.value), cores_);
    }

    /// Clock with all visible cores busy in vector code.
    Known sustained() const {
        if (const auto& clock = probe().vector_clock_hz ? probe().vector_clock_hz : probe().clock_hz)
            return {*clock, Origin::measured, "loop of dependent instructions"};
        if (device() != nullptr)
            for (const Fact* fact :
                 {&device()->clock_vector, &device()->clock_sustained, &device()->clock_boost})
                if (fact->known())
                    return borrowed(fact->value, "clock with all cores busy");
        if (seen().boost_hz)
            return assumed(*seen().boost_hz * kUnderBoost, "0.9 of the highest clock");
        if (seen().base_hz)
            return assumed(*seen().base_hz * kOverBase, "1.3 times the base clock");
        return assumed(kUnknownClock, "a processor of the last ten years");
    }

    void clocks() {
        const Known sustained_clock = sustained();
        base_ = first_of(seen().base_hz, "cpufreq, leaf 16h or the time-stamp counter",
                         device() != nullptr ? &device()->clock_base : nullptr,
                         assumed(sustained_clock.value, "as the clock with all cores busy"));
        Known boost = first_of(seen().boost_hz, "cpufreq or leaf 16h",
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

    /// Bytes/s that `cores` of them stream: each has a limited number of misses in flight, all share the
    /// socket's.
    Known bandwidth_of(double cores) const {
        if (cores >= seen().cores && probe().memory_bandwidth)
            return {*probe().memory_bandwidth, Origin::measured, "reading a buffer beyond the caches"};
        if (cores == 1 && probe().core_bandwidth)
            return {*probe().core_bandwidth, Origin::measured, "reading a buffer beyond the caches"};
        const double one = seen().core ? seen().core->core_bandwidth * kGiga : kUnknownBandwidth;
        const Known by_cores = assumed(one * cores, fmt::format("{:g} GB/s a core", one / kGiga));
        if (device() == nullptr || !device()->dram || !device()->dram->bandwidth.known())
            return by_cores;
        const double socket =
            device()->dram->bandwidth.value * device()->dram->achievable_fraction.value_or(1);
        return socket <= by_cores.value ? borrowed(socket, "achievable bandwidth of a socket") : by_cores;
    }

    void memory() {
        const Known capacity =
            first_of(seen().memory_bytes, seen().memory_limited ? "limit of the container" : "/proc/meminfo",
                     nullptr, assumed(kUnknownMemory, "a small machine"));
        const Known bandwidth = bandwidth_of(seen().cores);
        out_.document["dram"] =
            Json::object({{"type", device() != nullptr && device()->dram ? device()->dram->type : "unknown"},
                          {"capacity", out_.quantity(capacity, "GiB", kGibi)},
                          {"bandwidth", out_.quantity(bandwidth, "GB/s", kGiga)}});
        out_.fact("memory", fmt::format("{:.3g} GiB", capacity.value / kGibi), capacity);
        out_.fact("memory bandwidth", fmt::format("{:.3g} GB/s", bandwidth.value / kGiga), bandwidth);
    }

    void power() {
        const double all =
            device() != nullptr ? number("cores").value_or(0) * number("sockets").value_or(1) : 0;
        if (all <= 0 || !device()->tdp.known())
            return;
        const double share = std::min(1.0, seen().cores / all);
        Json& power = out_.document["power"];
        const auto add = [&](const char* key, const char* title, const Fact& fact) {
            if (!fact.known())
                return;
            const Known watts =
                whole() ? borrowed(fact.value)
                        : assumed(fact.value * share, fmt::format("{:g} of the {:g} cores of {}",
                                                                  seen().cores, all, device()->id));
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
        for (double n = 1; n <= seen().cores; n = n < seen().cores ? std::min(2 * n, seen().cores) : n + 1)
            modes.push_back(Json::object({{"name", mode_name(n)},
                                          {"active_units", n},
                                          {"unit", "core"},
                                          {"memory_bandwidth", out_.quantity(bandwidth_of(n), "GB/s", kGiga)},
                                          {"source", out_.source(cores_.origin, cores_.from)}}));
        out_.document["default_power_mode"] = mode_name(seen().cores);
        Json& cpu = out_.document["cpu"];
        cpu["cores"] = out_.quantity(cores_, "1");
        cpu["threads"] =
            out_.quantity({std::max(seen().threads, seen().cores), cores_.origin, cores_.from}, "1");
        cpu["sockets"] = out_.quantity(assumed(1, "one entry is one memory domain"), "1");
        cpu["vector_lanes_fp32"] = out_.quantity(lanes_, "1");
        for (const char* shape : {"matrix_operand_bytes", "matrix_depth_bytes"})
            if (const Fact fact = number(shape); fact.known())
                cpu[shape] = out_.quantity(borrowed(fact.value), "B");
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
            if (seen().has(flag))
                isa.push_back(name);
        cpu["isa"] = isa;
    }

    Json stacks() const {
        Json names = Json::array();
        names.push_back("onnxruntime-cpu");
        const std::vector<std::string> usual = {"openvino",    "onednn",    "openmp",
                                                "pytorch-cpu", "llama.cpp", "tflite"};
        for (const std::string& name : device() != nullptr ? device()->runtimes : usual)
            if (name != "onnxruntime-cpu")
                names.push_back(name);
        return names;
    }

    void remarks() {
        if (seen().hypervisor)
            out_.remark(fmt::format(
                "a virtual machine{}: cores and caches are those seen, not the socket's; neighbours may "
                "take cache and memory bandwidth",
                seen().hypervisor_name.empty() || seen().hypervisor_name == "unnamed"
                    ? std::string()
                    : fmt::format(" ({})", seen().hypervisor_name)));
        if (!seen().limit.empty())
            out_.remark(seen().limit);
        if (device() == nullptr)
            out_.remark(fmt::format(
                "no device of the database is like it ({}): clocks, widths and bandwidth are assumed; "
                "give --probe to measure them",
                match().reason));
        if (seen().threads > seen().cores)
            out_.remark(fmt::format("{:g} hardware threads on {:g} cores: estimates use one thread a core",
                                    seen().threads, seen().cores));
    }

    EntryWriter out_;
    Known cores_, base_, lanes_;
};

} // namespace

MachineEntry processor_entry(const ProcessorSeen& seen, const Match& match, const ProbeResult& probe) {
    return Builder(seen, match, probe).build();
}

} // namespace archsim
