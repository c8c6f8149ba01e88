// Collects what the hardware tool shows.

#include "answers/hardware/hardware_list.hpp"

#include "answers/hardware/check_runs.hpp"

#include "core/embedded_files.hpp"

#include <algorithm>

namespace archsim {

namespace {

HardwareRow row_of(const HardwareDatabase& database, std::shared_ptr<const Device> device, std::string mode) {
    HardwareRow row;
    row.sources = database.device_sources(*device);
    row.device = std::move(device);
    row.power_mode = std::move(mode);
    return row;
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
        if (std::none_of(check.findings.begin(), check.findings.end(),
                         [](const Finding& finding) { return finding.severity == Severity::error; })) {
            CheckRuns runs = check_runs(file_or_folder);
            check.runs = std::move(runs.results);
            check.findings.insert(check.findings.end(), runs.findings.begin(), runs.findings.end());
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

} // namespace archsim
