// calibrate_device: fits the parameters of a device, or of a software stack, to measurements.

#include "common/measurement_options.hpp"
#include "core/lists.hpp"
#include "core/new_file.hpp"
#include "fit/parameters/calibrate.hpp"
#include "fit/report/validation_report.hpp"

#include <fmt/format.h>
#include <thread>

constexpr const char* kExamples = R"(  calibrate_device QCS8550 --measurements tests/measured/calibration.csv
  calibrate_device A100 --measurements my_board.csv --output my_a100.json
  calibrate_device A100 --measurements my_board.csv --parameters matrix_efficiency
  calibrate_device --stack vitis-ai --with-devices --measurements tests/measured/calibration.csv)";

int main(int argc, char** argv) {
    using namespace archsim;
    std::vector<std::string> overlays;
    cli::MeasurementOptions measured;
    MeasuredContext context;
    std::string output_file;
    bool write = false;
    CalibrationRequest request;
    cli::OutputOptions output;
    const auto setup = [&](cli::Flags& flags) {
        flags.add_document("calibrate_device", schema_of<Calibration, PlainView>);
        flags.add_option("device", request.device, "device to calibrate: a name, or the path of a JSON file");
        measured.add_to(flags, "CSV file(s) of measured values; see docs/calibrating.md");
        flags.add_option("--model", context.model,
                         "with --from: the network that ran, where the output does not say", "MODEL");
        flags.add_option("--precision", context.precision,
                         "with --from: the format that ran, where the output does not say", "FORMAT");
        flags.add_option("--runtime", request.runtime,
                         "only rows of this software stack (default: the one with most rows)", "STACK");
        flags.add_option("--parameters", request.parameters,
                         "parameters to fit, at most six (default: see docs/calibrating.md)", "NAME");
        flags.add_option("--stack", request.stacks,
                         "instead of a device: fit the parameters that software stack(s) share over devices",
                         "STACK");
        flags.add_flag("--with-devices", request.with_devices,
                       "with --stack: fit the devices' own parameters together with it");
        flags.add_option("--hardware-db", overlays, "folder(s) or file(s) of devices that take precedence",
                         "FOLDER");
        output.add_to(flags, "text, markdown, json, csv, html");
        flags.remove("--output");
        const char* result = "Result (default: only printed)";
        flags
            .add_written("-o,--output", output_file, "write the device's file with the fitted values to FILE")
            .in_group(result);
        flags.add_flag("--write", write, "write the fitted values into the database files themselves")
            .kept_back()
            .in_group(result);
        flags.exclude("--output", "--write");
    };
    const auto body = [&] {
        context.hardware = request.device;
        MeasuredTable table = measured.read(context);
        std::vector<std::string> files = measured.files;
        append(files, measured.logs);
        SessionOptions options{.hardware_overlays = measured.overlays(overlays)};
        if (request.device.ends_with(".json"))
            options.hardware_overlays.emplace_back(request.device);
        const Session session(options);
        const RowEstimator estimator(session);
        request.threads = std::max(1U, std::thread::hardware_concurrency());
        const CalibrationOutcome outcome = calibrate(estimator, table.rows, request);
        const std::string cite = describe_fit(outcome.calibration, files);
        if (!output_file.empty() && outcome.files.size() != 1)
            throw UsageError(
                fmt::format("--output: {} files would change; use --write", outcome.files.size()));
        for (const CalibratedFile& file : outcome.files)
            if (write || !output_file.empty())
                write_file(write ? file.file : output_file, calibrated_text(file, cite, cli::today()));
        output.emit_answer(outcome.calibration);
        return table.findings.empty() ? 0 : 3;
    };
    return cli::run_tool(argc, argv, "calibrate_device",
                         "Fits the parameters of a device or of a software stack to measurements.", kExamples,
                         setup, body);
}
