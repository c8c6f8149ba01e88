// Estimates of an earlier day as JSON: every number that their differences are explained by. Each struct is
// described once, by the keys of its members: the same description writes it and reads it back.

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

/// One object of the file. What is missing or of the wrong type is an error that names the place.
class BaselineObject {
  public:
    BaselineObject(Json& json, bool reads, std::string file = "", std::string place = "")
        : json_(json), reads_(reads), file_(std::move(file)), place_(std::move(place)) {
        if (!reads)
            json = Json::object();
        else if (!json.is_object())
            fail("", "an object");
    }

    bool reads() const { return reads_; }
    /// The member; made where this one is written.
    Json& at(const std::string& key) {
        if (reads_ && !json_.contains(key))
            fail(key, "there");
        return json_[key];
    }
    Json& array(const std::string& key) {
        Json& list = at(key);
        if (!reads_)
            list = Json::array();
        else if (!list.is_array())
            fail(key, "an array");
        return list;
    }
    BaselineObject object(const std::string& key) { return {at(key), reads_, file_, place_ + "/" + key}; }

    void number(const std::string& key, double& value) {
        if (reads_)
            value = to_number(at(key), key);
        else
            json_[key] = number_json(value);
    }
    /// Left out where it is zero: most members of most kernels are.
    void number_if_any(const std::string& key, double& value) {
        if (reads_ ? json_.contains(key) : value != 0)
            number(key, value);
    }
    void whole(const std::string& key, std::int64_t& value) {
        if (reads_)
            value = static_cast<std::int64_t>(to_number(at(key), key));
        else
            json_[key] = value;
    }
    /// A value and its interval.
    void measure(const std::string& key, Measure& m) {
        Json& list = array(key);
        if (reads_ && list.size() != 3)
            fail(key, "a list of a value and its interval");
        std::size_t next = 0;
        for (double* number : {&m.value, &m.interval.low, &m.interval.high})
            if (reads_)
                *number = to_number(list[next++], key);
            else
                list.push_back(number_json(*number));
    }
    void text(const std::string& key, std::string& value) {
        exchange(key, value, &Json::is_string, "a string");
    }
    void flag(const std::string& key, bool& value) {
        exchange(key, value, &Json::is_boolean, "true or false");
    }
    /// One of `all`, by its name.
    template <class Named, class All>
    void named(const std::string& key, Named& value, const All& all, std::string_view expected) {
        std::string name(name_of(value));
        text(key, name);
        const auto found = std::ranges::find(all, name, [](Named one) { return name_of(one); });
        if (found == std::end(all))
            fail(key, expected);
        value = *found;
    }
    /// Numbers by name, zero where there is none.
    template <class Name>
    void numbers(const std::string& key, std::span<double> values, Name name) {
        BaselineObject own = object(key);
        for (std::size_t i = 0; i < values.size(); ++i)
            own.number_if_any(std::string(name(i)), values[i]);
    }
    template <class Value>
    void by_key(const std::string& key, std::map<std::string, Value>& values,
                void (BaselineObject::*member)(const std::string&, Value&)) {
        BaselineObject own = object(key);
        if (reads_)
            for (const auto& [name, json] : own.json_.items())
                values[name];
        for (auto& [name, value] : values)
            (own.*member)(name, value);
    }
    template <class Value, class Describe>
    void list(const std::string& key, std::vector<Value>& values, Describe describe) {
        Json& all = array(key);
        values.resize(reads_ ? all.size() : values.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            BaselineObject element(reads_ ? all[i] : all.emplace_back(), reads_, file_,
                                   fmt::format("{}/{}/{}", place_, key, i));
            describe(element, values[i]);
        }
    }

    [[noreturn]] void fail(std::string_view key, std::string_view expected) const {
        throw InputError(Finding{.kind = FindingKind::malformed_file,
                                 .message = fmt::format("is not {}", expected),
                                 .file = file_,
                                 .where = key.empty() ? place_ : fmt::format("{}/{}", place_, key),
                                 .hint = "write the baseline again with check_budget --save-baseline"});
    }

  private:
    template <class Value>
    void exchange(const std::string& key, Value& value, bool (Json::*is)() const noexcept,
                  std::string_view expected) {
        if (!reads_)
            json_[key] = value;
        else if ((at(key).*is)())
            value = at(key).get<Value>();
        else
            fail(key, expected);
    }
    /// JSON has no infinity (a device without external memory), and no unknown (energy nobody can price).
    static Json number_json(double value) {
        if (std::isinf(value))
            return value > 0 ? "infinite" : "-infinite";
        return std::isnan(value) ? Json(nullptr) : Json(value);
    }
    double to_number(const Json& value, std::string_view key) const {
        if (value.is_null())
            return std::numeric_limits<double>::quiet_NaN();
        if (value == "infinite" || value == "-infinite")
            return (value == "infinite" ? 1 : -1) * std::numeric_limits<double>::infinity();
        if (!value.is_number())
            fail(key, "a number");
        return value.get<double>();
    }

    Json& json_;
    bool reads_;
    std::string file_, place_;
};

static std::string_view event_key(std::size_t i) {
    return name_of(static_cast<Event>(i));
}

