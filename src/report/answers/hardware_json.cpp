// The hardware tool's JSON documents; unknown values are null.

#include "archsim/core/version.hpp"
#include "hardware/operator_rules.hpp"
#include "report/answers/hardware_list.hpp"
#include "report/answers/list_verdicts.hpp"
#include "report/blocks/finding_json.hpp"
#include "report/render/json_document.hpp"

#include <nlohmann/json.hpp>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

/// What the stack's compiler leaves to others, and the operators that its vendor lists.
Json rules_json(const Runtime& stack) {
    Json refused = Json::array(), lists = Json::array();
    const auto kind = [](const std::shared_ptr<const Source>& source) {
        return source ? Json({{"kind", name_of(source->kind)}, {"cite", source->cite}}) : Json();
    };
    if (stack.rules) {
        for (const OperatorRule& rule : stack.rules->refused) {
            Json when = Json::array();
            for (const OperatorCondition& condition : rule.when)
                when.push_back(condition.text());
            refused.push_back({{"operators", rule.operators},
                               {"generations", rule.generations},
                               {"when", std::move(when)},
                               {"because", rule.because},
                               {"source", kind(rule.source)}});
        }
        for (const OperatorList& list : stack.rules->lists)
            lists.push_back({{"operators", list.operators},
                             {"generations", list.generations},
                             {"because", list.because},
                             {"source", kind(list.source)}});
    }
    return Json({{"refused", std::move(refused)},
                 {"lists", std::move(lists)},
                 {"rest_follows", stack.rules && stack.rules->rest_follows}});
}

constexpr const char* kSchema = "archsim.list_hardware_mappers/1";

Json value_json(const Fact& fact) {
    return fact.known() ? Json(fact.value) : Json(nullptr);
}

Json counts_json(const SourceCounts& sources) {
    Json counts = Json::object();
    for (const SourceKind kind : kSourceKinds)
        counts[std::string(name_of(kind))] = sources[kind];
    return counts;
}

Json peaks_json(const Device& device, EngineClass kind) {
    Json peaks = Json::object();
    for (const Precision precision : kPrecisions)
        if (const double peak = device.peak(kind, precision); peak > 0)
            peaks[std::string(name_of(precision))] = peak;
    return peaks;
}

Json price_json(const std::optional<Price>& price, const char* key) {
    if (!price)
        return nullptr;
    Json out = {{key, value_json(price->amount)}, {"date", price->date}, {"instance", price->instance}};
    if (!price->amount.known())
        out["reason"] = price->amount.note;
    return out;
}

Json modes_json(const Device& device) {
    Json modes = Json::array();
    for (const PowerMode& mode : device.power_modes)
        modes.push_back({{"name", mode.name},
                         {"aliases", mode.aliases},
                         {"active_units", value_json(mode.active_units)},
                         {"clock_hz", value_json(mode.clock)},
                         {"memory_bandwidth_bytes_per_s", value_json(mode.memory_bandwidth)},
                         {"limit_w", value_json(mode.limit)},
                         {"uncapped", mode.uncapped}});
    return modes;
}

Json device_json(const Device& device) {
    Json mode_names = Json::array();
    for (const PowerMode& mode : device.power_modes)
        mode_names.push_back(mode.name);
    const auto text = [](const std::string& value) { return value.empty() ? Json(nullptr) : Json(value); };
    return {{"id", device.id},
            {"family", name_of(device.family)},
            {"name", device.name},
            {"aliases", device.aliases},
            {"power_modes", std::move(mode_names)},
            {"default_power_mode", text(device.default_power_mode)},
            {"runtimes", device.runtimes},
            {"default_runtime", text(device.default_runtime)},
            {"vendor", text(device.vendor)},
            {"codename", text(device.codename)},
            {"generation", text(device.generation)},
            {"year", device.year > 0 ? Json(device.year) : Json(nullptr)},
            {"process_nm", value_json(device.process_nm)},
            {"peak_matrix_ops_per_s", peaks_json(device, EngineClass::matrix)},
            {"peak_vector_ops_per_s", peaks_json(device, EngineClass::vector)},
            {"memory_bytes", device.dram ? value_json(device.dram->capacity) : Json(nullptr)},
            {"bandwidth_bytes_per_s", device.dram ? value_json(device.dram->bandwidth) : Json(nullptr)},
            {"tdp_w", value_json(device.tdp)},
            {"idle_w", value_json(device.idle)},
            {"list_price", price_json(device.list_price, "usd")},
            {"server_price", price_json(device.server_price, "usd")},
            {"cloud_price", price_json(device.cloud_price, "usd_per_hour")},
            {"host", text(device.host)},
            {"file", device.file}};
}

