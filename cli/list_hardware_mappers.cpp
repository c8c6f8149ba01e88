// list_hardware_mappers: what the hardware database holds, where its numbers come from, and whether it is
// sound.

#include "archsim/core/data_dir.hpp"
#include "archsim/hardware/family_schema.hpp"
#include "archsim/report/hardware_list.hpp"
#include "common/tool.hpp"

#include <fmt/format.h>
#include <iostream>

namespace {

constexpr const char* kExamples = R"(  list_hardware_mappers
  list_hardware_mappers --category gpu --format csv
  list_hardware_mappers --show RTX-4090
  list_hardware_mappers --show-runtime tensorrt
  list_hardware_mappers --check
  list_hardware_mappers --check ./mychip.json)";

archsim::HardwareListLayout layout_of(archsim::Format format) {
    using archsim::Format;
    using archsim::HardwareListLayout;
    if (format == Format::csv)
        return HardwareListLayout::spreadsheet;
    return format == Format::text ? HardwareListLayout::grouped : HardwareListLayout::document;
}

/// One name per line.
std::string names_of(const archsim::HardwareDatabase& database, const std::string& kind) {
    std::vector<std::string> names;
    if (kind == "devices")
        names = database.device_ids();
    else if (kind == "runtimes")
        names = database.runtime_ids();
    else
        for (const archsim::Deployment& deployment : database.deployments())
            names.push_back(deployment.id);
    std::string lines;
    for (const std::string& name : names)
        lines += name + "\n";
    return lines;
}

} // namespace

int main(int argc, char** argv) {
    using namespace archsim;
    std::string category, deployment, show, show_runtime, names, schema;
    std::vector<std::string> overlays;
    std::optional<std::string> check;
    cli::OutputOptions output;
    const auto setup = [&](cli::Flags& flags) {
        const std::vector<std::string> families = family_names();
        flags.add_option("--category", category, fmt::format("one family: {}", fmt::join(families, ", ")))
            .one_of(families, cli::Case::ignored);
        flags.add_option("--deployment", deployment, "the hardware of one deployment scenario");
        flags.add_option("--show", show, "everything about one device, with the source of each number");
        flags.add_option("--show-runtime", show_runtime,
                         "everything about one software stack: devices, fusion, costs, fallback, sources");
        flags.add_optional_value("--check", check,
                                 "check a database folder or one file (default: the installed database)");
        flags.add_option("--names", names, "names only, one per line")
            .one_of({"devices", "runtimes", "deployments"});
        flags.add_option("--schema", schema,
                         "a JSON Schema file, with families and their facts as this library knows them");
        flags.add_option("--hardware-db", overlays, "folder(s) or file(s) of devices that take precedence");
        output.add_to(flags, "text, markdown, json, csv, html");
    };
    const auto answer = [&](const auto& subject, auto&& report_of) {
        const Format format = output.chosen();
        output.emit(format == Format::json
                        ? to_json(subject)
                        : render(report_of(subject, format), format, output.render_options()));
    };
    const auto plain = [](const auto& subject, Format) { return describe(subject); };
    const auto body = [&] {
        if (check) {
            const HardwareCheck outcome =
                check_database(check->empty() ? data_dir() / "hardware_db" : std::filesystem::path(*check));
            answer(outcome, plain);
            return outcome.findings.empty() ? 0 : 2;
        }
        if (!schema.empty()) {
            output.emit(completed_schema(schema));
            return 0;
        }
        const HardwareDatabase database(data_dir() / "hardware_db", {overlays.begin(), overlays.end()});
        if (!names.empty()) {
            output.emit(names_of(database, names));
            return 0;
        }
        if (!show_runtime.empty()) {
            answer(runtime_sheet(database, show_runtime), plain);
            return 0;
        }
        if (!show.empty()) {
            answer(device_sheet(database, show), plain);
            return 0;
        }
        const HardwareList list =
            list_hardware(database, {category.empty() ? std::nullopt : parse_family(category), deployment});
        for (const Finding& finding : list.findings)
            if (!output.quiet)
                std::cerr << "list_hardware_mappers: " << to_string(finding) << '\n';
        answer(list, [](const HardwareList& subject, Format format) {
            return describe(subject, layout_of(format));
        });
        return 0;
    };
    return cli::run_tool(argc, argv, "list_hardware_mappers",
                         "Lists the devices that can be estimated, with the sources of their numbers.",
                         kExamples, setup, body);
}
