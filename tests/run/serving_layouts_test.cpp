// Measured layouts of servers: read by name, estimated once an engine, judged by what they would have chosen.

#include "archsim/core/finding.hpp"
#include "archsim/run/serve.hpp"
#include "fit/errors/serving_peers.hpp"
#include "fit/report/serving_peers_report.hpp"
#include "result/format_parts.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace archsim;

namespace {

constexpr const char* kLayoutHead = "model,hardware,runtime,precision,tensor,pipeline,experts,prompt_tokens,"
                                    "output_tokens,in_flight,ttft_ms,tpot_ms,source\n";

std::string write_layouts(const std::string& text) {
    const auto file = std::filesystem::temp_directory_path() / "archsim_layouts.csv";
    std::ofstream(file) << text;
    return file.string();
}

} // namespace

TEST_CASE("measured layouts are estimated as serve_model does, whatever stands beside them",
          "[serving][measurements]") {
    const std::string file = write_layouts(std::string(kLayoutHead) +
                                           "llama-3.2-1b,H100,trt-llm,fp8,1,1,1,300,40,4,20,2,a test\n"
                                           "llama-3.2-1b,H100,trt-llm,fp8,1,1,1,300,40,16,30,3,a test\n"
                                           "llama-3.2-1b,H100,trt-llm,fp8,2,1,1,300,40,4,15,1.5,a test\n"
                                           "llama-3.2-1b,H100,trt-llm,fp8,1,1,8,300,40,4,15,1.5,a test\n");
    CHECK(is_serving_layouts(file));
    const Session& session = test::shipped_session();
    const ServingLayouts layouts = compare_serving_layouts(session, file);
    REQUIRE(layouts.rows.size() == 4);
    CHECK_THAT(layouts.rows[3].problem, Catch::Contains("experts")); // a dense model has none
    // Ten requests for each in flight count, as of a client that nobody names.
    ServingRequest request;
    request.load.prompt_tokens = 300;
    request.load.output_tokens = 40;
    request.load.count = 10 * 16;
    request.plan.warm_up = 0;
    request.plan.concurrency = 16;
    request.plan.engine.chunked = false;
    request.parallelism = Parallelism{};
    Conditions conditions;
    conditions.precision = precision_named("fp8");
    conditions.stack = "trt-llm";
    const ServingResult run = run_serving(session, session.load("llama-3.2-1b"), "H100", conditions, request);
    REQUIRE(layouts.rows[1].ours);
    CHECK(layouts.rows[1].ours->token_ms == Approx(1e3 * run.summary.time_per_token_s.mean).epsilon(1e-9));
    CHECK(layouts.rows[1].ours->first_ms == Approx(1e3 * run.summary.time_to_first_s.mean).epsilon(1e-9));
    CHECK(layouts.rows[1].low.token_ms < layouts.rows[1].ours->token_ms);
    // A client of one's own asks a server at its defaults, InferenceMAX one that its scripts start.
    const auto learnt = served_errors(layouts);
    CHECK(learnt.size() == 6);
    CHECK(std::ranges::all_of(learnt, [](const ErrorRow& row) { return of_defaults(row.metric); }));

    REQUIRE(layouts.groups.size() == 3); // a limit at each quartile
    for (const LayoutGroup& group : layouts.groups) {
        REQUIRE(group.best);
        CHECK(layouts.rows[*group.best].measured.token_ms <= group.limit_ms);
        CHECK((group.share >= 0 && group.share <= 1 + 1e-12));
    }
    const std::string text = render(describe_serving_layouts(layouts), Format::text, {.width = 200});
    CHECK_THAT(text, Catch::Contains("TPOT bias") && Catch::Contains("1 row: "));
}

