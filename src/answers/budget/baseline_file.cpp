// Estimates of an earlier day as JSON: every number that their differences are explained by. One list of
// members for each struct is read and written from, so that what is written is what is read.

#include "answers/budget/budget.hpp"

#include "archsim/core/version.hpp"
#include "core/json_document.hpp"
#include "core/lists.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <limits>

namespace archsim {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "archsim.baseline/1";

constexpr std::array kGraph = {Number<GraphRecord>{"repeat", &GraphRecord::repeat},
                               Number<GraphRecord>{"batch", &GraphRecord::batch},
                               Number<GraphRecord>{"peak", &GraphRecord::peak},
                               Number<GraphRecord>{"bandwidth", &GraphRecord::bandwidth},
                               Number<GraphRecord>{"exponent", &GraphRecord::exponent},
                               Number<GraphRecord>{"clock_ratio", &GraphRecord::clock_ratio},
                               Number<GraphRecord>{"latency_s", &GraphRecord::latency_s},
                               Number<GraphRecord>{"interval_s", &GraphRecord::interval_s},
                               Number<GraphRecord>{"static_power_w", &GraphRecord::static_power_w}};
constexpr std::array kRecord = {
    Number<EstimateRecord>{"batch_size", &EstimateRecord::batch},
    Number<EstimateRecord>{"weight_bytes", &EstimateRecord::weight_bytes},
    Number<EstimateRecord>{"activation_bytes", &EstimateRecord::activation_bytes},
    Number<EstimateRecord>{"kv_cache_bytes", &EstimateRecord::kv_cache_bytes},
    Number<EstimateRecord>{"workspace_bytes", &EstimateRecord::workspace_bytes},
    Number<EstimateRecord>{"price_per_s", &EstimateRecord::price_per_s},
    Number<EstimateRecord>{"seconds_per_inference", &EstimateRecord::seconds_per_inference},
    Number<EstimateRecord>{"electricity", &EstimateRecord::electricity},
    Number<EstimateRecord>{"chip_j", &EstimateRecord::chip_j},
    Number<EstimateRecord>{"chip_w", &EstimateRecord::chip_w}};

/// JSON has no infinity (a device without external memory), and no unknown (energy nobody can price).
static Json number_json(double value) {
    if (std::isinf(value))
        return value > 0 ? "infinite" : "-infinite";
    return std::isnan(value) ? Json(nullptr) : Json(value);
}

/// Numbers that are not zero: most members of most kernels are.
template <class Keys>
static Json events_json(const double* values, std::size_t count, Keys key_of) {
    Json out = Json::object();
    for (std::size_t i = 0; i < count; ++i)
        if (values[i] != 0)
            out[std::string(key_of(i))] = number_json(values[i]);
    return out;
}

static std::string_view event_key(std::size_t i) {
    return name_of(static_cast<Event>(i));
}
static std::string_view format_key(std::size_t i) {
    return name_of(kPrecisions[i]);
}

static Json kernel_json(const KernelRecord& k) {
    Json out = {{"name", k.name}, {"class", k.kind}, {"operators", k.operators}};
    const auto write = [&](const char* key, double value) {
        if (value != 0)
            out[key] = number_json(value);
    };
    write("latency_s", k.latency_s);
    for (const auto& [key, member] : kRegionTimes)
        write(key, k.time.*member);
    out["bound"] = name_of(k.bound);
    out["events"] = events_json(k.events.counts.data(), kEventCount, event_key);
    out["macs"] = events_json(k.events.macs.data(), kPrecisionCount, format_key);
    out["joules"] = events_json(k.energy.joules.data(), kEventCount, event_key);
    write("static_joules", k.energy.static_joules);
    return out;
}

static Json graph_json(const GraphRecord& g) {
    Json out = {{"name", g.name}};
    for (const auto& [key, member] : kGraph)
        out[key] = number_json(g.*member);
    out["prefetch"] = g.prefetch;
    out["operators"] = Json::array();
    for (const OperatorRecord& op : g.operators)
        out["operators"].push_back({op.name, op.type, op.shape});
    out["kernels"] = Json::array();
    for (const KernelRecord& kernel : g.kernels)
        out["kernels"].push_back(kernel_json(kernel));
    out["network"] = kernel_json(g.network);
    return out;
}

static Json record_json(const EstimateRecord& r) {
    const PrecisionConfig& p = r.precision;
    Json out = {{"model", r.model},
                {"hardware", r.hardware},
                {"runtime", r.stack},
                {"question", r.question},
                {"formats",
                 {{"compute", name_of(p.compute)},
                  {"activations", name_of(p.activations)},
                  {"weights", name_of(p.weights)},
                  {"kv_cache", name_of(p.kv_cache)},
                  {"weight_bits_overhead", p.weight_bits_overhead},
                  {"head_bits", p.head_bits},
                  {"strict_fp32", p.strict_fp32}}},
                {"dims", r.dims},
                {"values", Json::object()}};
    for (const auto& [key, member] : kRecord)
        out[key] = number_json(r.*member);
    for (const auto& [key, m] : r.values)
        out["values"][key] = {number_json(m.value), number_json(m.interval.low),
                              number_json(m.interval.high)};
    out["inputs"] = Json::object();
    for (std::size_t f = 0; f < r.inputs.size(); ++f)
        out["inputs"][std::string(info_of(static_cast<Factor>(f)).name)] = number_json(r.inputs[f]);
    out["graphs"] = Json::array();
    for (const GraphRecord& graph : r.graphs)
        out["graphs"].push_back(graph_json(graph));
    return out;
}

/// Reads members by key; what is missing or of the wrong type is an error that names the place.
class BaselineMembers {
  public:
    BaselineMembers(const nlohmann::json& object, std::string file, std::string place)
        : object_(object), file_(std::move(file)), place_(std::move(place)) {
        if (!object.is_object())
            fail("", "an object");
    }

