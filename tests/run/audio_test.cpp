// What audio models are fed with: spectrograms as graphs of their own, on the processor or the GPU.

#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace archsim;
using archsim::test::shipped_session;

namespace {

Result spectrogram(const char* device, const char* stack) {
    Conditions conditions;
    conditions.stack = stack;
    return shipped_session().estimate({.model = shipped_session().load("log-mel-whisper")}, device,
                                      conditions);
}

double on_the_host(const Result& result) {
    double subgraphs = 0;
    for (const SubgraphWork& work : result.work->subgraphs)
        for (const OperatorUse& use : work.operators)
            subgraphs += use.supported ? 0 : 1;
    return subgraphs;
}

} // namespace

TEST_CASE("a spectrogram is the work of its transforms and its filter bank", "[audio]") {
    const auto facts = shipped_session().facts({.model = shipped_session().load("log-mel-whisper")});
    CHECK(facts->macs == 3000.0 * 201 * 80); // power spectra times filters
    // 3001 transforms of 400 real points, half of 5 n log2 n operations each, and the window.
    const double transforms = 3001 * (5 * 400 * std::log2(400) / 2 + 400);
    double vector_ops = 0;
    for (const Operator& op : facts->graph->operators)
        if (op.type == "STFT")
            vector_ops += op.work.vector_ops;
    CHECK(vector_ops == Approx(transforms));
}

TEST_CASE("compute shaders leave Fourier transforms to the processor, a GPU's own stack does not",
          "[audio]") {
    const Result shaders = spectrogram("RTX-4090", "webgpu"), native = spectrogram("RTX-4090", "cuda-eager");
    REQUIRE(shaders.ok());
    REQUIRE(native.ok());
    CHECK(on_the_host(shaders) == 1);
    CHECK(on_the_host(native) == 0);
    // 26 M operations at the 20 G/s of the host, and the hand-over of 100 us.
    CHECK(shaders.estimate.latency_s > 3001 * (1000 * std::log2(400) + 400) * 5e-11 + 100e-6);
    CHECK(native.estimate.latency_s < shaders.estimate.latency_s / 2); // two kernels that the host launches
    const Result processor = spectrogram("Core-i7-12700K", "wasm");
    REQUIRE(processor.ok());
    // A clip of 30 s is nothing beside the network that hears it.
    Conditions conditions;
    conditions.stack = "wasm";
    const Result encoder = shipped_session().estimate(
        {.model = shipped_session().load("whisper-tiny-encoder")}, "Core-i7-12700K", conditions);
    CHECK(processor.estimate.latency_s < 0.5 * encoder.estimate.latency_s);
}
