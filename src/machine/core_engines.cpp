#include "machine/processor_entry.hpp"

namespace archsim {

namespace {

using Known = EntryWriter::Known;

// A core of which nothing is known has at least 128-bit vectors with two multiply-adds a clock.
constexpr double kUnknownLanes = 4, kUnknownPipes = 2;

class CoreEngines {
  public:
    CoreEngines(const ProcessorFacts& facts, const Known& base_clock, EntryWriter& out)
        : facts_(facts), base_clock_(base_clock), out_(out) {}

    Known write() {
        Json engines = Json::array(), peaks;
        if (facts_.whole()) {
            // Every core is here: hybrid chips keep both of their kinds.
            for (const Engine& engine : facts_.device()->engines) {
                Json rates;
                for (const Precision p : kPrecisions)
                    if (engine.supports(p))
                        rates[name_of(p)] = engine.rate(p).value;
                add_engine(engines, peaks, named_after(engine, engine.count), rates, facts_.borrowed(0));
            }
            lanes_ = facts_.borrowed(facts_.number("vector_lanes_fp32").value_or(kUnknownLanes));
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
        if (facts_.device() != nullptr)
            for (const Engine& engine : facts_.device()->engines)
                if (engine.kind == EngineClass::vector && engine.supports(Precision::fp32) && like == nullptr)
                    like = &engine;
        lanes_ = {kUnknownLanes, Origin::assumed, "128-bit vectors, the narrowest in use"};
        if (like != nullptr) {
            for (const Precision p : kPrecisions)
                if (like->supports(p) && runs(p))
                    rates[name_of(p)] = like->rate(p).value;
            rate = facts_.borrowed(like->rate(Precision::fp32).value, "core of the same design");
            lanes_ = facts_.borrowed(facts_.number("vector_lanes_fp32").value_or(kUnknownLanes),
                                     "core of the same design");
        } else {
            double pipes = kUnknownPipes;
            if (facts_.seen().core) {
                lanes_ = {facts_.seen().core->lanes_fp32, Origin::detected,
                          fmt::format("identification: {}", facts_.seen().core->title)};
                pipes = facts_.seen().core->multiply_pipes;
            } else if (facts_.seen().has("avx2") || facts_.seen().has("avx")) {
                lanes_ = {8, Origin::assumed, "256-bit vectors, from the instruction sets"};
            }
            const double fp32 = lanes_.value * pipes * 2;
            rate = {fp32, lanes_.origin, lanes_.from};
            rates["fp64"] = fp32 / 2;
            rates["fp32"] = fp32;
            if (facts_.seen().has("asimdhp") || facts_.seen().has("avx512_fp16"))
                rates["fp16"] = 2 * fp32;
            if (facts_.seen().has("avx512_vnni") || facts_.seen().has("avx_vnni") ||
                facts_.seen().has("asimddp"))
                rates["int8"] = 4 * fp32; // four byte products in the place of one fp32 product
        }
        add_engine(engines, peaks, {vector_name(), "vector", facts_.seen().cores, {}}, rates, rate);
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
                engine.shared ? facts_.borrowed(engine.clock.value) : Known{}};
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
        if (facts_.seen().flags.empty())
            return true;
        const bool arm = facts_.seen().has("asimd");
        switch (p) {
        case Precision::int8:
            return arm ? facts_.seen().has("asimddp")
                       : facts_.seen().has("avx512_vnni") || facts_.seen().has("avx_vnni");
        case Precision::bf16:
            return arm ? facts_.seen().has("bf16") : facts_.seen().has("avx512_bf16");
        case Precision::fp16:
            return arm ? facts_.seen().has("asimdhp") : facts_.seen().has("avx512_fp16");
        default:
            return true;
        }
    }

    std::string vector_name() const {
        return facts_.seen().has("avx512f") ? "AVX-512"
               : facts_.seen().has("avx2")  ? "AVX2"
               : facts_.seen().has("sve")   ? "SVE"
               : facts_.seen().has("asimd") ? "NEON"
                                            : "vector";
    }

    void add_matrix_engine(Json& engines, Json& peaks) {
        if (facts_.device() == nullptr)
            return;
        for (const Engine& engine : facts_.device()->engines) {
            if (engine.kind != EngineClass::matrix)
                continue;
            if (engine.isa == "amx" && !facts_.seen().flags.empty() && !facts_.seen().has("amx_tile")) {
                out_.remark(fmt::format("{} of {} is not shown by this machine: no matrix engine",
                                        engine.name, facts_.device()->id));
                return;
            }
            Json rates;
            for (const Precision p : kPrecisions)
                if (engine.supports(p))
                    rates[name_of(p)] = engine.rate(p).value;
            add_engine(engines, peaks, named_after(engine, facts_.seen().cores), rates,
                       facts_.borrowed(0, "core of the same design"));
        }
    }

    const ProcessorFacts& facts_;
    const Known& base_clock_;
    EntryWriter& out_;
    Known lanes_;
};

} // namespace

Known write_engines(const ProcessorFacts& facts, const Known& base_clock, EntryWriter& out) {
    return CoreEngines(facts, base_clock, out).write();
}

} // namespace archsim