Json facts_json(const std::vector<StatedFact>& stated) {
    Json facts = Json::array();
    for (const StatedFact& fact : stated) {
        Json row = {{"pointer", fact.where},
                    {"value", fact.value},
                    {"unit", fact.unit},
                    {"kind", name_of(fact.kind)},
                    {"source", fact.cite}};
        if (!fact.note.empty())
            row["note"] = fact.note;
        if (fact.fitted_n > 0) {
            row["n"] = fact.fitted_n;
            row["error"] = fact.fitted_error;
        }
        facts.push_back(std::move(row));
    }
    return facts;
}

template <class Answer>
Json header(const Answer& answer) {
    return {{"schema", kSchema}, {"version", version()}, {"verdict", verdict_document(answer)}};
}

} // namespace

std::string to_json(const HardwareList& list, PlainView) {
    Json document = header(list);
    Json& hardware = document["hardware"] = Json::array();
    for (const HardwareRow& row : list.rows) {
        Json device = device_json(*row.device);
        if (!row.power_mode.empty())
            device["chosen_power_mode"] = row.power_mode;
        device["sources"] = counts_json(row.sources);
        hardware.push_back(std::move(device));
    }
    Json& deployments = document["deployments"] = Json::array();
    for (const Deployment& deployment : list.deployments)
        deployments.push_back({{"id", deployment.id},
                               {"title", deployment.title},
                               {"description", deployment.description},
                               {"hardware", deployment.hardware}});
    document["runtimes"] = list.runtimes;
    document["findings"] = findings_json(list.findings);
    return document_text(document);
}

std::string to_json(const DeviceSheet& sheet, PlainView) {
    const Device& device = *sheet.choice.device;
    Json document = header(sheet);
    Json entry = device_json(device);
    entry["power_mode_details"] = modes_json(device);
    entry["sources"] = counts_json(count_sources(sheet.facts));
    entry["notes"] = device.notes;
    entry["facts"] = facts_json(sheet.facts);
    document["hardware"] = Json::array({std::move(entry)});
    document["findings"] = findings_json(device.findings);
    return document_text(document);
}

std::string to_json(const RuntimeSheet& sheet, PlainView) {
    const Runtime& stack = *sheet.runtime;
    Json formats = Json::array();
    for (const Precision precision : stack.precisions)
        formats.push_back(name_of(precision));
    Json document = header(sheet);
    document["runtimes"] = Json::array({{{"id", stack.id},
                                         {"name", stack.name},
                                         {"aliases", stack.aliases},
                                         {"description", stack.description},
                                         {"devices", sheet.devices},
                                         {"default_of", sheet.default_of},
                                         {"graph_capture", stack.graph_capture},
                                         {"autocast", stack.autocast},
                                         {"precisions", std::move(formats)},
                                         {"operators", rules_json(stack)},
                                         {"integer_operators", stack.integer_operators},
                                         {"one_thread_operators", stack.one_thread_operators},
                                         {"compile_base_s", value_json(stack.compile_base)},
                                         {"compile_per_operator_s", value_json(stack.compile_per_operator)},
                                         {"sources", counts_json(count_sources(sheet.facts))},
                                         {"facts", facts_json(sheet.facts)}}});
    return document_text(document);
}

std::string to_json(const HardwareCheck& check, PlainView) {
    Json document = header(check);
    document["checked"] = check.path;
    document["devices"] = check.devices;
    document["runtime_count"] = check.runtimes;
    document["device_sources"] = counts_json(check.device_sources);
    document["runtime_sources"] = counts_json(check.runtime_sources);
    document["findings"] = findings_json(check.findings);
    return document_text(document);
}

} // namespace archsim