    const nlohmann::json& at(const char* key) const {
        const auto found = object_.find(key);
        if (found == object_.end())
            fail(key, "there");
        return *found;
    }
    double number(const char* key) const { return to_number(at(key), key); }
    /// Zero where it was left out.
    double number_or_zero(const char* key) const { return object_.contains(key) ? number(key) : 0; }
    std::string text(const char* key) const {
        if (!at(key).is_string())
            fail(key, "a string");
        return at(key).get<std::string>();
    }
    bool flag(const char* key) const {
        if (!at(key).is_boolean())
            fail(key, "true or false");
        return at(key).get<bool>();
    }
    Precision format(const char* key) const {
        const auto parsed = parse_precision(text(key));
        if (!parsed)
            fail(key, "a numeric format");
        return *parsed;
    }
    const nlohmann::json& array(const char* key) const {
        if (!at(key).is_array())
            fail(key, "an array");
        return at(key);
    }
    BaselineMembers object(const char* key) const { return {at(key), file_, place_ + "/" + key}; }
    BaselineMembers element(const char* key, std::size_t index) const {
        return {at(key)[index], file_, fmt::format("{}/{}/{}", place_, key, index)};
    }
    double to_number(const nlohmann::json& value, std::string_view key) const {
        if (value.is_null())
            return std::numeric_limits<double>::quiet_NaN();
        if (value == "infinite" || value == "-infinite")
            return (value == "infinite" ? 1 : -1) * std::numeric_limits<double>::infinity();
        if (!value.is_number())
            fail(key, "a number");
        return value.get<double>();
    }
    /// Numbers by name, zero where there is none.
    template <class Keys>
    void numbers(const char* key, double* values, std::size_t count, Keys key_of) const {
        const BaselineMembers own = object(key);
        for (std::size_t i = 0; i < count; ++i)
            values[i] = own.number_or_zero(std::string(key_of(i)).c_str());
    }
    const nlohmann::json& json() const { return object_; }

    [[noreturn]] void fail(std::string_view key, std::string_view expected) const {
        throw InputError(Finding{.kind = FindingKind::malformed_file,
                                 .message = fmt::format("is not {}", expected),
                                 .file = file_,
                                 .where = key.empty() ? place_ : fmt::format("{}/{}", place_, key),
                                 .hint = "write the baseline again with check_budget --save-baseline"});
    }

