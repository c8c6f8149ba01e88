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

class Builder {
  public:
    Builder(const ProcessorSeen& seen, const Match& match, const ProbeResult& probe)
        : facts_(seen, match, probe), out_(std::string(kThisMachine)) {}

    MachineEntry build() {
        identity();
        clocks();
        lanes_ = write_engines(facts_, base_, out_);
        write_caches(facts_, out_);
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
        entry.title = !facts_.seen().name.empty() ? facts_.seen().name
                      : facts_.seen().core        ? std::string(facts_.seen().core->title)
                                                  : "unknown processor";
        entry.matched = facts_.device() != nullptr ? facts_.device()->id : "";
        entry.match = facts_.match().reason;
        Json& d = out_.document;
        d["id"] = kThisMachine;
        d["name"] = fmt::format("{}, {:g} core{}", entry.title, facts_.seen().cores,
                                facts_.seen().cores == 1 ? "" : "s");
        d["vendor"] = facts_.seen().core           ? std::string(facts_.seen().core->vendor)
                      : facts_.device() != nullptr ? facts_.device()->vendor
                                                   : "unknown";
        d["family"] = "cpu";
        d["codename"] = facts_.seen().core ? std::string(facts_.seen().core->title) : "unknown";
        d["generation"] = facts_.seen().core           ? std::string(facts_.seen().core->generation)
                          : facts_.device() != nullptr ? facts_.device()->generation
                                                       : "unknown";
        d["year"] = static_cast<double>(facts_.seen().core           ? facts_.seen().core->year
                                        : facts_.device() != nullptr ? facts_.device()->year
                                                                     : kUnknownYear);
        if (facts_.device() != nullptr && facts_.device()->process_nm.known())
            d["process"] = out_.quantity(facts_.borrowed(facts_.device()->process_nm.value), "nm");
        cores_ = facts_.seen().cores_counted
                     ? facts_.detected(facts_.seen().cores,
                                       facts_.seen().limit.empty() ? "/proc/cpuinfo" : facts_.seen().limit)
                     : facts_.assumed(1, "nothing says how many there are");
        out_.fact("cores", fmt::format("{:g}", cores_.value), cores_);
    }

    /// Clock with all visible cores busy in vector code.
    Known sustained() const {
        if (const auto& clock =
                facts_.probe().vector_clock_hz ? facts_.probe().vector_clock_hz : facts_.probe().clock_hz)
            return {*clock, Origin::measured, "loop of dependent instructions"};
        if (facts_.device() != nullptr)
            for (const Fact* fact : {&facts_.device()->clock_vector, &facts_.device()->clock_sustained,
                                     &facts_.device()->clock_boost})
                if (fact->known())
                    return facts_.borrowed(fact->value, "clock with all cores busy");
        if (facts_.seen().boost_hz)
            return facts_.assumed(*facts_.seen().boost_hz * kUnderBoost, "0.9 of the highest clock");
        if (facts_.seen().base_hz)
            return facts_.assumed(*facts_.seen().base_hz * kOverBase, "1.3 times the base clock");
        return facts_.assumed(kUnknownClock, "a processor of the last ten years");
    }

    void clocks() {
        const Known sustained_clock = sustained();
        base_ = facts_.first_of(facts_.seen().base_hz, "cpufreq, leaf 16h or the time-stamp counter",
                                facts_.device() != nullptr ? &facts_.device()->clock_base : nullptr,
                                facts_.assumed(sustained_clock.value, "as the clock with all cores busy"));
        Known boost = facts_.first_of(facts_.seen().boost_hz, "cpufreq or leaf 16h",
                                      facts_.device() != nullptr ? &facts_.device()->clock_boost : nullptr,
                                      sustained_clock);
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
        if (cores >= facts_.seen().cores && facts_.probe().memory_bandwidth)
            return {*facts_.probe().memory_bandwidth, Origin::measured, "reading a buffer beyond the caches"};
        if (cores == 1 && facts_.probe().core_bandwidth)
            return {*facts_.probe().core_bandwidth, Origin::measured, "reading a buffer beyond the caches"};
        const double one =
            facts_.seen().core ? facts_.seen().core->core_bandwidth * kGiga : kUnknownBandwidth;
        const Known by_cores = facts_.assumed(one * cores, fmt::format("{:g} GB/s a core", one / kGiga));
        if (facts_.device() == nullptr || !facts_.device()->dram || !facts_.device()->dram->bandwidth.known())
            return by_cores;
        const double socket =
            facts_.device()->dram->bandwidth.value * facts_.device()->dram->achievable_fraction.value_or(1);
        return socket <= by_cores.value ? facts_.borrowed(socket, "achievable bandwidth of a socket")
                                        : by_cores;
    }

