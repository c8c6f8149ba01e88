#include "report/blocks/metric_text.hpp"
#include "report/blocks/result_text.hpp"

#include "answers/comprehensive/comprehensive.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

using namespace archsim;

namespace {

Result failing(const char* hardware, const char* reason) {
    Result result;
    result.hardware = hardware;
    result.estimate.status = Status::does_not_fit;
    result.estimate.reason = reason;
    return result;
}

} // namespace

TEST_CASE("devices that fail for the same reason share a line", "[report]") {
    const Result a = failing("A", "too large"), b = failing("B", "no stack"), c = failing("C", "too large");
    Result good;
    good.hardware = "D";
    CHECK(failure_notes({&a, &b, &c, &good}) == std::vector<std::string>{"A, C: too large", "B: no stack"});
    CHECK(failure_notes({&a, &good}, "bert") == std::vector<std::string>{"bert on A: too large"});
    CHECK(failure_notes({&a, &c}, "bert") == std::vector<std::string>{"bert: too large"});
    CHECK(failure_notes({&good}).empty());
}

TEST_CASE("a range names its unit once where both ends have it", "[report]") {
    CHECK(range_text(metric::latency, {220e-6, 641e-6}) == "220 to 641 µs");
    CHECK(range_text(metric::latency, {0.8e-3, 1.2e-3}) == "800 µs to 1.20 ms");
    CHECK(range_text(metric::power, {10, 20}) == "10.0 to 20.0 W");
}

TEST_CASE("what rounding leaves outside the subgraphs is no kind of work", "[report][generation]") {
    const Session& session = test::shipped_session();
    const Workload asked{session.load("gpt2"), 1, {}, Prompt{.tokens = 64, .generate = 16}};
    const Result result = session.estimate(asked, "H100");
    REQUIRE(result.ok());
    const auto kinds = breakdown_by_kind(result);
    REQUIRE(!kinds.empty());
    for (const KindShare& share : kinds)
        CHECK(share.latency_s > 1e-6 * kinds.front().latency_s);
}
