// What the header promises of failures: results are set, the session stays, and no number takes for ever.

#include "archsim/archsim.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

namespace {

/// A session with a language model.
struct Open {
    archsim_session* session = nullptr;
    archsim_model* model = nullptr;
    Open() {
        REQUIRE(archsim_open(ARCHSIM_SOURCE_DIR, &session, nullptr) == ARCHSIM_OK);
        REQUIRE(archsim_load(session, "llama-3-8b", &model, nullptr) == ARCHSIM_OK);
    }
    ~Open() {
        archsim_release(model);
        archsim_close(session);
    }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

    archsim_status run(const archsim_workload& workload, archsim_estimate& estimate) const {
        archsim_conditions conditions = {};
        conditions.precision = "bf16";
        return archsim_run(session, model, &workload, "H100", &conditions, &estimate, nullptr);
    }
};

} // namespace

TEST_CASE("every number of C is finite, 0 where there is none") {
    const Open open;
    archsim_model* network = nullptr;
    REQUIRE(archsim_load(open.session, "resnet18", &network, nullptr) == ARCHSIM_OK);
    const archsim_conditions wide = {.precision = "fp32"};
    archsim_estimate unpriced, too_large; // a chip whose energy is not known, and one too small for the model
    REQUIRE(archsim_run(open.session, network, nullptr, "SN40L", nullptr, &unpriced, nullptr) == ARCHSIM_OK);
    REQUIRE(archsim_run(open.session, open.model, nullptr, "T4", &wide, &too_large, nullptr) == ARCHSIM_OK);
    CHECK(unpriced.latency_s > 0);
    CHECK(too_large.outcome == ARCHSIM_DOES_NOT_FIT);
    for (const archsim_estimate& e : {unpriced, too_large})
        for (const double number :
             {e.latency_s, e.latency_low_s, e.latency_high_s, e.throughput_per_s, e.power_w,
              e.energy_per_inference_j, e.utilization, e.time_per_output_token_s})
            CHECK(std::isfinite(number));
    archsim_release(network);
}

TEST_CASE("the C interface sets what it returns when it fails too") {
    auto* session = reinterpret_cast<archsim_session*>(std::uintptr_t{16});
    char* error = nullptr;
    CHECK(archsim_open("/no/such/folder", &session, &error) == ARCHSIM_INPUT);
    CHECK(session == nullptr);
    CHECK(error != nullptr);
    archsim_free_text(error);

    const Open open;
    auto* model = reinterpret_cast<archsim_model*>(std::uintptr_t{16});
    CHECK(archsim_load(open.session, "no_such_model", &model, nullptr) == ARCHSIM_INPUT);
    CHECK(model == nullptr);
    CHECK(archsim_load(open.session, std::string(300, 'x').c_str(), &model, nullptr) == ARCHSIM_INPUT);

    archsim_estimate estimate;
    std::memset(&estimate, 0x7f, sizeof estimate);
    CHECK(archsim_run(open.session, open.model, nullptr, "no such device", nullptr, &estimate, nullptr) ==
          ARCHSIM_INPUT);
    CHECK(estimate.latency_s == 0);
    CHECK(estimate.reason[0] == '\0');

    auto* json = reinterpret_cast<char*>(std::uintptr_t{16});
    CHECK(archsim_run_json(open.session, open.model, nullptr, "no such device", nullptr, &json, nullptr) ==
          ARCHSIM_INPUT);
    CHECK(json == nullptr);
    CHECK(archsim_run_json(nullptr, open.model, nullptr, "H100", nullptr, &json, nullptr) == ARCHSIM_USAGE);
}

TEST_CASE("a question of zeros in C is that of the tools, and says what runs") {
    const Open open;
    archsim_estimate usual, answer, pass;
    const auto run = [&](const archsim_workload& workload, archsim_estimate& estimate) {
        REQUIRE(archsim_run(open.session, open.model, &workload, "V100", nullptr, &estimate, nullptr) ==
                ARCHSIM_OK);
        REQUIRE(estimate.outcome == ARCHSIM_ESTIMATED);
    };
    archsim_workload workload = {};
    run(workload, usual);
    workload.prompt_tokens = 512;
    workload.generate_tokens = 128;
    run(workload, answer);
    CHECK(usual.latency_s == answer.latency_s);
    workload = {};
    workload.single_pass = 1;
    run(workload, pass);
    CHECK(pass.latency_s < usual.latency_s / 10);
    CHECK(std::string(usual.executed_precision) == "fp16"); // it has no bf16
}

TEST_CASE("measurements that are given through the C interface decide estimates, and can be forgotten") {
    const Open open;
    const auto width = [&] {
        archsim_estimate estimate;
        REQUIRE(open.run({}, estimate) == ARCHSIM_OK);
        REQUIRE(estimate.outcome == ARCHSIM_ESTIMATED);
        return estimate.latency_high_s / estimate.latency_low_s;
    };
    const double before = width();
    CHECK(archsim_given(open.session, "bert-base fp16 on H100 = 1ms\n\nresnet50 fp16 on H100 = 0.4ms\n",
                        nullptr) == ARCHSIM_OK);
    CHECK(width() < before);
    char* error = nullptr;
    CHECK(archsim_given(open.session, "bert-base fp16 = 1ms", &error) == ARCHSIM_USAGE); // on which device?
    CHECK(error != nullptr);
    archsim_free_text(error);
    CHECK(width() < before);
    CHECK(archsim_given(open.session, "", nullptr) == ARCHSIM_OK);
    CHECK(width() == before);
    CHECK(archsim_given(open.session, "llama-3-8b bf16 on H100 decode = 130/s", nullptr) == ARCHSIM_OK);
    CHECK(archsim_given(open.session, "", nullptr) == ARCHSIM_OK);
}

TEST_CASE("numbers of tokens and items beyond all reason are refused by the C interface") {
    const Open open;
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    archsim_estimate estimate;
    for (const archsim_workload& workload :
         {archsim_workload{1, nullptr, kMost, 16}, archsim_workload{1, nullptr, 16, kMost},
          archsim_workload{kMost, nullptr, 16, 16}, archsim_workload{kMost, nullptr, 0, 0},
          archsim_workload{1, nullptr, kMost, kMost}})
        CHECK(open.run(workload, estimate) == ARCHSIM_USAGE);
}

TEST_CASE("a prompt without an answer ends with its first token in the C interface") {
    const Open open;
    archsim_estimate alone, first, longer;
    REQUIRE(open.run({1, nullptr, 512, 0}, alone) == ARCHSIM_OK);
    REQUIRE(open.run({1, nullptr, 512, 1}, first) == ARCHSIM_OK);
    REQUIRE(open.run({1, nullptr, 512, 128}, longer) == ARCHSIM_OK);
    CHECK(alone.outcome == ARCHSIM_ESTIMATED);
    CHECK(alone.latency_s == first.latency_s);
    CHECK(alone.latency_s < longer.latency_s);
}
