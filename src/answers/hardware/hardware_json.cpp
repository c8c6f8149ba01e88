// The hardware tool's JSON documents; unknown values are null.

#include "answers/hardware/hardware_list.hpp"
#include "core/lists.hpp"
#include "hardware/operator_rules.hpp"
#include "report/blocks/finding_text.hpp"

namespace archsim {

static std::optional<double> value_or_null(const Fact& fact) {
    return fact.known() ? std::optional(fact.value) : std::nullopt;
}

using Counts = std::vector<std::pair<std::string, std::size_t>>;
using Peaks = std::vector<std::pair<std::string, double>>;

/// Numbers by the kind of their source.
static Counts counts_of(const SourceCounts& sources) {
    Counts counts;
    for (const SourceKind kind : kSourceKinds)
        counts.emplace_back(name_of(kind), sources[kind]);
    return counts;
}

static Peaks peaks_of(const Device& device, EngineClass kind) {
    Peaks peaks;
    for (const Precision precision : kPrecisions)
        if (const double peak = device.peak(kind, precision); peak > 0)
            peaks.emplace_back(name_of(precision), peak);
    return peaks;
}

static Members<Source> cited_source_members() {
    return {{"kind", "", [](const Source& s) { return name_of(s.kind); }}, {"cite", "", &Source::cite}};
}

/// Operators that the stack's compiler leaves to others, and the operators that its vendor lists.
static Members<Runtime> operator_rule_members() {
    using Rule = OperatorRule;
    using List = OperatorList;
    return {{"refused", "what the stack's compiler leaves to others",
             [](const Runtime& s) { return s.rules ? s.rules->refused : std::vector<Rule>{}; },
             Members<Rule>{{"operators", "types; *: any", &Rule::operators},
                           {"generations", "of devices; empty: all", &Rule::generations},
                           {"when", "conditions on attributes and shapes; empty: always",
                            [](const Rule& rule) { return mapped(rule.when, &OperatorCondition::text); }},
                           {"because", "", &Rule::because},
                           {"source", "", &Rule::source, cited_source_members()}}},
            {"lists", "operators that the vendor lists; what is not on the list is refused",
             [](const Runtime& s) { return s.rules ? s.rules->lists : std::vector<List>{}; },
             Members<List>{{"operators", "", &List::operators},
                           {"generations", "of devices; empty: all", &List::generations},
                           {"because", "", &List::because},
                           {"source", "", &List::source, cited_source_members()}}},
            {"rest_follows", "what depends on a refused operator runs on the host too",
             [](const Runtime& s) { return s.rules && s.rules->rest_follows; }}};
}

static Members<Price> dated_price_members(const char* key) {
    return {{key, "null: nobody states a price", [](const Price& p) { return value_or_null(p.amount); }},
            {"date", "", &Price::date},
            {"instance", "what is rented", &Price::instance},
            {"reason", "why nobody states a price", [](const Price& p) {
                 return Sometimes<std::string>{p.amount.known() ? std::nullopt
                                                                : std::optional(p.amount.note)};
             }}};
}

static Members<Device> listed_device_members() {
    using D = Device;
    const auto text = [](std::string D::*member) {
        return [member](const D& d) { return nonempty(d.*member); };
    };
    return {
        {"id", "", &D::id},
        {"family", "architecture", [](const D& d) { return name_of(d.family); }, OneOf{family_names()}},
        {"name", "", &D::name},
        {"aliases", "", &D::aliases},
        {"power_modes", "", [](const D& d) { return mapped(d.power_modes, &PowerMode::name); }},
        {"default_power_mode", "", text(&D::default_power_mode)},
        {"runtimes", "software stacks", &D::runtimes},
        {"default_runtime", "", text(&D::default_runtime)},
        {"vendor", "", text(&D::vendor)},
        {"codename", "", text(&D::codename)},
        {"generation", "", text(&D::generation)},
        {"year", "", [](const D& d) { return d.year > 0 ? std::optional(d.year) : std::nullopt; }},
        {"process_nm", "", [](const D& d) { return value_or_null(d.process_nm); }},
        {"peak_matrix_ops_per_s", "by format", [](const D& d) { return peaks_of(d, EngineClass::matrix); }},
        {"peak_vector_ops_per_s", "by format", [](const D& d) { return peaks_of(d, EngineClass::vector); }},
        {"memory_bytes", "",
         [](const D& d) { return d.dram ? value_or_null(d.dram->capacity) : std::nullopt; }},
        {"bandwidth_bytes_per_s", "",
         [](const D& d) { return d.dram ? value_or_null(d.dram->bandwidth) : std::nullopt; }},
        {"tdp_w", "", [](const D& d) { return value_or_null(d.tdp); }},
        {"idle_w", "", [](const D& d) { return value_or_null(d.idle); }},
        {"list_price", "", &D::list_price, dated_price_members("usd")},
        {"server_price", "of a server with it, for each device", &D::server_price,
         dated_price_members("usd")},
        {"cloud_price", "", &D::cloud_price, dated_price_members("usd_per_hour")},
        {"host", "processor beside it", text(&D::host)},
        {"file", "", &D::file}};
}

static Members<StatedFact> stated_fact_members() {
    using F = StatedFact;
    return {{"pointer", "place in the file", &F::where},
            {"value", "", &F::value},
            {"unit", "as written", &F::unit},
            {"kind", "of its source", [](const F& f) { return name_of(f.kind); }},
            {"source", "", &F::cite},
            {"note", "", [](const F& f) { return Sometimes<std::string>{nonempty(f.note)}; }},
            {"n", "measurements that it was fitted to",
             [](const F& f) {
                 return Sometimes<int>{f.fitted_n > 0 ? std::optional(f.fitted_n) : std::nullopt};
             }},
            {"error", "of the fit", [](const F& f) {
                 return Sometimes<double>{f.fitted_n > 0 ? std::optional(f.fitted_error) : std::nullopt};
             }}};
}

static Members<PowerMode> power_mode_members() {
    using M = PowerMode;
    const auto value = [](Fact M::*fact) { return [fact](const M& m) { return value_or_null(m.*fact); }; };
    return {{"name", "", &M::name},
            {"aliases", "", &M::aliases},
            {"active_units", "", value(&M::active_units)},
            {"clock_hz", "", value(&M::clock)},
            {"memory_bandwidth_bytes_per_s", "", value(&M::memory_bandwidth)},
            {"limit_w", "", value(&M::limit)},
            {"uncapped", "no limit is set", &M::uncapped}};
}

/// Every document of the tool begins alike; `rest` follows.
template <class Answer>
static AnswerDocument hardware_document(const Answer& answer, const Members<Answer>& rest) {
    return {answer, "list_hardware_mappers", "devices and software stacks",
            Members<Answer>{{"verdict", "the answer", [](const Answer& one) { return verdict_lines(one); },
                             lines_members()}}
                .with(rest)};
}

AnswerDocument document_of(const HardwareList& list, PlainView) {
    using L = HardwareList;
    using R = HardwareRow;
    return hardware_document<L>(
        list, {{"hardware", "", &L::rows,
                listed_device_members()
                    .of<R>([](const R& row) { return *row.device; })
                    .with({{"chosen_power_mode", "of a deployment",
                            [](const R& row) { return Sometimes<std::string>{nonempty(row.power_mode)}; }},
                           {"sources", "numbers by the kind of their source",
                            [](const R& row) { return counts_of(row.sources); }}})},
               {"deployments", "named sets of devices", &L::deployments,
                Members<Deployment>{{"id", "", &Deployment::id},
                                    {"title", "", &Deployment::title},
                                    {"description", "", &Deployment::description},
                                    {"hardware", "", &Deployment::hardware}}},
               {"runtimes", "software stacks", &L::runtimes},
               {"findings", "devices that could not be read", &L::findings, finding_members()}});
}

AnswerDocument document_of(const DeviceSheet& sheet, PlainView) {
    using S = DeviceSheet;
    return hardware_document<S>(
        sheet, {{"hardware", "the one device", [](const S& s) { return std::array{&s}; },
                 listed_device_members()
                     .of<S>([](const S& s) { return *s.choice.device; })
                     .with({{"power_mode_details", "",
                             [](const S& s) { return s.choice.device->power_modes; }, power_mode_members()},
                            {"sources", "numbers by the kind of their source",
                             [](const S& s) { return counts_of(count_sources(s.facts)); }},
                            {"notes", "", [](const S& s) { return s.choice.device->notes; }},
                            {"facts", "every number with its source", &S::facts, stated_fact_members()}})},
                {"findings", "", [](const S& s) { return s.choice.device->findings; }, finding_members()}});
}

AnswerDocument document_of(const RuntimeSheet& sheet, PlainView) {
    using S = RuntimeSheet;
    const Members<S> stack = {
        {"id", "", [](const S& s) { return s.runtime->id; }},
        {"name", "", [](const S& s) { return s.runtime->name; }},
        {"aliases", "", [](const S& s) { return s.runtime->aliases; }},
        {"description", "", [](const S& s) { return s.runtime->description; }},
        {"devices", "that it serves", &S::devices},
        {"default_of", "devices whose default it is", &S::default_of},
        {"graph_capture", "", [](const S& s) { return s.runtime->graph_capture; }},
        {"autocast", "", [](const S& s) { return s.runtime->autocast; }},
        {"precisions", "",
         [](const S& s) {
             return mapped(s.runtime->precisions,
                           [](const Precision precision) { return name_of(precision); });
         }},
        {"operators", "what the stack's compilers refuse, by attribute, and what they take alone",
         [](const S& s) { return *s.runtime; }, operator_rule_members()},
        {"integer_operators", "", [](const S& s) { return s.runtime->integer_operators; }},
        {"one_thread_operators", "", [](const S& s) { return s.runtime->one_thread_operators; }},
        {"compiled_before", "the tool that compiles networks before they are deployed; null: devices do",
         [](const S& s) {
             const auto& before = s.runtime->compiled_before;
             return before ? std::optional(before->tool) : std::nullopt;
         }},
        {"compile_base_s", "", [](const S& s) { return value_or_null(s.runtime->compile_base); }},
        {"compile_per_operator_s", "",
         [](const S& s) { return value_or_null(s.runtime->compile_per_operator); }},
        {"sources", "numbers by the kind of their source",
         [](const S& s) { return counts_of(count_sources(s.facts)); }},
        {"facts", "every number with its source", &S::facts, stated_fact_members()}};
    return hardware_document<S>(
        sheet, {{"runtimes", "the one stack", [](const S& s) { return std::array{&s}; }, stack}});
}

AnswerDocument document_of(const HardwareCheck& check, PlainView) {
    using C = HardwareCheck;
    return hardware_document<C>(check, {{"checked", "file or folder", &C::path},
                                        {"devices", "0: a single file", &C::devices},
                                        {"runtime_count", "0: a single file", &C::runtimes},
                                        {"device_sources", "numbers by the kind of their source",
                                         [](const C& c) { return counts_of(c.device_sources); }},
                                        {"runtime_sources", "numbers by the kind of their source",
                                         [](const C& c) { return counts_of(c.runtime_sources); }},
                                        {"findings", "", &C::findings, finding_members()}});
}

nlohmann::ordered_json list_hardware_mappers_schema() {
    return any_of({schema_of<HardwareList>(), schema_of<DeviceSheet>(), schema_of<RuntimeSheet>(),
                   schema_of<HardwareCheck>()});
}

} // namespace archsim
