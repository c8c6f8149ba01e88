// Collects what the hardware tool shows.

#include "answers/hardware/hardware_list.hpp"

#include "archsim/run/session.hpp"
#include "core/embedded_files.hpp"
#include "core/lists.hpp"
#include "report/blocks/columns.hpp"

#include <algorithm>
#include <fmt/ranges.h>
#include <set>

namespace archsim {

static HardwareRow row_of(const HardwareDatabase& database, std::shared_ptr<const Device> device,
                          std::string mode) {
    const SourceCounts sources = database.device_sources(*device);
    return {std::move(device), std::move(mode), sources};
}

static Table facts_table(const MachineEntry& entry) {
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

static void describe_entry(const MachineEntry& entry, Report& report) {
    add_blocks(report, Heading{2, fmt::format("{}: {}", entry.id, entry.title)},
               Paragraph{entry.matched.empty() ? fmt::format("No device of the database: {}.", entry.match)
                                               : fmt::format("Like {}: {}.", entry.matched, entry.match)});
    if (!entry.facts.empty())
        report.blocks.push_back(facts_table(entry));
    if (!entry.remarks.empty())
        report.blocks.push_back(Bullets{entry.remarks});
}

/// "this-machine: AMD EPYC 9654, like EPYC-9654 of the database; 3 of 14 numbers are assumed."
static std::vector<std::string> machine_lines(const ThisMachine& machine) {
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
constexpr const char* kLanguageModel = "gpt2"; // of stacks that serve nothing else
constexpr const char* kIdeal = "ideal";

/// Formats that its engines have, narrowest first, whichever class of engine has them.
static std::vector<Precision> formats_of(const Device& device) {
    std::vector<Precision> formats = kept(kPrecisions, [&](Precision p) {
        return device.supports(EngineClass::matrix, p) || device.supports(EngineClass::vector, p);
    });
    std::ranges::stable_sort(formats, [](Precision a, Precision b) { return bits_of(a) < bits_of(b); });
    return formats;
}

/// The first format that runs as it was asked for.
static std::optional<Result> first_run(const Session& session, const Model& model, const std::string& file,
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

static std::vector<std::string_view> names_of(const std::vector<Precision>& formats) {
    return mapped(formats, [](const Precision p) { return name_of(p); });
}

static Cell width_cell(const Spread& spread) {
    return {fmt::format("{:.2f} to {:.2f}", spread.low, spread.high),
            {},
            Tone::plain,
            {},
            CellKind::number,
            CellInterval{spread.low, 1, spread.high}};
}

static std::string_view words_of(const BeliefRow& row) {
    return row.projected                      ? "projected"
           : row.evidence == Evidence::device ? "measured on this device"
           : row.evidence == Evidence::stack  ? "stack fitted on its kin"
                                              : "measured, not fitted";
}

static Table family_table(Family family, const std::vector<BeliefRow>& rows) {
    using R = BeliefRow;
    constexpr const char* kWidth = "measured / estimated, 90 %";
    return table_of<R>(
        {},
        {{{"Device", "", "hardware"}, [](const R& row) { return row.device->id; }},
         {{"Stack", "", "runtime"}, [](const R& row) { return row.runtime->id; }},
         {{"Basis", "", "belief"},
          [](const R& row) { return toned_cell(words_of(row), row.projected ? Tone::muted : Tone::plain); }},
         {{"Time", kWidth, "latency_factor_low", Align::left, 0, BestIs::least, "latency_factor_high"},
          [](const R& row) { return width_cell(row.latency); }},
         {{"Energy", kWidth, "energy_factor_low", Align::left, 0, BestIs::least, "energy_factor_high"},
          [](const R& row) { return row.energy_known ? width_cell(row.energy) : Cell{}; }},
         {{"What the width comes from", "", "basis"}, [](const R& row) { return row.latency.basis; }}},
        kept(rows, [&](const R& row) { return row.device->family == family; }));
}

/// "12 of 19 devices are measured or of a measured kind; projected: A, B."
static std::string summary(Family family, const std::vector<BeliefRow>& rows) {
    std::vector<std::string> projected;
    std::set<std::string> stacks;
    std::size_t all = 0;
    for (const BeliefRow& row : rows) {
        if (row.device->family != family)
            continue;
        ++all;
        if (row.projected)
            projected.push_back(row.device->id);
        else
            stacks.insert(row.runtime->id);
    }
    std::string text = fmt::format("{} of {} devices stand on measurements of themselves or of their kind",
                                   all - projected.size(), all);
    if (!stacks.empty())
        text += fmt::format(", under {}", fmt::join(stacks, ", "));
    if (!projected.empty())
        text += fmt::format("; projected: {}", fmt::join(projected, ", "));
    return text + ".";
}

/// Nothing for a file that describes no device.
static CheckRuns check_runs(const std::filesystem::path& file) {
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
            auto result = first_run(session, model, file.string(), stack, formats);
            if (!result && session.hardware().runtime(stack)->language_models)
                result = first_run(session, session.load(kLanguageModel), file.string(), stack, formats);
            if (result) {
                runs.results.push_back(std::move(*result));
                continue;
            }
            reason = fmt::format("it runs {}",
                                 fmt::join(names_of(session.hardware().runtime(stack)->precisions), ", "));
        } catch (const InputError& error) {
            reason = error.what();
        }
        runs.findings.push_back(
            {.kind = FindingKind::unsupported,
             .message = fmt::format("{} runs {} in none of the formats that the engines have ({}): {}", stack,
                                    kNetwork, fmt::join(names_of(formats), ", "), reason),
             .file = file.string(),
             .where = "/runtimes",
             .hint = "name a stack that runs one of them, or \"ideal\", which assumes no software"});
    }
    return runs;
}

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

std::vector<BeliefRow> beliefs(const HardwareDatabase& database, const UncertaintyTable& table) {
    std::vector<BeliefRow> rows;
    std::vector<Finding> findings;
    for (const auto& device : database.all_devices(findings)) {
        if (device->default_runtime.empty())
            continue;
        BeliefRow row;
        row.device = device;
        row.runtime = database.runtime(device->default_runtime);
        row.evidence = table.evidence(*device, *row.runtime, SpreadOf::latency);
        row.projected = !table.held().measured(*device, *row.runtime, TimeKind::inference) &&
                        !table.held().measured(*device, *row.runtime, TimeKind::decode);
        row.latency = table.spread(SpreadOf::latency, *device, *row.runtime);
        row.energy = table.spread(SpreadOf::energy, *device, *row.runtime);
        row.energy_known = device->active_idle.known() || device->tdp.known();
        rows.push_back(std::move(row));
    }
    std::ranges::stable_sort(rows, [](const BeliefRow& a, const BeliefRow& b) {
        return std::pair(a.device->family, a.device->id) < std::pair(b.device->family, b.device->id);
    });
    return rows;
}

Report describe(const std::vector<BeliefRow>& rows) {
    Report report{"Limits of belief", {}};
    add_blocks(report, Heading{1, report.title},
               Paragraph{"The evidence behind an estimate, per device under its default software stack, and "
                         "the factors of the estimate between which a measurement lies with nominal 90 % "
                         "probability (compute-bound networks). A projection has no measurement of its "
                         "device under its stack, nor of a device whose parameters the stack shares with it: "
                         "comparisons show it with its rank in brackets and do not rank it."});
    for (const Family family : families()) {
        if (std::ranges::none_of(rows, [&](const BeliefRow& row) { return row.device->family == family; }))
            continue;
        add_blocks(report, Heading{2, std::string(title_of(family))}, Paragraph{summary(family, rows)},
                   family_table(family, rows));
    }
    return report;
}

} // namespace archsim