TEST_CASE("prompts and answers on devices of their own wait for each other's pool and the link",
          "[serving][measurements]") {
    const std::string head = "model,hardware,runtime,precision,tensor,pipeline,experts,engines,prompt_tensor,"
                             "prompt_pipeline,prompt_experts,prompt_engines,prompt_tokens,output_tokens,"
                             "in_flight,ttft_ms,tpot_ms,source\n";
    const std::string file =
        write_layouts(head + "llama-3.2-1b,H100,vllm,fp8,1,1,1,1,1,1,1,1,2000,200,8,20,2,a\n"
                             "llama-3.2-1b,H100,vllm,fp8,1,1,1,2,1,1,1,1,2000,200,8,20,2,a\n"
                             "llama-3.2-1b,H100,vllm,fp8,1,1,1,1,2,1,1,4,2000,200,8,20,2,a\n"
                             "llama-3.2-1b,H100,vllm,fp8,1,1,1,1,,,,,2000,200,8,20,2,a\n");
    const Session& session = test::shipped_session();
    const ServingLayouts layouts = compare_serving_layouts(session, file);
    REQUIRE(layouts.rows.size() == 4);
    for (const LayoutRow& row : layouts.rows) {
        CAPTURE(row.problem);
        REQUIRE(row.ours);
    }
    const auto& rows = layouts.rows;
    CHECK(rows[1].ours->token_ms < rows[0].ours->token_ms); // half as many beside each other
    CHECK(rows[2].ours->first_ms < rows[0].ours->first_ms); // eight devices for prompts in place of one
    CHECK(rows[0].ours->token_ms < rows[3].ours->token_ms); // no prompt is between two tokens
    ServingRequest request;
    request.load.prompt_tokens = 2000;
    request.load.output_tokens = 200;
    request.load.count = 40;
    request.plan.concurrency = 8;
    request.parallelism = request.prompt_parallelism = Parallelism{};
    Conditions conditions;
    conditions.precision = precision_named("bf16");
    conditions.stack = "vllm";
    const Model model = session.load("llama-3.2-1b");
    const auto first = [&](const char* prompts) {
        request.prompt_hardware = prompts;
        const ServingResult run = run_serving(session, model, "A100", conditions, request);
        CAPTURE(run.reason);
        REQUIRE(run.ok);
        return run;
    };
    const ServingResult same = first(""), faster = first("H100");
    CHECK(faster.summary.time_to_first_s.p50 < same.summary.time_to_first_s.p50);
    CHECK(faster.usd_per_hour > same.usd_per_hour);
    request.prompt_hardware = "no such device";
    CHECK_THAT(run_serving(session, model, "A100", conditions, request).reason,
               Catch::Contains("engines for prompts on no such device"));
}

TEST_CASE("tokens of a device follow from waits by Little's law", "[serving][measurements]") {
    LayoutRow row;
    row.in_flight = 64;
    row.output_tokens = 256;
    row.way.tensor = 2;
    CHECK(row.tokens_per_device({100, 10}) == Approx(64 * 256 / 2.65 / 2));
}

TEST_CASE("what is wrong with a file of layouts is named by its line", "[serving][measurements]") {
    const auto compared = [](const std::string& text) {
        return compare_serving_layouts(test::shipped_session(), write_layouts(text));
    };
    CHECK_THROWS_WITH(compared("a,b\n1,2\n"), Catch::Contains("line 1: no column"));
    CHECK_THROWS_WITH(compared(std::string(kLayoutHead) + "x,H100,vllm,,1.5,1,1,1,1,1,1,1,s\n"),
                      Catch::Contains("line 2: tensor"));
    CHECK_THROWS_WITH(compared(std::string(kLayoutHead) + "x,H100,vllm,,4,1,6,1,1,1,1,1,s\n"),
                      Catch::Contains("no multiple"));
    const ServingLayouts unknown = compare_serving_layouts(
        test::shipped_session(),
        write_layouts(std::string(kLayoutHead) + "no-such-model,H100,vllm,,1,1,1,9,9,1,1,1,s\n"));
    CHECK_FALSE(unknown.rows[0].problem.empty());
}
