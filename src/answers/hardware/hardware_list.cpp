// Collects what the hardware tool shows.

#include "answers/hardware/hardware_list.hpp"

#include "archsim/run/session.hpp"
#include "core/embedded_files.hpp"
#include "core/lists.hpp"
#include "report/blocks/columns.hpp"

#include <algorithm>
#include <fmt/ranges.h>

namespace archsim {

namespace {

HardwareRow row_of(const HardwareDatabase& database, std::shared_ptr<const Device> device, std::string mode) {
    HardwareRow row;
    row.sources = database.device_sources(*device);
    row.device = std::move(device);
    row.power_mode = std::move(mode);
    return row;
}

Table facts_table(const MachineEntry& entry) {
    using F = MachineFact;
    return table_of<F>(
        {},
        {{{"Number", "", "number"}, &F::what},
         {{"Value", "", "value"}, &F::value},
         {{"Origin", "", "origin"},
          [&](const F& fact) {
              return toned_cell(fact.origin == Origin::database ? "from " + entry.matched
                                                                : std::string(name_of(fact.origin)),
                                fact.origin == Origin::assumed ? Tone::bad : Tone::plain);
          }},
         {{"From", "", "from", Align::left, 1}, [](const F& fact) { return text_cell(fact.from); }}},
        entry.facts);
}

void describe_entry(const MachineEntry& entry, Report& report) {
    add_blocks(report, Heading{2, fmt::format("{}: {}", entry.id, entry.title)},
               Paragraph{entry.matched.empty() ? fmt::format("No device of the database: {}.", entry.match)
                                               : fmt::format("Like {}: {}.", entry.matched, entry.match)});
    if (!entry.facts.empty())
        report.blocks.push_back(facts_table(entry));
    if (!entry.remarks.empty())
        report.blocks.push_back(Bullets{entry.remarks});
}

/// "this-machine: AMD EPYC 9654, like EPYC-9654 of the database; 3 of 14 numbers are assumed."
std::vector<std::string> machine_lines(const ThisMachine& machine) {
    std::vector<std::string> lines;
    for (const MachineEntry& entry : machine.entries) {
        const auto assumed = std::ranges::count(entry.facts, Origin::assumed, &MachineFact::origin);
        lines.push_back(fmt::format("{}: {}, {}; {} of {} numbers are assumed.", entry.id, entry.title,
                                    entry.matched.empty() ? std::string("like no device of the database")
                                                          : "like " + entry.matched,
                                    assumed, entry.facts.size()));
    }
    return lines;
}

constexpr const char* kNetwork =
    "resnet18"; // every operator class of a convolutional network, in milliseconds
constexpr const char* kIdeal = "ideal";

/// Formats that its engines have, narrowest first, whichever class of engine has them.
std::vector<Precision> formats_of(const Device& device) {
    std::vector<Precision> formats;
    for (const Precision p : kPrecisions)
        if (device.supports(EngineClass::matrix, p) || device.supports(EngineClass::vector, p))
            formats.push_back(p);
    std::ranges::stable_sort(formats, [](Precision a, Precision b) { return bits_of(a) < bits_of(b); });
    return formats;
}

/// The first format that runs as it was asked for.
std::optional<Result> first_run(const Session& session, const Model& model, const std::string& file,
                                const std::string& stack, const std::vector<Precision>& formats) {
    for (const Precision p : formats) {
        Conditions conditions;
        conditions.stack = stack;
        conditions.precision = PrecisionConfig::uniform(p);
        Result result = session.estimate({.model = model}, file, conditions);
        if (result.ok() && result.estimate.executed.compute == p)
            return result;
    }
    return std::nullopt;
}

std::vector<std::string_view> names_of(const std::vector<Precision>& formats) {
    return mapped(formats, [](const Precision p) { return name_of(p); });
}

} // namespace

HardwareList list_hardware(const HardwareDatabase& database, const HardwareListQuery& query) {
    HardwareList list;
    list.deployments = database.deployments();
    list.runtimes = database.runtime_ids();
    if (!query.deployment.empty()) {
        const Deployment deployment = database.deployment(query.deployment);
        list.deployment = deployment.title.empty() ? deployment.id : deployment.title;
        for (const std::string& name : deployment.hardware) {
            DeviceChoice choice = database.device(name);
            const bool names_mode = name.find('@') != std::string::npos;
            if (!query.family || choice.device->family == *query.family)
                list.rows.push_back(
                    row_of(database, choice.device, names_mode ? choice.power_mode : std::string()));
        }
        return list;
    }
    for (auto& device : database.all_devices(list.findings))
        if (!query.family || device->family == *query.family)
            list.rows.push_back(row_of(database, std::move(device), {}));
    return list;
}

DeviceSheet device_sheet(const HardwareDatabase& database, std::string_view name) {
    DeviceSheet sheet;
    sheet.choice = database.device(name);
    sheet.facts = database.device_facts(sheet.choice.device->file);
    return sheet;
}

HardwareCheck check_database(const std::filesystem::path& file_or_folder) {
    HardwareCheck check;
    check.path = file_or_folder.string();
    check.findings = check_hardware(file_or_folder);
    if (is_text_file(file_or_folder)) {
        if (!contains(check.findings, Severity::error, &Finding::severity)) {
            CheckRuns runs = check_runs(file_or_folder);
            check.runs = std::move(runs.results);
            append(check.findings, runs.findings);
        }
        return check;
    }
    const HardwareDatabase database(file_or_folder);
    std::vector<Finding> reported; // the check has them already
    for (const auto& device : database.all_devices(reported)) {
        ++check.devices;
        check.device_sources += database.device_sources(*device);
    }
    for (const std::string& id : database.runtime_ids()) {
        try {
            check.runtime_sources += count_sources(database.runtime_facts(id));
            ++check.runtimes;
        } catch (const InputError&) {
            continue; // one of the findings
        }
    }
    return check;
}

Report describe(const ThisMachine& machine) {
    Report report{"This machine", {}};
    add_blocks(report, Heading{1, report.title}, Takeaway{machine_lines(machine)});
    for (const MachineEntry& entry : machine.entries)
        describe_entry(entry, report);
    add_blocks(report, Paragraph{"Tools take it by name; the entry can be kept in a file and edited:"},
               Command{"compare_models resnet50 --hardware this-machine EPYC-9654"},
               Command{"list_hardware_mappers --this-machine --output my_machine.json"});
    return report;
}

CheckRuns check_runs(const std::filesystem::path& file) {
    CheckRuns runs;
    const Session session;
    std::shared_ptr<const Device> device;
    try {
        device = session.hardware().device(file.string()).device;
    } catch (const InputError&) {
        return runs; // a stack, or what the other findings say
    }
    const std::vector<Precision> formats = formats_of(*device);
    const Model model = session.load(kNetwork);
    std::vector<std::string> stacks = device->runtimes;
    if (!contains(stacks, kIdeal))
        stacks.push_back(kIdeal);
    for (const std::string& stack : stacks) {
        std::string reason;
        try {
            if (auto result = first_run(session, model, file.string(), stack, formats)) {
                runs.results.push_back(std::move(*result));
                continue;
            }
            reason = fmt::format("it runs {}",
                                 fmt::join(names_of(session.hardware().runtime(stack)->precisions), ", "));
        } catch (const InputError& error) {
            reason = error.what();
        }
        Finding finding;
        finding.kind = FindingKind::unsupported;
        finding.severity = Severity::error;
        finding.file = file.string();
        finding.where = "/runtimes";
        finding.message = fmt::format("{} runs {} in none of the formats that the engines have ({}): {}",
                                      stack, kNetwork, fmt::join(names_of(formats), ", "), reason);
        finding.hint = "name a stack that runs one of them, or \"ideal\", which assumes no software";
        runs.findings.push_back(std::move(finding));
    }
    return runs;
}

} // namespace archsim
