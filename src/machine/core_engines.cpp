#include "machine/processor_entry.hpp"

namespace archsim {

namespace {

using Known = EntryWriter::Known;

// A core of which nothing is known has at least 128-bit vectors with two multiply-adds a clock.
constexpr double kUnknownLanes = 4, kUnknownPipes = 2;

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

} // namespace

Known write_engines(const ProcessorFacts& facts, const Known& base_clock, EntryWriter& out) {
    return CoreEngines(facts, base_clock, out).write();
}

} // namespace archsim
