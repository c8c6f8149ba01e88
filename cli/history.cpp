// history: what a file of results (--save) knows: its runs, what changed between two of them, trends,
// regressions.

#include "store/history.hpp"
#include "common/tool.hpp"
#include "core/parse_number.hpp"

#include <fmt/format.h>

constexpr const char* kExamples =
    R"(  compare_models resnet50 --hardware H100 T4 --save results.db -q > a.txt
  history results.db
  compare_models resnet50 --hardware H100 T4 --save results.db -q > b.txt
  history results.db --compare previous last
  history results.db --trend --model resnet50 --hardware H100 --metric energy
  history results.db --regressions --threshold 2%
  history results.db --rows --output results.csv)";

/// "2%" or "0.02".
static double parse_threshold(std::string text) {
    const bool percent = text.ends_with('%');
    if (percent)
        text.pop_back();
    const double value = archsim::plain_number<double>(text).value_or(-1);
    if (value < 0)
        throw archsim::UsageError(fmt::format("--threshold: \"{}\" is not a share; write 2% or 0.02", text));
    return percent ? value / 100 : value;
}

int main(int argc, char** argv) {
    using namespace archsim;
    std::string file, metric_key = "latency", threshold = "0";
    std::vector<std::string> sides;
    bool trend = false, regressions = false, rows = false;
    HistoryFilter filter;
    std::int64_t batch = 0;
    cli::OutputOptions output;
    const auto setup = [&](cli::Flags& flags) {
        flags.add_document("history", history_schema);
        flags.add_option("file", file, "file of results, as --save writes it").file().required();
        flags
            .add_option("--compare", sides,
                        "what changed from one run to another: numbers, previous, last, or versions", "RUN")
            .expects(2);
        flags.add_flag("--trend", trend, "each answer through the runs");
        flags.add_flag("--regressions", regressions,
                       "answers that are worse than the one before; status 4 when there are any");
        flags.add_flag("--rows", rows, "every result as a row");
        for (const char* other : {"--trend", "--regressions", "--rows"})
            flags.exclude("--compare", other);
        flags.exclude("--trend", "--regressions");
        flags.exclude("--trend", "--rows");
        flags.exclude("--regressions", "--rows");
        flags.add_option("--metric", metric_key, "what is compared: " + saved_metrics().keys(), "METRIC")
            .show_default();
        flags.add_option("--threshold", threshold, "changes up to this share count as none, e.g. 2%", "SHARE")
            .show_default();
        flags.group("Filter");
        flags.add_option("--model", filter.model, "only models whose name contains this", "MODEL");
        flags.add_option("--hardware", filter.hardware, "only devices whose name contains this", "DEVICE");
        flags.add_option("--runtime", filter.runtime, "only software stacks whose name contains this",
                         "STACK");
        flags.add_option("--precision", filter.precision, "only formats whose name contains this", "FORMAT");
        flags.add_option("--batch-size", batch, "only this batch size", "N").within(1, 1 << 20);
        flags.group("");
        output.add_to(flags, "text, markdown, json, csv, html");
    };
    const auto body = [&] {
        const Metric& metric = saved_metrics().at(metric_key, "--metric");
        const double least = parse_threshold(threshold);
        if (batch > 0)
            filter.batch_size = batch;
        if (trend) {
            output.emit_answer(history_trend(file, metric, filter));
        } else if (rows) {
            output.emit_answer(history_rows(file, filter));
        } else if (!sides.empty() || regressions) {
            const HistoryChanges changes =
                regressions ? find_regressions(file, metric, least, filter)
                            : compare_history(file, sides[0], sides[1], metric, least, filter);
            output.emit_answer(changes);
            if (regressions && changes.worse() > 0)
                return static_cast<int>(cli::Exit::nothing);
        } else {
            output.emit_answer(list_history(file));
        }
        return 0;
    };
    return cli::run_tool(argc, argv, "history", "Asks a file of results what was run and what changed.",
                         kExamples, setup, body);
}
