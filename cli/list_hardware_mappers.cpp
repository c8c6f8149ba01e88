// list_hardware_mappers: what the hardware database holds, where its numbers come from, and whether it is
// sound.

#include "answers/hardware/hardware_list.hpp"
#include "common/progress.hpp"
#include "common/tool.hpp"
#include "core/data_dir.hpp"
#include "core/new_file.hpp"
#include "hardware/family_schema.hpp"
#include "report/blocks/columns.hpp"

constexpr const char* kExamples = R"(  list_hardware_mappers
  list_hardware_mappers --category gpu --format csv
  list_hardware_mappers --show RTX-4090
  list_hardware_mappers --show-runtime tensorrt
  list_hardware_mappers --this-machine --output my_machine.json
  list_hardware_mappers --check
  list_hardware_mappers --check ./mychip.json)";

static std::string names_of(const archsim::HardwareDatabase& database, const std::string& kind) {
    const auto line = [](const auto& name) { return fmt::format("{}\n", name); };
    return kind == "devices" ? archsim::joined(database.device_ids(), line, "")
           : kind == "runtimes"
               ? archsim::joined(database.runtime_ids(), line, "")
               : archsim::joined(
                     database.deployments(), [&](const auto& deployment) { return line(deployment.id); }, "");
}

/// The value of --this-machine: which entry to write as a file, and where the texts come from.
struct MachineRequest {
    std::optional<std::string> which; ///< "processor" or "gpu", empty for the first; none: not asked
    bool probe = false;
    std::string snapshot, save_snapshot;

    void add_to(archsim::cli::Flags& flags) {
        flags
            .add_optional_value(
                "--this-machine", which,
                "the machine at hand: what it shows, and the entry that estimates would use; --format "
                "json, or --output FILE.json, gives the entry of its processor, or of its first gpu")
            .one_of({"processor", "gpu", ""});
        flags.add_flag(
            "--probe", probe,
            "with --this-machine: measure its clock and memory bandwidth anew, and longer (two seconds) "
            "than estimates do once in a boot");
        flags
            .add_option("--snapshot", snapshot,
                        "with --this-machine: read the texts that --save-snapshot wrote on another machine")
            .file();
        flags.add_written("--save-snapshot", save_snapshot,
                          "with --this-machine: write the texts that the machine was read from to FILE");
    }

    archsim::Snapshot read() const {
        return snapshot.empty() ? archsim::capture_machine() : archsim::read_snapshot(snapshot);
    }

    /// The entry that --format json gives, under the name of the file that it is written to.
    std::string file_text(const archsim::ThisMachine& machine, const std::string& file) const {
        for (const archsim::MachineEntry& entry : machine.entries)
            if ((entry.id == archsim::kThisMachine) == (*which != "gpu") && !entry.json.empty())
                return archsim::entry_text(entry, std::filesystem::path(file).stem().string());
        throw archsim::InputError("--this-machine gpu: no GPU that the database knows is shown");
    }
};

int main(int argc, char** argv) {
    using namespace archsim;
    std::string category, deployment, show, show_runtime, names, schema;
    std::vector<std::string> overlays;
    std::optional<std::string> check;
    MachineRequest machine;
    bool belief = false;
    cli::OutputOptions output;
    const auto setup = [&](cli::Flags& flags) {
        flags.add_document("list_hardware_mappers", list_hardware_mappers_schema);
        const std::vector<std::string> families = family_names();
        flags
            .add_option("--category,--family", category,
                        fmt::format("one family: {}", fmt::join(families, ", ")))
            .one_of(families, cli::Case::ignored);
        flags.add_option("--deployment", deployment, "the hardware of one deployment scenario", "DEPLOYMENT");
        flags.add_option("--show,--hardware", show,
                         "everything about one device, with the source of each number", "DEVICE");
        flags.add_option("--show-runtime", show_runtime,
                         "everything about one software stack: devices, fusion, costs, fallback, sources",
                         "STACK");
        flags
            .add_optional_value("--check", check,
                                "check a database folder or one file (default: the installed database)")
            .file();
        machine.add_to(flags);
        flags.add_flag("--belief", belief,
                       "what was measured and what is a projection, per device, with the width of intervals");
        flags.add_option("--names", names, "names only, one per line")
            .one_of({"devices", "runtimes", "deployments"});
        flags
            .add_option("--schema", schema,
                        "a JSON Schema file, with families and their facts as this library knows them")
            .file()
            .kept_back();
        flags.add_option("--hardware-db", overlays, "folder(s) or file(s) of devices that take precedence",
                         "FOLDER");
        output.add_order_to(flags);
        output.add_to(flags, "text, markdown, json, csv, html");
    };
    const auto body = [&] {
        if (check) {
            const HardwareCheck outcome =
                check_database(check->empty() ? data_dir() / "hardware_db" : std::filesystem::path(*check));
            output.emit_answer(outcome);
            return outcome.findings.empty() ? 0 : 2;
        }
        if (!schema.empty()) {
            output.emit(completed_schema(schema));
            return 0;
        }
        name_this_machine();
        const HardwareDatabase database(data_dir() / "hardware_db", {overlays.begin(), overlays.end()});
        if (machine.which) {
            const Snapshot snapshot = machine.read();
            if (!machine.save_snapshot.empty())
                write_file(machine.save_snapshot, to_text(snapshot));
            const ThisMachine found = describe_machine(snapshot, database,
                                                       machine.probe              ? probe_machine()
                                                       : machine.snapshot.empty() ? probe_of_boot()
                                                                                  : ProbeResult{});
            const Format format = output.chosen();
            output.emit(format == Format::json ? machine.file_text(found, output.file)
                                               : output.drawn_report(describe(found), format));
            return 0;
        }
        if (!names.empty()) {
            output.emit(names_of(database, names));
        } else if (belief) {
            const UncertaintyTable table(data_dir() / "hardware_db" / "uncertainty.json");
            const Format format = output.chosen();
            if (format == Format::json)
                throw UsageError("--belief is written as text, markdown, csv or html");
            output.emit(output.drawn_report(describe(beliefs(database, table)), format));
        } else if (!show_runtime.empty()) {
            output.emit_answer(runtime_sheet(database, show_runtime));
        } else if (!show.empty()) {
            output.emit_answer(device_sheet(database, show));
        } else {
            const HardwareList list = list_hardware(
                database, {category.empty() ? std::nullopt : parse_family(category), deployment});
            for (const Finding& finding : list.findings)
                if (!output.quiet)
                    cli::print_note("list_hardware_mappers", to_string(finding));
            output.emit_answer(list);
        }
        return 0;
    };
    return cli::run_tool(argc, argv, "list_hardware_mappers",
                         "Lists the devices that can be estimated, with the sources of their numbers.",
                         kExamples, setup, body);
}
