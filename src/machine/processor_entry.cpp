#include "machine/processor_entry.hpp"

namespace archsim {

using Known = EntryWriter::Known;

// A core of the last ten years has at least 32 KiB of L1 and 512 KiB of L2.
constexpr double kUnknownL1 = 32 * kKibi, kUnknownL2 = 512 * kKibi;
constexpr const char* kCachesFrom = "/sys/devices/system/cpu or the identification leaves";

/// Writes "memory" of the entry, near the cores first.
class CoreCaches : ProcessorFacts {
  public:
    CoreCaches(const ProcessorFacts& facts, EntryWriter& out) : ProcessorFacts(facts), out_(out) {}

    void write() {
        Json& memory = out_.document["memory"] = Json::array();
        const auto add = [&](const char* name, const char* scope, const Known& size, const char* unit,
                             double scale) {
            Json at = Json::object(
                {{"name", name}, {"scope", scope}, {"capacity", out_.quantity(size, unit, scale)}});
            if (const MemoryLevel* like = level(name); like != nullptr && like->bytes_per_clock.known())
                at["bytes_per_clock"] = out_.quantity(borrowed(like->bytes_per_clock.value), "B/clk");
            memory.push_back(at);
            out_.fact(fmt::format("{}{}", name, std::string_view(scope) == "core" ? " of a core" : ""),
                      fmt::format("{:g} {}", size.value / scale, unit), size);
        };
        const auto like = [&](const char* name) {
            return level(name) != nullptr ? &level(name)->capacity : nullptr;
        };
        add("L1", "core",
            first_of(seen().l1_bytes, kCachesFrom, like("L1"), assumed(kUnknownL1, "usual size")), "KiB",
            kKibi);
        add("L2", "core",
            first_of(seen().l2_bytes, kCachesFrom, like("L2"), assumed(kUnknownL2, "usual size")), "KiB",
            kKibi);
        add_shared_cache(add);
    }

  private:
    const MemoryLevel* level(const char* name) const {
        return device() != nullptr ? device()->level(name) : nullptr;
    }

    /// A hypervisor shows the third level of the whole socket or die, which its other machines fill as well:
    /// a virtual machine gets the share of its cores. Without a third level in sight there may be none.
    template <class Add>
    void add_shared_cache(const Add& add) {
        const Fact* like =
            level("L3") != nullptr && level("L3")->capacity.known() ? &level("L3")->capacity : nullptr;
        if (!seen().l3_bytes && (seen().l1_bytes || like == nullptr))
            return;
        const Known size = first_of(seen().l3_bytes, kCachesFrom, like, {});
        const double cores = device() != nullptr ? number("cores").value_or(0) : 0;
        if (!seen().hypervisor || like == nullptr || seen().cores >= cores) {
            add("L3", "socket", size, "MiB", kMebi);
            return;
        }
        out_.fact("L3 seen", fmt::format("{:g} MiB", size.value / kMebi), size);
        add("L3", "socket",
            assumed(std::min(size.value, like->value * seen().cores / cores),
                    fmt::format("share of {:g} of the {:g} cores of {}", seen().cores, cores, device()->id)),
            "MiB", kMebi);
    }

    EntryWriter& out_;
};

// A core of which nothing is known has at least 128-bit vectors with two multiply-adds a clock.
constexpr double kUnknownLanes = 4, kUnknownPipes = 2;

/// Writes "engines" and "peaks" of the entry. Gives the fp32 lanes of one vector unit.
class CoreEngines : ProcessorFacts {
  public:
    CoreEngines(const ProcessorFacts& facts, const Known& base_clock, EntryWriter& out)
        : ProcessorFacts(facts), base_clock_(base_clock), out_(out) {}

    Known write() {
        Json engines = Json::array(), peaks;
        if (whole()) {
            // Every core is here: hybrid chips keep both of their kinds.
            for (const Engine& engine : device()->engines) {
                Json rates;
                for (const Precision p : kPrecisions)
                    if (engine.supports(p))
                        rates[name_of(p)] = engine.rate(p).value;
                add_engine(engines, peaks, named_after(engine, engine.count), rates, borrowed(0));
            }
            lanes_ = borrowed(number("vector_lanes_fp32").value_or(kUnknownLanes));
        } else {
            add_vector_engine(engines, peaks);
            add_matrix_engine(engines, peaks);
        }
        out_.document["engines"] = engines;
        out_.document["peaks"] = peaks;
        return lanes_;
    }