    void memory() {
        const Known capacity =
            facts_.first_of(facts_.seen().memory_bytes,
                            facts_.seen().memory_limited ? "limit of the container" : "/proc/meminfo",
                            nullptr, facts_.assumed(kUnknownMemory, "a small machine"));
        const Known bandwidth = bandwidth_of(facts_.seen().cores);
        out_.document["dram"] = Json::object(
            {{"type",
              facts_.device() != nullptr && facts_.device()->dram ? facts_.device()->dram->type : "unknown"},
             {"capacity", out_.quantity(capacity, "GiB", kGibi)},
             {"bandwidth", out_.quantity(bandwidth, "GB/s", kGiga)}});
        out_.fact("memory", fmt::format("{:.3g} GiB", capacity.value / kGibi), capacity);
        out_.fact("memory bandwidth", fmt::format("{:.3g} GB/s", bandwidth.value / kGiga), bandwidth);
    }

    void power() {
        const double all = facts_.device() != nullptr
                               ? facts_.number("cores").value_or(0) * facts_.number("sockets").value_or(1)
                               : 0;
        if (all <= 0 || !facts_.device()->tdp.known())
            return;
        const double share = std::min(1.0, facts_.seen().cores / all);
        Json& power = out_.document["power"];
        const auto add = [&](const char* key, const char* title, const Fact& fact) {
            if (!fact.known())
                return;
            const Known watts =
                facts_.whole() ? facts_.borrowed(fact.value)
                               : facts_.assumed(fact.value * share,
                                                fmt::format("{:g} of the {:g} cores of {}",
                                                            facts_.seen().cores, all, facts_.device()->id));
            power[key] = out_.quantity(watts, "W");
            out_.fact(title, fmt::format("{:.3g} W", watts.value), watts);
        };
        add("tdp", "rated power", facts_.device()->tdp);
        add("idle", "idle power", facts_.device()->idle);
        add("active_idle", "power with clocks up", facts_.device()->active_idle);
    }

    /// One mode for each number of threads that people ask for: NAME@2-threads.
    void threads() {
        Json& modes = out_.document["power_modes"] = Json::array();
        const auto mode_name = [](double n) { return fmt::format("{:g}-thread{}", n, n == 1 ? "" : "s"); };
        for (double n = 1; n <= facts_.seen().cores;
             n = n < facts_.seen().cores ? std::min(2 * n, facts_.seen().cores) : n + 1)
            modes.push_back(Json::object({{"name", mode_name(n)},
                                          {"active_units", n},
                                          {"unit", "core"},
                                          {"memory_bandwidth", out_.quantity(bandwidth_of(n), "GB/s", kGiga)},
                                          {"source", out_.source(cores_.origin, cores_.from)}}));
        out_.document["default_power_mode"] = mode_name(facts_.seen().cores);
        Json& cpu = out_.document["cpu"];
        cpu["cores"] = out_.quantity(cores_, "1");
        cpu["threads"] = out_.quantity(
            {std::max(facts_.seen().threads, facts_.seen().cores), cores_.origin, cores_.from}, "1");
        cpu["sockets"] = out_.quantity(facts_.assumed(1, "one entry is one memory domain"), "1");
        cpu["vector_lanes_fp32"] = out_.quantity(lanes_, "1");
        for (const char* shape : {"matrix_operand_bytes", "matrix_depth_bytes"})
            if (const Fact fact = facts_.number(shape); fact.known())
                cpu[shape] = out_.quantity(facts_.borrowed(fact.value), "B");
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
            if (facts_.seen().has(flag))
                isa.push_back(name);
        cpu["isa"] = isa;
    }

    Json stacks() const {
        Json names = Json::array();
        names.push_back("onnxruntime-cpu");
        const std::vector<std::string> usual = {"openvino",    "onednn",    "openmp",
                                                "pytorch-cpu", "llama.cpp", "tflite"};
        for (const std::string& name : facts_.device() != nullptr ? facts_.device()->runtimes : usual)
            if (name != "onnxruntime-cpu")
                names.push_back(name);
        return names;
    }

    void remarks() {
        if (facts_.seen().hypervisor)
            out_.remark(fmt::format(
                "a virtual machine{}: cores and caches are those seen, not the socket's; neighbours may "
                "take cache and memory bandwidth",
                facts_.seen().hypervisor_name.empty() || facts_.seen().hypervisor_name == "unnamed"
                    ? std::string()
                    : fmt::format(" ({})", facts_.seen().hypervisor_name)));
        if (!facts_.seen().limit.empty())
            out_.remark(facts_.seen().limit);
        if (facts_.device() == nullptr)
            out_.remark(fmt::format(
                "no device of the database is like it ({}): clocks, widths and bandwidth are assumed; "
                "give --probe to measure them",
                facts_.match().reason));
        if (facts_.seen().threads > facts_.seen().cores)
            out_.remark(fmt::format("{:g} hardware threads on {:g} cores: estimates use one thread a core",
                                    facts_.seen().threads, facts_.seen().cores));
    }

    ProcessorFacts facts_;
    EntryWriter out_;
    Known cores_, base_, lanes_;
};

} // namespace

MachineEntry processor_entry(const ProcessorSeen& seen, const Match& match, const ProbeResult& probe) {
    return Builder(seen, match, probe).build();
}

} // namespace archsim
