// validate_estimates: runs published measurements through the estimator and reports the errors.

#include "common/answer_options.hpp"
#include "common/measurement_options.hpp"
#include "common/progress.hpp"
#include "core/lists.hpp"
#include "core/new_file.hpp"
#include "fit/errors/leave_out.hpp"
#include "fit/errors/serving_peers.hpp"
#include "fit/parameters/calibrate.hpp"
#include "fit/report/serving_peers_report.hpp"
#include "fit/report/validation_report.hpp"
#include "fit/rows/validate.hpp"

#include <algorithm>
#include <array>
#include <fmt/ranges.h>
#include <optional>
#include <set>
#include <thread>

constexpr const char* kExamples = R"(  validate_estimates --measurements tests/measured/calibration.csv
  validate_estimates --from tests/check/outputs/trtexec.log --hardware A100
  validate_estimates --measurements my_board.csv --format csv --output errors.csv
  validate_estimates --measurements tests/measured/energy/llm_gpu_vllm.csv --metric power_w energy_mj --check-prices
  validate_estimates --measurements tests/measured/calibration.csv --hardware RTX-4090 --worst 0
  validate_estimates --measurements tests/measured/calibration.csv --hardware Coral-Edge-TPU --leave-out model
  validate_estimates --serving
  validate_estimates --memory
  validate_estimates --measurements my_board.csv --save-left-out left_out.csv --uncertainty uncertainty.json
  validate_estimates --measurements tests/measured --output validation.md --scatter validation.svg)";

/// The path of a picture as a document beside it refers to it.
static std::string seen_from(const std::string& picture, const std::string& document) {
    const std::filesystem::path folder = std::filesystem::path(document).parent_path();
    return std::filesystem::path(picture).lexically_proximate(folder.empty() ? "." : folder).generic_string();
}

/// Calls `with` the database as shipped and with its tuned facts reverted.
template <class With>
static auto leaving_out(archsim::SessionOptions options, const archsim::RowEstimator& shipped, With with) {
    options.tuned = archsim::TunedFacts::devices_reverted;
    const archsim::Session devices(options);
    options.tuned = archsim::TunedFacts::reverted;
    const archsim::Session all(options);
    const archsim::RowEstimator devices_reverted(devices), reverted(all);
    return with(archsim::LeftOutEstimators{shipped, devices_reverted, reverted});
}

static void write_refit(const archsim::SessionOptions& options, const std::vector<archsim::MeasuredRow>& rows,
                        const std::vector<std::string>& files, unsigned threads,
                        const std::vector<std::string>& held) {
    const archsim::Session session(options);
    const archsim::RowEstimator estimator(session);
    const archsim::Refit refit = archsim::refit_all(estimator, rows, threads, held);
    std::vector<std::string> names = archsim::mapped(
        files, [](const std::string& file) { return std::filesystem::path(file).filename().string(); });
    const std::string cite =
        fmt::format("joint fit of {} parameters on {} rows ({}), validate_estimates --refit",
                    refit.parameters, refit.rows, fmt::join(names, ", "));
    for (const archsim::CalibratedFile& file : refit.files)
        archsim::write_file(file.file, archsim::calibrated_text(file, cite, archsim::cli::today()));
    if (!refit.multiples.empty())
        archsim::write_file(session.energy().file().string(),
                            archsim::multiples_text(session, refit.multiples, archsim::cli::today()));
}

/// The CSV files of measured servers at a place; empty: those of the project.
static std::vector<std::string> files_of_servers(const std::string& place) {
    const std::filesystem::path where = place.empty() ? "tests/measured/served" : place;
    std::vector<std::string> files;
    std::error_code problem;
    if (!std::filesystem::is_directory(where, problem))
        return {where.string()};
    for (const auto& entry : std::filesystem::directory_iterator(where))
        if (entry.path().extension() == ".csv")
            files.push_back(entry.path().string());
    std::ranges::sort(files);
    return files;
}

/// Runs beside what other simulators said of them, and layouts that were measured beside each other.
static archsim::Report described_servers(const archsim::Session& session, const std::string& place,
                                         archsim::Format format, bool quiet) {
    using namespace archsim;
    std::vector<std::string> peers, layouts;
    for (const std::string& file : files_of_servers(place))
        (is_serving_layouts(file) ? layouts : peers).push_back(file);
    Report report;
    if (!peers.empty())
        report = describe_serving_peers(compare_serving_peers(session, peers));
    for (const std::string& file : layouts) {
        cli::Progress progress("simulating", quiet);
        const ServingLayouts compared = compare_serving_layouts(
            session, file, [&](std::size_t done, std::size_t all) { progress.show(done, all); });
        Report more = describe_serving_layouts(compared, format == Format::csv);
        if (format == Format::csv) // one table: every row
            more.blocks.erase(more.blocks.begin(), std::prev(more.blocks.end()));
        if (report.title.empty())
            report.title = more.title;
        append(report.blocks, more.blocks);
    }
    return report;
}

