// validate_estimates: runs published measurements through the estimator and reports the errors.

#include "archsim/report/validation.hpp"
#include "archsim/run/measurements.hpp"
#include "archsim/run/validate.hpp"
#include "common/tool.hpp"

#include <thread>

namespace {

constexpr const char* kExamples = R"(  validate_estimates --measurements tests/measured/calibration.csv
  validate_estimates --measurements my_board.csv --format csv --output errors.csv
  validate_estimates --measurements tests/measured/calibration.csv --hardware RTX-4090 --worst 0
  validate_estimates --measurements tests/measured/calibration.csv --output docs/validation.md \
                     --scatter docs/validation.svg)";

/// The path of a picture as a document beside it refers to it.
std::string seen_from(const std::string& picture, const std::string& document) {
    const std::filesystem::path folder = std::filesystem::path(document).parent_path();
    return std::filesystem::path(picture).lexically_proximate(folder.empty() ? "." : folder).generic_string();
}

} // namespace

int main(int argc, char** argv) {
    using namespace archsim;
    std::vector<std::string> files, hardware, models, overlays;
    std::string scatter;
    ValidationView view;
    cli::OutputOptions output;
    const auto setup = [&](CLI::App& app) {
        app.add_option("--measurements", files,
                       "CSV file(s) of measured values; see tests/measured/README.md")
            ->required();
        app.add_option("--hardware", hardware, "only rows of these devices");
        app.add_option("--model", models, "only rows of these models");
        app.add_option("--worst", view.worst, "rows to list, worst first; 0: all")->capture_default_str();
        app.add_option("--scatter", scatter, "also write predicted against measured as an SVG picture");
        app.add_option("--hardware-db", overlays, "folder(s) or file(s) of devices that take precedence");
        output.add_to(app, "text, markdown, json, csv, html");
    };
    const auto body = [&] {
        const Format format = output.chosen();
        MeasuredTable table;
        for (const std::string& file : files) {
            MeasuredTable more = read_measurements(file);
            table.rows.insert(table.rows.end(), more.rows.begin(), more.rows.end());
            table.findings.insert(table.findings.end(), more.findings.begin(), more.findings.end());
        }
        const auto left_out = [](const std::vector<std::string>& chosen, const std::string& name) {
            return !chosen.empty() && std::find(chosen.begin(), chosen.end(), name) == chosen.end();
        };
        std::erase_if(table.rows, [&](const MeasuredRow& row) {
            return left_out(hardware, row.hardware) || left_out(models, row.model);
        });
        SessionOptions options;
        options.hardware_overlays.assign(overlays.begin(), overlays.end());
        const Session session(options);
        const RowEstimator estimator(session);
        const Validation validation = validate(
            std::move(table.rows), [&](const MeasuredRow& row) { return estimator(row); },
            std::max(1U, std::thread::hardware_concurrency()));
        if (!scatter.empty())
            write_file(scatter, scatter_svg(validation));
        view.rows_only = format == Format::csv;
        view.chart = format == Format::html;
        if (!scatter.empty() && format == Format::markdown)
            view.chart_file = seen_from(scatter, output.file);
        output.emit(format == Format::json ? to_json(validation, table.findings)
                                           : render(describe(validation, table.findings, view), format,
                                                    output.render_options()));
        return table.findings.empty() ? 0 : 3;
    };
    return cli::run_tool(argc, argv, "validate_estimates",
                         "Compares estimates with published measurements, row by row.", kExamples, setup,
                         body);
}
