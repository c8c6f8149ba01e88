// What stacks do when they are given fp32 tensors and told nothing else.

#include "laws/laws.hpp"

#include <catch2/catch.hpp>

using namespace archsim;

namespace {

Result run(const std::string& model, const std::string& hardware, PrecisionConfig precision,
           const std::string& runtime = {}) {
    Conditions conditions;
    conditions.precision = precision;
    conditions.stack = runtime;
    return laws::session().estimate({.model = laws::session().load(model)}, hardware, conditions);
}

PrecisionConfig strict() {
    PrecisionConfig precision;
    precision.strict_fp32 = true;
    return precision;
}

} // namespace

TEST_CASE("fp32 on tensor cores is tf32 unless the user insists", "[precision][fp32]") {
    const Result usual = run("resnet50", "H100", {}),
                 tf32 = run("resnet50", "H100", PrecisionConfig::uniform(Precision::tf32)),
                 full = run("resnet50", "H100", strict());
    CHECK(usual.estimate.executed.compute == Precision::tf32);
    CHECK(usual.estimate.executed.activations == Precision::fp32);
    CHECK(usual.estimate.precision_note.starts_with("multiplies in tf32: "));
    CHECK(usual.estimate.latency_s == Approx(tf32.estimate.latency_s).epsilon(0.15));
    CHECK(full.estimate.executed.compute == Precision::fp32);
    CHECK(full.estimate.precision_note.empty());
    CHECK(full.estimate.latency_s > 1.5 * usual.estimate.latency_s);
    // No tf32 before Ampere.
    CHECK(run("resnet50", "T4", {}).estimate.executed.compute == Precision::fp32);
    CHECK(run("resnet50", "Jetson-AGX-Orin", {}).estimate.executed.compute == Precision::tf32);
}

TEST_CASE("PyTorch rounds convolutions and leaves products", "[precision][fp32]") {
    const Result cnn = run("resnet50", "A100", {}, "pytorch-compile");
    CHECK(cnn.estimate.executed.compute == Precision::fp32);
    REQUIRE(cnn.estimate.executed.convolutions);
    CHECK(*cnn.estimate.executed.convolutions == Precision::tf32);
    CHECK(cnn.estimate.latency_s < run("resnet50", "A100", strict(), "pytorch-compile").estimate.latency_s);
    const Result text = run("bert-base", "A100", {}, "pytorch-compile");
    CHECK(text.estimate.latency_s ==
          run("bert-base", "A100", strict(), "pytorch-compile").estimate.latency_s);
}

TEST_CASE("XLA takes one bf16 pass for fp32 products, six when told", "[precision][fp32]") {
    const Result usual = run("resnet50", "TPU-v4", {}),
                 bf16 = run("resnet50", "TPU-v4", PrecisionConfig::uniform(Precision::bf16)),
                 full = run("resnet50", "TPU-v4", strict());
    CHECK(usual.estimate.latency_s == Approx(bf16.estimate.latency_s).epsilon(0.15));
    CHECK(usual.estimate.precision_note.starts_with("multiplies in bf16: "));
    CHECK(full.estimate.latency_s > 2 * usual.estimate.latency_s);
}