/// The rows of every recorded run with what it predicted.
static archsim::FirstRuns recorded(const archsim::RowEstimator& estimator, const archsim::Validation& shipped,
                                   const std::vector<std::string>& files,
                                   const std::vector<std::string>& measured, unsigned threads) {
    archsim::FirstRuns runs;
    if (files.empty())
        return runs;
    archsim::Validation apart;
    if (!measured.empty())
        apart = archsim::validate(
            archsim::read_measurements(measured).rows,
            [&](const archsim::MeasuredRow& row) { return estimator(row); }, threads);
    const std::array<const archsim::Validation*, 2> known = {&shipped, &apart};
    std::set<std::string> unseen;
    for (const archsim::ValidatedRow& row : apart.rows)
        unseen.insert(row.measured.id);
    for (const std::string& file : files)
        runs.push_back({std::filesystem::path(file).stem().string(),
                        archsim::recorded_rows(archsim::read_first_run(file), known), unseen});
    return runs;
}

int main(int argc, char** argv) {
    using namespace archsim;
    std::vector<std::string> hardware, models, metrics, overlays;
    cli::MeasurementOptions measured;
    MeasuredContext context;
    std::string scatter, leave_out, left_out_file, save_left_out, uncertainty, evidence;
    std::vector<std::string> first_runs, first_run_rows, served_layouts, held;
    bool refit = false;
    bool with_prices = false;
    std::optional<std::string> serving, memory;
    ValidationView view;
    cli::OutputOptions output;
    cli::SaveOptions save;
    const auto setup = [&](cli::Flags& flags) {
        flags.add_document("validate_estimates", schema_of<ValidationAnswer, ValidationView>);
        measured.add_to(flags,
                        "CSV file(s) of measured values, or folders of them; see tests/measured/README.md");
        flags.add_option("--hardware", hardware,
                         "only rows of these devices; with --from: the device that ran", "DEVICE");
        flags.add_option("--model", models, "only rows of these models; with --from: the network that ran",
                         "MODEL");
        flags.add_option("--metric", metrics, "only rows of these metrics")
            .one_of({"latency_ms", "throughput_per_s", "power_w", "energy_mj"})
            .list();
        flags.add_option("--precision", context.precision,
                         "with --from: the format that ran, where the output does not say", "FORMAT");
        flags.add_option("--worst", view.worst, "rows to list, worst first; 0: all").show_default();
        flags.add_written("--scatter", scatter, "also write predicted against measured as an SVG picture");
        flags
            .add_option(
                "--leave-out", leave_out,
                "predict every row with parameters fitted without its model, its device or its family")
            .one_of({"model", "device", "family"});
        flags
            .add_flag("--refit", refit,
                      "first fit all parameters to the rows and write them into the hardware database")
            .kept_back();
        flags.add_option("--hold", held, "with --refit: stacks whose parameters stay as they are", "STACK")
            .kept_back();
        flags.add_written("--save-left-out", save_left_out,
                          "write the left-out predictions of all rows to FILE (CSV)");
        flags
            .add_option("--left-out", left_out_file,
                        "report the left-out predictions of FILE beside the shipped ones")
            .file();
        flags
            .add_option("--first-run", first_runs,
                        "report the blind predictions of FILE(s) (CSV of earlier versions) beside the "
                        "present ones, and with --uncertainty learn from them")
            .file();
        flags
            .add_option(
                "--first-run-measurements", first_run_rows,
                "measured values that no fit had seen when first runs were made: CSV file(s) or folders")
            .file();
        flags.add_written("--uncertainty", uncertainty,
                          "write the variances that left-out rows and first runs support to FILE");
        flags.add_written(
            "--evidence", evidence,
            "write how many of the rows lie in their intervals, by chip, stack and kind of network, to "
            "FILE");
        flags.add_option(
            "--served-layouts", served_layouts,
            "measured servers whose waits widths are learnt from, and that no fit sees: CSV file(s)", "FILE");
        flags.add_flag(
            "--check-prices", with_prices,
            "also report the factor on the energy prices that would match the measured power, and which "
            "prices it cannot tell apart");
        flags
            .add_optional_value(
                "--serving", serving,
                "measured servers beside what this library, BLIS, AIConfigurator, llm-optimizer and a "
                "roofline say of them: CSV file or folder (default: tests/measured/served)")
            .value_named("FILE");
        flags
            .add_optional_value(
                "--memory", memory,
                "memory that engines logged beside what this library says: CSV file (default: "
                "tests/measured/memory_logs.csv)")
            .value_named("FILE");
        flags.add_option("--hardware-db", overlays, "folder(s) or file(s) of devices that take precedence",
                         "FOLDER");
        output.add_to(flags, "text, markdown, json, csv, html");
        save.add_to(flags, argc, argv);
    };
    const auto body = [&] {
        SessionOptions options{.hardware_overlays = measured.overlays(overlays)};
        if (memory || serving) {
            const Format format = output.chosen();
            if (format == Format::json)
                throw UsageError(fmt::format("--{}: --format is text, markdown, csv or html",
                                             memory ? "memory" : "serving"));
            const Session session(options);
            const Report report =
                memory ? describe_memory_logs(compare_memory_logs(
                             session, memory->empty() ? "tests/measured/memory_logs.csv" : *memory))
                       : described_servers(session, *serving, format, output.quiet);
            output.emit(output.drawn_report(report, format));
            return static_cast<int>(cli::Exit::ok);
        }
        if (!measured.logs.empty()) {
            context.hardware = hardware.empty() ? "" : hardware.front();
            context.model = models.empty() ? "" : models.front();
        }
        MeasuredTable table = measured.read(context);
        const auto unwanted = [](const std::vector<std::string>& chosen, const std::string& name) {
            return !chosen.empty() && !contains(chosen, name);
        };
        const std::size_t known = table.rows.size();
        std::erase_if(table.rows, [&](const MeasuredRow& row) {
            return unwanted(hardware, row.hardware) || unwanted(models, row.model) ||
                   unwanted(metrics, std::string(name_of(row.metric)));
        });
        if (table.rows.empty() && known > 0)
            throw InputError(fmt::format("none of the {} rows is of the {} asked for: {}", known,
                                         !hardware.empty() ? "devices"
                                         : !models.empty() ? "models"
                                                           : "metrics",
                                         fmt::join(!hardware.empty() ? hardware
                                                   : !models.empty() ? models
                                                                     : metrics,
                                                   ", ")));
        const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
        if (refit)
            write_refit(options, table.rows, measured.files, threads, held);
        const Session session(options);
        const RowEstimator estimator(session);
        const auto estimate_rows = [&] {
            cli::Progress progress("estimating", output.quiet);
            return validate(
                table.rows,
                [&](const MeasuredRow& row) {
                    auto prediction = estimator(row);
                    progress.step(table.rows.size());
                    return prediction;
                },
                threads);
        };
        ValidationAnswer answer{estimate_rows(), table.findings};
        if (!left_out_file.empty() || !save_left_out.empty() || !uncertainty.empty()) {
            const std::vector<LeftOutRow> rows =
                left_out_file.empty() ? leaving_out(options, estimator,
                                                    [&](const LeftOutEstimators& each) {
                                                        return make_left_out(each, table.rows, threads);
                                                    })
                                      : read_left_out(left_out_file);
            if (!save_left_out.empty())
                write_file(save_left_out, to_csv(rows));
            const FirstRuns runs =
                recorded(estimator, answer.validation, first_runs, first_run_rows, threads);
            std::vector<ErrorRow> served;
            for (const std::string& file : served_layouts)
                for (ErrorRow& row : served_errors(compare_serving_layouts(session, file)))
                    served.push_back(std::move(row));
            answer.left_out = left_out_validation(answer.validation, rows, runs, served);
            if (!uncertainty.empty())
                write_file(uncertainty, uncertainty_json(fit_error_model(*answer.left_out, runs, served)));
        }
        if (!evidence.empty())
            write_file(evidence, evidence_json(answer.validation));
        if (!leave_out.empty())
            answer.validation = leaving_out(options, estimator, [&](const LeftOutEstimators& each) {
                const LeaveOut what = leave_out == "model"    ? LeaveOut::model
                                      : leave_out == "device" ? LeaveOut::device
                                                              : LeaveOut::family;
                return summarize(leave_out_rows(each, table.rows, what, threads));
            });
        if (answer.left_out)
            answer.support = fit_support(estimator, table.rows, threads);
        for (const std::string& file : first_runs)
            append(answer.first_run, read_first_run(file));
        if (!scatter.empty())
            write_file(scatter, scatter_svg(answer.validation));
        if (with_prices)
            answer.prices = check_prices(estimator, table.rows);
        if (!scatter.empty())
            view.chart_file = seen_from(scatter, output.file);
        std::vector<SavedResult> saved =
            mapped(answer.validation.rows, [](const ValidatedRow& row) { return saved_row(row); });
        save.save_rows(saved);
        output.emit_answer(answer, view);
        if (!table.findings.empty())
            return static_cast<int>(cli::Exit::incomplete);
        const auto& rows = answer.validation.rows;
        const bool any = rows.empty() || std::ranges::any_of(rows, [](const ValidatedRow& row) {
                             return row.prediction.ok();
                         });
        return static_cast<int>(any ? cli::Exit::ok : cli::Exit::nothing);
    };
    return cli::run_tool(argc, argv, "validate_estimates",
                         "Compares estimates with published measurements, row by row.", kExamples, setup,
                         body);
}