  private:
    const nlohmann::json& object_;
    std::string file_, place_;
};

static KernelRecord read_kernel(const BaselineMembers& m, std::size_t operators) {
    KernelRecord k;
    k.name = m.text("name");
    k.kind = m.text("class");
    for (const nlohmann::json& op : m.array("operators")) {
        if (!op.is_number_unsigned() || op.get<std::size_t>() >= operators)
            m.fail("operators", "a list of operators of the graph");
        k.operators.push_back(op.get<std::uint32_t>());
    }
    k.latency_s = m.number_or_zero("latency_s");
    for (const auto& [key, member] : kRegionTimes)
        k.time.*member = m.number_or_zero(key);
    const std::string bound = m.text("bound");
    for (const Bound one : {Bound::compute, Bound::memory, Bound::overhead})
        if (name_of(one) == bound)
            k.bound = one;
    m.numbers("events", k.events.counts.data(), kEventCount, event_key);
    m.numbers("macs", k.events.macs.data(), kPrecisionCount, format_key);
    m.numbers("joules", k.energy.joules.data(), kEventCount, event_key);
    k.energy.static_joules = m.number_or_zero("static_joules");
    return k;
}

static GraphRecord read_graph(const BaselineMembers& m) {
    GraphRecord g;
    g.name = m.text("name");
    for (const auto& [key, member] : kGraph)
        g.*member = m.number(key);
    g.prefetch = m.flag("prefetch");
    for (const nlohmann::json& op : m.array("operators")) {
        if (!op.is_array() || op.size() != 3 || !op[0].is_string() || !op[1].is_string() ||
            !op[2].is_string())
            m.fail("operators", "a list of [name, type, shape]");
        g.operators.push_back({op[0].get<std::string>(), op[1].get<std::string>(), op[2].get<std::string>()});
    }
    for (std::size_t i = 0; i < m.array("kernels").size(); ++i)
        g.kernels.push_back(read_kernel(m.element("kernels", i), g.operators.size()));
    g.network = read_kernel(m.object("network"), 0);
    return g;
}

static EstimateRecord read_record(const BaselineMembers& m) {
    EstimateRecord r;
    r.model = m.text("model");
    r.hardware = m.text("hardware");
    r.stack = m.text("runtime");
    r.question = m.text("question");
    const BaselineMembers formats = m.object("formats");
    r.precision.compute = formats.format("compute");
    r.precision.activations = formats.format("activations");
    r.precision.weights = formats.format("weights");
    r.precision.kv_cache = formats.format("kv_cache");
    r.precision.weight_bits_overhead = formats.number("weight_bits_overhead");
    r.precision.head_bits = formats.number("head_bits");
    r.precision.strict_fp32 = formats.flag("strict_fp32");
    for (const auto& [key, member] : kRecord)
        r.*member = m.number(key);
    const BaselineMembers dims = m.object("dims");
    for (const auto& [key, value] : dims.json().items())
        r.dims[key] = static_cast<std::int64_t>(dims.number(key.c_str()));
    const BaselineMembers values = m.object("values");
    for (const auto& [key, value] : values.json().items()) {
        if (values.array(key.c_str()).size() != 3)
            values.fail(key, "a list of a value and its interval");
        r.values[key] = {values.to_number(value[0], key),
                         {values.to_number(value[1], key), values.to_number(value[2], key)}};
    }
    const BaselineMembers inputs = m.object("inputs");
    for (std::size_t f = 0; f < kFactorCount; ++f)
        r.inputs.push_back(inputs.number_or_zero(std::string(info_of(static_cast<Factor>(f)).name).c_str()));
    for (std::size_t i = 0; i < m.array("graphs").size(); ++i)
        r.graphs.push_back(read_graph(m.element("graphs", i)));
    if (r.graphs.empty())
        m.fail("graphs", "a list of at least one graph");
    return r;
}

std::string baseline_json(const BudgetAnswer& answer) {
    Json document = {{"schema", kSchema}, {"version", version()}, {"estimates", Json::array()}};
    for (const BudgetedEstimate& estimate : answer.estimates)
        if (estimate.after)
            document["estimates"].push_back(record_json(*estimate.after));
    return document.dump(0, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<EstimateRecord> read_baseline(const std::filesystem::path& file) {
    std::vector<Finding> findings;
    const auto document = parse_json_file(file.string(), findings);
    if (!document)
        throw InputError(findings.front());
    const BaselineMembers top(*document, file.string(), "");
    if (top.text("schema") != kSchema)
        top.fail("schema", fmt::format("\"{}\"", kSchema));
    return mapped(indices(top.array("estimates").size()),
                  [&](std::size_t i) { return read_record(top.element("estimates", i)); });
}

} // namespace archsim
