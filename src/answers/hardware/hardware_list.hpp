#pragma once
// The hardware database for people: lists, one device with its sources, the outcome of a check.

#include "archsim/compare/result.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/extend/renderer.hpp"
#include "archsim/hardware/database.hpp"
#include "hardware/stated_facts.hpp"
#include "hardware/uncertainty.hpp"
#include "machine/this_machine.hpp"
#include "report/render/answer_document.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

struct HardwareRow {
    std::shared_ptr<const Device> device;
    std::string power_mode; ///< the one asked for, empty for the whole device
    SourceCounts sources;
};

struct HardwareList {
    std::string deployment; ///< title, when one was asked for
    std::vector<HardwareRow> rows;
    std::vector<Deployment> deployments; ///< all of the database
    std::vector<std::string> runtimes;
    std::vector<Finding> findings; ///< devices that could not be read
};

struct HardwareListQuery {
    std::optional<Family> family;
    std::string deployment;
};

HardwareList list_hardware(const HardwareDatabase& database, const HardwareListQuery& query = {});

/// One table per family; with explanations and kinds of source in Markdown and HTML; CSV: one table.
Report describe(const HardwareList& list, PlainView view = {}, Format format = Format::text);
/// {"schema": "archsim.list_hardware_mappers/1", "hardware": [...]}; unknown values are null.
AnswerDocument document_of(const HardwareList& list, PlainView view = {});

/// One device: every number with its source.
struct DeviceSheet {
    DeviceChoice choice;
    std::vector<StatedFact> facts;
};
DeviceSheet device_sheet(const HardwareDatabase& database, std::string_view name);
Report describe(const DeviceSheet& sheet, PlainView view = {}, Format format = Format::text);
AnswerDocument document_of(const DeviceSheet& sheet, PlainView view = {});

/// One software stack: what it serves and every number with its source.
struct RuntimeSheet {
    std::shared_ptr<const Runtime> runtime;
    std::vector<std::string> devices, default_of; ///< ids
    std::vector<StatedFact> facts;
};
RuntimeSheet runtime_sheet(const HardwareDatabase& database, std::string_view name);
Report describe(const RuntimeSheet& sheet, PlainView view = {}, Format format = Format::text);
AnswerDocument document_of(const RuntimeSheet& sheet, PlainView view = {});

struct HardwareCheck {
    std::string path;
    std::vector<Finding> findings;
    std::vector<Result> runs; ///< of a device's file, a network under each of its stacks and the ideal one
    std::size_t devices = 0, runtimes = 0; ///< 0 where a single file was checked
    SourceCounts device_sources, runtime_sources;
};
/// Checks a file or folder; counts sources where it is a whole database.
HardwareCheck check_database(const std::filesystem::path& file_or_folder);
Report describe(const HardwareCheck& check, PlainView view = {}, Format format = Format::text);
AnswerDocument document_of(const HardwareCheck& check, PlainView view = {});

/// One device under its default stack.
struct BeliefRow {
    std::shared_ptr<const Device> device;
    std::shared_ptr<const Runtime> runtime;
    Evidence evidence = Evidence::none; ///< of the parameters
    bool projected = false;             ///< see HeldRows::measured
    Spread latency, energy;             ///< of compute-bound networks
    bool energy_known = false;          ///< static power, or a thermal design power to take a share of
};

/// Every device of the database, by family and id; devices that cannot be read or have no stack are left out.
std::vector<BeliefRow> beliefs(const HardwareDatabase& database, const UncertaintyTable& table);
Report describe(const std::vector<BeliefRow>& rows);

/// One table per processor and GPU, its remarks, and what to do with the entry.
Report describe(const ThisMachine& machine);

// Whether a device file runs anything: a small network under each stack that the device names, and under
// none.

struct CheckRuns {
    std::vector<Result> results; ///< one for each stack that runs a format of the chip, the ideal stack last
    std::vector<Finding> findings; ///< a stack that runs none of them, with those that it runs
};

std::string joined(const std::vector<std::string>& names, std::string_view separator = ", ");
/// "3 datasheet, 12 assumed": the kinds that there are.
std::string counts_text(const SourceCounts& sources);
/// "168 devices: 50 GPU, 29 CPU, ...", the fastest and the widest of them, and the share of sourced numbers.
std::vector<std::string> verdict_lines(const HardwareList& list);
/// "H100: 1979 TOPS int8, 989 TFLOPS fp16, 80.0 GB at 3.35 TB/s, 700 W.", and what is assumed.
std::vector<std::string> verdict_lines(const DeviceSheet& sheet);
/// "tensorrt serves 20 devices and is the default of 18.", and what is assumed.
std::vector<std::string> verdict_lines(const RuntimeSheet& sheet);
/// "Sound: 168 devices and 40 software stacks, no findings."
std::vector<std::string> verdict_lines(const HardwareCheck& check);

} // namespace archsim
