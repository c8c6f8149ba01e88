// check_budget: estimates held against budgets and a baseline, for tests that run with every change of a
// model.

#include "answers/budget/budget.hpp"
#include "common/tool.hpp"
#include "core/lists.hpp"
#include "core/new_file.hpp"
#include "fields/question.hpp"
#include "session/given.hpp"

#include <array>

constexpr const char* kExamples =
    R"(  check_budget resnet18 --hardware H100 Jetson-Orin-Nano@15W --save-baseline baseline.json
  check_budget resnet18 --hardware H100 --max-latency 5ms --max-memory 512MB --certainty 90
  check_budget resnet18 --hardware H100 Jetson-Orin-Nano@15W --baseline baseline.json --fail-on 'latency>+5%'
  check_budget resnet18 --hardware H100 --baseline baseline.json --fail-on 'throughput<-2%' --junit budgets.xml \
      --output budgets.md)";

int main(int argc, char** argv) {
    using namespace archsim;
    BudgetRequest request;
    cli::QuestionOptions question;
    cli::ModelsOption models;
    cli::OutputOptions output;
    BudgetView view;
    std::string baseline, saved, junit, sarif;
    cli::DecisionOptions limits;
    int certainty = 0;
    std::vector<std::string> rules;
    const auto setup = [&](cli::Flags& flags) {
        flags.add_document("check_budget", schema_of<BudgetAnswer, BudgetView>);
        models.add_to(flags);
        flags
            .add_option("--hardware", request.hardware, "devices: NAME, NAME@MODE or a device file", "DEVICE")
            .required();
        flags.add_option("--fail-on", rules,
                         "METRIC>LIMIT or METRIC<LIMIT (repeatable): 'latency>5ms'; against the baseline: "
                         "'latency>+5%', 'memory>+64MB', 'throughput<-2%'",
                         "RULE");
        limits.add_limits_to(flags);
        flags
            .add_option(
                "--certainty", certainty,
                "percent of probability with which limits of values must be kept, by the 90 % intervals "
                "(default: the estimate decides)",
                "PERCENT")
            .within(1, 99);
        flags.add_option("--baseline", baseline, "estimates of an earlier day, from --save-baseline").file();
        flags.add_written("--save-baseline", saved, "also write today's estimates, to compare with later");
        flags.add_written("--junit", junit, "also write the outcomes as JUnit XML");
        flags.add_written("--sarif", sarif, "also write the failures as SARIF, for pages of findings");
        question.add_to(flags, {.duty = true});
        flags.add_top(view.top, "rows of the tables of blocks; 0: all");
        output.add_to(flags, "text, markdown, json, csv, html");
    };
    const auto body = [&] {
        for (const std::string& rule : rules)
            request.rules.push_back(parse_budget_rule(rule, "--fail-on"));
        for (const Metric* m : limits.metrics->rows())
            if (const std::string& limit = limits.limits[m->key]; !limit.empty())
                request.rules.push_back(parse_budget_rule(
                    m->key + (m->better == Better::higher ? '<' : '>') + limit, cli::limit_flag(*m)));
        request.certainty = certainty / 100.0;
        request.baseline = baseline;
        request.saved = saved;
        request.models = models.taken("check_budget");
        question.put_into(request);
        request.question_of = [](const Result& result) {
            constexpr std::array<std::string_view, 1> kWithout = {"runtime"};
            return with_measured(question_key({*result.workload, result.conditions}, kWithout),
                                 measured_key(result));
        };
        const Session session = question.open();
        request.hardware = cli::with_modes(session, request.hardware);
        const BudgetAnswer answer = check_budget(session, request);
        output.emit_answer(answer, view);
        if (!junit.empty())
            write_file(junit, to_junit(answer));
        if (!sarif.empty())
            write_file(sarif, to_sarif(answer));
        if (!saved.empty())
            write_file(saved, baseline_json(answer));
        std::vector<Result> results = mapped(answer.estimates, &BudgetedEstimate::result);
        const int status = cli::exit_code_of(results);
        return status == 0 && answer.failures() > 0 ? static_cast<int>(cli::Exit::nothing) : status;
    };
    return cli::run_tool(argc, argv, "check_budget",
                         "Holds estimates against budgets and a baseline, and says what moved and why.",
                         kExamples, setup, body);
}
