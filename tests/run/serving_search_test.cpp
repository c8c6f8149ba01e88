// Searches over deployments: the frontier of throughput against speed, and the highest rate within limits for
// many devices and ways to share the model.

#include "answers/serving/serving_report.hpp"
#include "archsim/run/serve.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <ctime>
#include <map>
#include <string>
#include <vector>

using namespace archsim;
using archsim::test::shipped_session;

namespace {

Conditions searched_in_fp16() {
    Conditions conditions;
    conditions.precision = PrecisionConfig::uniform(Precision::fp16);
    return conditions;
}

ServingRequest searched_load(std::int64_t count) {
    ServingRequest request;
    request.load.count = count;
    return request;
}

/// Two devices that hold the model and one that cannot, alone and in pairs.
const std::vector<ServingResult>& swept() {
    static const std::vector<ServingResult> runs = [] {
        const std::vector<std::string> hardware = {"H100", "L4", "Coral-Edge-TPU"};
        const std::vector<Parallelism> ways = {{.tensor = 1}, {.tensor = 2}};
        ServingRequest request = searched_load(100);
        request.find_capacity = false;
        request.plan.engine.sequences = 64;
        return sweep_serving(shipped_session(), shipped_session().load("llama-3-8b"), hardware, ways,
                             searched_in_fp16(), request);
    }();
    return runs;
}

} // namespace

TEST_CASE("a sweep over requests in flight doubles them until more bring nothing", "[serving]") {
    const std::vector<ServingResult>& runs = swept();
    std::map<std::string, std::vector<const ServingResult*>> curves;
    for (const ServingResult& r : runs)
        curves[r.hardware + " " + to_string(r.parallelism)].push_back(&r);
    REQUIRE(curves.size() == 6);
    for (const auto& [name, curve] : curves) {
        INFO(name);
        if (!curve.front()->ok) { // cannot hold the model: once, with the reason
            CHECK(curve.size() == 1);
            CHECK_FALSE(curve.front()->reason.empty());
            continue;
        }
        CHECK(curve.size() > 3);
        for (std::size_t i = 0; i < curve.size(); ++i) {
            CHECK(curve[i]->in_flight == std::int64_t{1} << i);
            if (i > 0) // a full batch is slower for each and better for all
                CHECK(curve[i]->tokens_per_user() <= 1.02 * curve[i - 1]->tokens_per_user());
            if (i > 0 && i + 1 < curve.size())
                CHECK(curve[i]->summary.output_tokens_per_s > curve[i - 1]->summary.output_tokens_per_s);
        }
    }
}

TEST_CASE("the frontier holds what no other run beats in both", "[serving]") {
    const std::vector<ServingResult>& runs = swept();
    const std::vector<bool> on = serving_frontier(runs);
    const auto beaten = [&](const ServingResult& r) {
        return std::any_of(runs.begin(), runs.end(), [&](const ServingResult& other) {
            return other.ok && other.tokens_per_device() >= r.tokens_per_device() &&
                   other.tokens_per_user() >= r.tokens_per_user() && &other != &r;
        });
    };
    std::size_t members = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        INFO(runs[i].hardware << " " << to_string(runs[i].parallelism) << " " << runs[i].in_flight);
        if (runs[i].ok)
            CHECK(on[i] == !beaten(runs[i]));
        else
            CHECK_FALSE(on[i]);
        members += on[i];
    }
    CHECK(members > 2);
    // Sorted by a user's speed, a chip's throughput falls: a frontier, not a cloud.
    std::vector<const ServingResult*> best;
    for (std::size_t i = 0; i < runs.size(); ++i)
        if (on[i])
            best.push_back(&runs[i]);
    std::sort(best.begin(), best.end(), [](const ServingResult* a, const ServingResult* b) {
        return a->tokens_per_user() < b->tokens_per_user();
    });
    for (std::size_t i = 1; i < best.size(); ++i)
        CHECK(best[i]->tokens_per_device() < best[i - 1]->tokens_per_device());
    const std::string text = render(describe_frontier(runs), Format::text);
    CHECK(text.find("Frontier") != std::string::npos);
    CHECK(text.find("Throughput against the speed that a user sees") != std::string::npos);
    for (const Format format : {Format::markdown, Format::html, Format::csv})
        CHECK(render(describe_frontier(runs), format).find("H100") != std::string::npos);
}

TEST_CASE("limits searched over twelve devices and four ways to share a model take less than a minute",
          "[serving]") {
    const std::vector<std::string> hardware = {"H100", "H200",   "B200", "A100", "L40S",     "L4",
                                               "A10",  "MI300X", "T4",   "V100", "RTX-4090", "GH200"};
    const std::vector<Parallelism> ways = {{.tensor = 1}, {.tensor = 2}, {.tensor = 4}, {.tensor = 8}};
    const ServiceLevel level{.time_to_first_s = 0.5, .time_per_token_s = 0.04};
    const std::clock_t begin = std::clock();
    const auto found = search_serving(shipped_session(), shipped_session().load("llama-3-8b"), hardware, ways,
                                      searched_in_fp16(), searched_load(1000), level);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    INFO(seconds << " s of processor time");
    REQUIRE(found.size() == hardware.size() * ways.size());
    std::size_t meeting = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        INFO(found[i].hardware << " " << to_string(found[i].parallelism) << ": " << found[i].reason);
        CHECK(found[i].hardware == hardware[i / ways.size()]);
        CHECK(found[i].parallelism == ways[i % ways.size()]);
        meeting += found[i].ok;
        if (found[i].ok)
            CHECK(level.met_by(found[i].summary));
        else
            CHECK_FALSE(found[i].reason.empty());
    }
    CHECK(meeting > 12);
#ifdef NDEBUG
    CHECK(seconds < 60);
#endif
}