  private:
    /// Rates of one core by format: the device's own where it has the instructions, else lanes x pipes x 2.
    void add_vector_engine(Json& engines, Json& peaks) {
        Json rates;
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
                    rates[name_of(p)] = like->rate(p).value;
            rate = borrowed(like->rate(Precision::fp32).value, "core of the same design");
            lanes_ = borrowed(number("vector_lanes_fp32").value_or(kUnknownLanes), "core of the same design");
        } else {
            double pipes = kUnknownPipes;
            if (seen().core) {
                lanes_ = {seen().core->lanes_fp32, Origin::detected,
                          fmt::format("identification: {}", seen().core->title)};
                pipes = seen().core->multiply_pipes;
            } else if (seen().has("avx2") || seen().has("avx")) {
                lanes_ = {8, Origin::assumed, "256-bit vectors, from the instruction sets"};
            }
            const double fp32 = lanes_.value * pipes * 2;
            rate = {fp32, lanes_.origin, lanes_.from};
            rates["fp64"] = fp32 / 2;
            rates["fp32"] = fp32;
            if (seen().has("asimdhp") || seen().has("avx512_fp16"))
                rates["fp16"] = 2 * fp32;
            if (seen().has("avx512_vnni") || seen().has("avx_vnni") || seen().has("asimddp"))
                rates["int8"] = 4 * fp32; // four byte products in the place of one fp32 product
        }
        add_engine(engines, peaks, {vector_name(), "vector", seen().cores, {}}, rates, rate);
        out_.fact("fp32 operations per clock and core", fmt::format("{:g}", rates["fp32"].get<double>()),
                  rate);
    }

    struct EngineName {
        std::string name;
        const char* kind;
        double count;
        std::string isa;
        bool shared = false;
        Known clock = {}; ///< of a unit that cores share
    };

    /// An engine of the device that this machine is like. A unit that cores share keeps its own clock.
    EngineName named_after(const Engine& engine, double count) const {
        return {engine.name,
                engine.kind == EngineClass::matrix ? "matrix" : "vector",
                engine.shared ? engine.count : count,
                engine.isa,
                engine.shared,
                engine.shared ? borrowed(engine.clock.value) : Known{}};
    }

    void add_engine(Json& engines, Json& peaks, const EngineName& name, const Json& rates,
                    const Known& rate) {
        Json clock = out_.quantity(name.shared ? name.clock : base_clock_, "MHz", kMega);
        const double hertz = clock["value"].get<double>() * kMega;
        Json engine = Json::object({{"name", name.name},
                                    {"class", name.kind},
                                    {"unit", name.shared ? "cluster" : "core"},
                                    {"count", name.count},
                                    {"clock", clock},
                                    {"ops_per_clock", rates},
                                    {"source", out_.source(rate.origin, rate.from)}});
        if (!name.isa.empty())
            engine["isa"] = name.isa;
        if (name.shared)
            engine["shared"] = true;
        engines.push_back(engine);
        for (const auto& [format, per_clock] : rates.items())
            peaks[name.kind][format] = out_.quantity({name.count * per_clock.get<double>() * hertz,
                                                      Origin::assumed, "arithmetic on the other figures"},
                                                     format.starts_with("int") ? "TOPS" : "TFLOPS", kTera);
    }

    /// False for formats whose instructions a virtual machine or an older model does not show.
    bool runs(Precision p) const {
        if (seen().flags.empty())
            return true;
        const bool arm = seen().has("asimd");
        switch (p) {
        case Precision::int8:
            return arm ? seen().has("asimddp") : seen().has("avx512_vnni") || seen().has("avx_vnni");
        case Precision::bf16:
            return arm ? seen().has("bf16") : seen().has("avx512_bf16");
        case Precision::fp16:
            return arm ? seen().has("asimdhp") : seen().has("avx512_fp16");
        default:
            return true;
        }
    }

    std::string vector_name() const {
        return seen().has("avx512f") ? "AVX-512"
               : seen().has("avx2")  ? "AVX2"
               : seen().has("sve")   ? "SVE"
               : seen().has("asimd") ? "NEON"
                                     : "vector";
    }

    void add_matrix_engine(Json& engines, Json& peaks) {
        if (device() == nullptr)
            return;
        for (const Engine& engine : device()->engines) {
            if (engine.kind != EngineClass::matrix)
                continue;
            if (engine.isa == "amx" && !seen().flags.empty() && !seen().has("amx_tile")) {
                out_.remark(fmt::format("{} of {} is not shown by this machine: no matrix engine",
                                        engine.name, device()->id));
                return;
            }
            Json rates;
            for (const Precision p : kPrecisions)
                if (engine.supports(p))
                    rates[name_of(p)] = engine.rate(p).value;
            add_engine(engines, peaks, named_after(engine, seen().cores), rates,
                       borrowed(0, "core of the same design"));
        }
    }

    const Known& base_clock_;
    EntryWriter& out_;
    Known lanes_;
};

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
        lanes_ = CoreEngines(*this, base_, out_).write();
        CoreCaches(*this, out_).write();
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
            Json::object({{"type", device() != nullptr && device()->dram ? device()->dram->type : "DRAM"},
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

MachineEntry processor_entry(const ProcessorSeen& seen, const Match& match, const ProbeResult& probe) {
    return Builder(seen, match, probe).build();
}

} // namespace archsim
