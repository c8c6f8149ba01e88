// list_hardware_mappers: what the hardware database holds, where its numbers come from, and whether it is
// sound.

#include "archsim/core/data_dir.hpp"
#include "archsim/report/hardware_list.hpp"
#include "archsim/report/limits_of_belief.hpp"
#include "common/tool.hpp"

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
    std::string category, deployment, show, show_runtime, names;
    std::vector<std::string> overlays;
    std::optional<std::string> check;
    bool belief = false;
    cli::OutputOptions output;
    const auto setup = [&](cli::Flags& flags) {
        std::vector<std::string> families;
        for (const Family family : kFamilies)
            families.emplace_back(name_of(family));
        flags.add_option("--category", category, "one family: cpu, gpu, tpu, kpu, dsp, dpu, cgra, npu")
            .one_of(families, cli::Case::ignored);
        flags.add_option("--deployment", deployment, "the hardware of one deployment scenario");
        flags.add_option("--show", show, "everything about one device, with the source of each number");
        flags.add_option("--show-runtime", show_runtime,
                         "everything about one software stack: devices, fusion, costs, fallback, sources");
        flags.add_optional_value("--check", check,
                                 "check a database folder or one file (default: the installed database)");
        flags.add_flag("--belief", belief,
                       "what was measured and what is a projection, per device, with the width of intervals");
        flags.add_option("--names", names, "names only, one per line")
            .one_of({"devices", "runtimes", "deployments"});
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
        const HardwareDatabase database(data_dir() / "hardware_db", {overlays.begin(), overlays.end()});
        if (!names.empty()) {
            output.emit(names_of(database, names));
            return 0;
        }
        if (belief) {
            const UncertaintyTable table(data_dir() / "hardware_db" / "uncertainty.json");
            const Format format = output.chosen();
            if (format == Format::json)
                throw UsageError("--belief is written as text, markdown, csv or html");
            output.emit(render(describe(beliefs(database, table)), format, output.render_options()));
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
