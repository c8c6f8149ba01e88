// Measured servers beside simulators: rows are read, simulated as they were run, and left out by model.

#include "archsim/core/finding.hpp"
#include "fit/errors/serving_peers.hpp"
#include "fit/report/serving_peers_report.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

using namespace archsim;

namespace {

constexpr const char* kHead = "experiment,stage,model,hardware,runtime,precision,tensor_parallel,step_tokens,"
                              "max_sequences,arrivals,rate_per_s,stage_s,prompt_tokens,output_tokens,"
                              "distinct_prompts,metric,measured,source,by Someone\n";

std::string write(const std::string& text) {
    const auto file = std::filesystem::temp_directory_path() / "archsim_peers.csv";
    std::ofstream(file) << text;
    return file.string();
}

std::string row(const char* run, const char* model, const char* metric, double measured, const char* other) {
    return std::string(run) + ",0," + model + ",H100,vllm,bf16,1,2048,128,constant,4,60,500,50,20," + metric +
           "," + std::to_string(measured) + ",a test," + other + "\n";
}

} // namespace

TEST_CASE("measured servers stand beside what each simulator says", "[serving][measurements]") {
    const std::string file = write(kHead + row("1", "llama-3.2-1b", "ttft_mean_ms", 20, "30") +
                                   row("1", "llama-3.2-1b", "e2e_p99_ms", 200, "") +
                                   row("1", "llama-3.2-1b", "itl_mean_ms", 4, "5") +
                                   row("2", "llama-3-8b", "ttft_mean_ms", 40, "30"));
    const ServingPeers peers = compare_serving_peers(test::shipped_session(), {file});
    CHECK(peers.problems.empty());
    CHECK(peers.simulators == std::vector<std::string>{"archsim", "archsim, model left out", "Someone"});
    REQUIRE(peers.rows.size() == 4);
    CHECK(peers.models == 2);
    CHECK(peers.rows[0].predicted[2] == 30);
    CHECK_FALSE(peers.rows[1].predicted[2]);
    for (const PeerRow& r : peers.rows)
        CHECK(*r.predicted[0] > 0);
    // What a request takes outside the engine is no part of the time between tokens.
    CHECK(*peers.rows[2].predicted[0] == Approx(*peers.rows[2].predicted[1]).epsilon(0.02));
    // Left out, a model's first token takes what the other model's asks for.
    const double bare = 20 - *peers.rows[0].predicted[1], other = 40 - *peers.rows[3].predicted[1];
    CHECK(bare == Approx(-other).margin(1e-9));
    const Report report = describe_serving_peers(peers);
    const std::string text = render(report, Format::text, {.width = 200});
    CHECK_THAT(text, Catch::Contains("Someone") && Catch::Contains("TTFT mean"));
}

TEST_CASE("what is wrong with a file of measured servers is named by its line", "[serving][measurements]") {
    const Session& session = test::shipped_session();
    const auto compared = [&](const std::string& text) {
        return compare_serving_peers(session, {write(text)});
    };
    CHECK_THROWS_WITH(compared("a,b\n1,2\n"), Catch::Contains("line 1: no column"));
    CHECK_THROWS_WITH(compared(kHead + row("1", "llama-3.2-1b", "ttft_mean_ms", 0, "")),
                      Catch::Contains("line 2: measured"));
    CHECK_THROWS_WITH(compared(kHead + row("1", "llama-3.2-1b", "mood", 1, "")), Catch::Contains("mood"));
    CHECK_THROWS_AS(compared(kHead + row("1", "no-such-model", "ttft_mean_ms", 1, "")), InputError);
}
