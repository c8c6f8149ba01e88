// One session, one bound model and one language model used from many threads at once.

#include "archsim/run/session.hpp"
#include "session/graph_run.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

using namespace archsim;

namespace {

constexpr unsigned kThreads = 8;

/// Runs `body(i)` for every i below `count`, on kThreads threads that take turns.
template <class Body>
void in_threads(std::size_t count, Body body) {
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < kThreads; ++t)
        threads.emplace_back([&] {
            for (std::size_t i = next++; i < count; i = next++)
                body(i);
        });
    for (std::thread& thread : threads)
        thread.join();
}

} // namespace

TEST_CASE("ten thousand estimates in threads give the bits of one thread", "[run][threads]") {
    constexpr std::size_t kEstimates = 10'000;
    static constexpr std::array kDevices = {"A100",    "Xeon-8490H", "TPU-v4",          "KPU-T64@6W",
                                            "QRB5165", "DPU-ZCU102", "CGRA-Plasticine", "Hailo-8"};
    static constexpr std::array kPrecisions = {Precision::fp16, Precision::int8};
    const Session alone, shared;
    Conditions options;
    options.keep_subgraphs = false;
    const auto latency = [&options](const Session& session, const std::shared_ptr<const BoundModel>& model,
                                    std::size_t i) {
        Conditions of_case = options;
        of_case.precision = PrecisionConfig::uniform(kPrecisions[i / kDevices.size() % kPrecisions.size()]);
        return run_graph(session, model, kDevices[i % kDevices.size()], of_case).estimate.latency_s;
    };
    constexpr std::size_t kCases = kDevices.size() * kPrecisions.size();
    std::array<double, kCases> expected{};
    const auto model = alone.bind(alone.load("mobilenet_v2"), 1);
    for (std::size_t i = 0; i < kCases; ++i) {
        expected[i] = latency(alone, model, i);
        REQUIRE(expected[i] > 0);
    }
    // Nothing of the shared session has been read before the threads start.
    const auto together = shared.bind(shared.load("mobilenet_v2"), 1);
    std::atomic<std::size_t> different{0};
    in_threads(kEstimates, [&](std::size_t i) {
        if (latency(shared, together, i) != expected[i % kCases])
            ++different;
    });
    CHECK(different == 0);
}

TEST_CASE("a language model is bound and estimated from many threads", "[run][threads]") {
    const Session session;
    const Model model = session.load("gpt2"), other = session.load("gpt2");
    Conditions conditions;
    conditions.precision = PrecisionConfig::uniform(Precision::fp16);
    const auto latency = [&](const Model& of, std::size_t i) {
        const Prompt prompt{.tokens = 64 << (i % 3), .generate = 16};
        return session.estimate({.model = of, .prompt = prompt}, "A100", conditions).estimate.latency_s;
    };
    const std::array expected{latency(other, 0), latency(other, 1), latency(other, 2)};
    std::atomic<std::size_t> different{0};
    in_threads(48, [&](std::size_t i) {
        if (latency(model, i) != expected[i % 3])
            ++different;
    });
    CHECK(different == 0);
}

TEST_CASE("counts outlive the sizes that a language model keeps, in threads and after", "[run][threads]") {
    // More lengths than are kept: what one thread prices, another drops.
    constexpr std::size_t kLengths = 24;
    const Session session;
    const Model model = session.load("gpt2"), other = session.load("gpt2");
    Conditions conditions;
    conditions.precision = PrecisionConfig::uniform(Precision::fp16);
    const auto estimated = [&](const Model& of, std::size_t i) {
        const Prompt prompt{.tokens = static_cast<std::int64_t>(64 + 8 * i), .generate = 4};
        return session.estimate({.model = of, .prompt = prompt}, "A100", conditions);
    };
    std::array<double, kLengths> expected{};
    const Result first = estimated(other, 0);
    const std::size_t tensors = first.work->graph->tensors.size();
    for (std::size_t i = 0; i < kLengths; ++i)
        expected[i] = estimated(other, i).estimate.latency_s;
    CHECK(first.work->graph->tensors.size() == tensors);
    std::atomic<std::size_t> different{0};
    in_threads(10 * kLengths, [&](std::size_t i) {
        if (estimated(model, i % kLengths).estimate.latency_s != expected[i % kLengths])
            ++different;
    });
    CHECK(different == 0);
}