static void describe(BaselineObject& m, KernelRecord& k, std::size_t operators) {
    m.text("name", k.name);
    m.text("class", k.kind);
    Json& indices = m.array("operators");
    if (!m.reads())
        indices = k.operators;
    for (const Json& op : indices)
        if (!op.is_number_unsigned() || op.get<std::size_t>() >= operators)
            m.fail("operators", "a list of operators of the graph");
    k.operators = indices.get<std::vector<std::uint32_t>>();
    m.number_if_any("latency_s", k.latency_s);
    for (const auto& [key, member] : kRegionTimes)
        m.number_if_any(key, k.time.*member);
    m.named("bound", k.bound, std::array{Bound::compute, Bound::memory, Bound::overhead}, "a bound");
    m.numbers("events", k.events.counts, event_key);
    m.numbers("macs", k.events.macs, [](std::size_t i) { return name_of(kPrecisions[i]); });
    m.numbers("joules", k.energy.joules, event_key);
    m.number_if_any("static_joules", k.energy.static_joules);
}

static void describe(BaselineObject& m, GraphRecord& g) {
    m.text("name", g.name);
    m.number("repeat", g.repeat);
    m.number("batch", g.batch);
    m.number("peak", g.peak);
    m.number("bandwidth", g.bandwidth);
    m.number("exponent", g.exponent);
    m.number("clock_ratio", g.clock_ratio);
    m.number("latency_s", g.latency_s);
    m.number("interval_s", g.interval_s);
    m.number("static_power_w", g.static_power_w);
    m.flag("prefetch", g.prefetch);
    Json& operators = m.array("operators");
    if (!m.reads())
        for (const OperatorRecord& op : g.operators)
            operators.push_back({op.name, op.type, op.shape});
    else
        for (const Json& op : operators) {
            if (!op.is_array() || op.size() != 3 || !std::ranges::all_of(op, &Json::is_string))
                m.fail("operators", "a list of [name, type, shape]");
            g.operators.push_back({op[0], op[1], op[2]});
        }
    m.list("kernels", g.kernels,
           [&](BaselineObject& one, KernelRecord& k) { describe(one, k, g.operators.size()); });
    BaselineObject network = m.object("network");
    describe(network, g.network, 0);
}

static void describe(BaselineObject& m, EstimateRecord& r) {
    m.text("model", r.model);
    m.text("hardware", r.hardware);
    m.text("runtime", r.stack);
    m.text("question", r.question);
    PrecisionConfig& p = r.precision;
    BaselineObject formats = m.object("formats");
    formats.named("compute", p.compute, kPrecisions, "a numeric format");
    formats.named("activations", p.activations, kPrecisions, "a numeric format");
    formats.named("weights", p.weights, kPrecisions, "a numeric format");
    formats.named("kv_cache", p.kv_cache, kPrecisions, "a numeric format");
    formats.number("weight_bits_overhead", p.weight_bits_overhead);
    formats.number("head_bits", p.head_bits);
    formats.flag("strict_fp32", p.strict_fp32);
    m.by_key("dims", r.dims, &BaselineObject::whole);
    m.by_key("values", r.values, &BaselineObject::measure);
    m.number("batch_size", r.batch);
    m.number("weight_bytes", r.weight_bytes);
    m.number("activation_bytes", r.activation_bytes);
    m.number("kv_cache_bytes", r.kv_cache_bytes);
    m.number("workspace_bytes", r.workspace_bytes);
    m.number("price_per_s", r.price_per_s);
    m.number("seconds_per_inference", r.seconds_per_inference);
    m.number("electricity", r.electricity);
    m.number("chip_j", r.chip_j);
    m.number("chip_w", r.chip_w);
    r.inputs.resize(kFactorCount);
    m.numbers("inputs", r.inputs, [](std::size_t f) { return info_of(static_cast<Factor>(f)).name; });
    m.list("graphs", r.graphs, [](BaselineObject& one, GraphRecord& g) { describe(one, g); });
    if (r.graphs.empty())
        m.fail("graphs", "a list of at least one graph");
}

static void describe(BaselineObject& m, std::vector<EstimateRecord>& estimates) {
    const std::string known = "archsim.baseline/1";
    std::string schema = known, made_by(version());
    m.text("schema", schema);
    if (schema != known)
        m.fail("schema", fmt::format("\"{}\"", known));
    m.text("version", made_by);
    m.list("estimates", estimates, [](BaselineObject& one, EstimateRecord& r) { describe(one, r); });
}

std::string baseline_json(const BudgetAnswer& answer) {
    std::vector<EstimateRecord> estimates;
    for (const BudgetedEstimate& estimate : answer.estimates)
        if (estimate.after)
            estimates.push_back(*estimate.after);
    Json json;
    BaselineObject document(json, false);
    describe(document, estimates);
    return json.dump(0, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<EstimateRecord> read_baseline(const std::filesystem::path& file) {
    std::vector<Finding> findings;
    const auto parsed = parse_json_file(file.string(), findings);
    if (!parsed)
        throw InputError(findings.front());
    Json json = *parsed;
    BaselineObject document(json, true, file.string());
    std::vector<EstimateRecord> estimates;
    describe(document, estimates);
    return estimates;
}

} // namespace archsim
