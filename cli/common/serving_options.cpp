#include "common/serving_options.hpp"

#include "archsim/core/finding.hpp"
#include "archsim/serving/serving_result.hpp"
#include "measurements/given_output.hpp"

#include <fmt/format.h>

namespace archsim::cli {

void add_client_output(Flags& flags, std::vector<std::string>& files) {
    flags
        .add_option("--from", files,
                    "JSON of vllm bench serve, sglang.bench_serving, genai-perf or aiperf of your own server "
                    "(repeatable), which the estimates of its device and stack follow; of several devices "
                    "H100=FILE; format and layout are those asked for",
                    "[DEVICE=]FILE")
        .in_group("Further conditions");
}

MeasuredContext measured_context(const std::string& model, const std::vector<std::string>& hardware,
                                 double devices) {
    MeasuredContext context{.model = model};
    if (hardware.size() == 1)
        context.hardware = hardware.front();
    context.devices = devices;
    return context;
}

Session open_measured(const QuestionOptions& question, const std::vector<std::string>& outputs,
                      MeasuredContext context) {
    for (const std::string& output : outputs)
        if (context.hardware.empty() && named_output(output).hardware.empty())
            throw UsageError(fmt::format("--from: clients do not write which device served them; name it "
                                         "before the file, --from DEVICE={}",
                                         output));
    Session session = question.opened();
    if (const auto& formats = question.given("precision"); formats.size() == 1)
        context.precision = formats.front();
    std::vector<MeasuredRow> rows = read_measured(question.measured, session, context, "--measured");
    append(rows, read_outputs(outputs, session, context));
    if (!rows.empty())
        session.given(rows);
    return session;
}

} // namespace archsim::cli
