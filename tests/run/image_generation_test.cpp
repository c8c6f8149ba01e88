// Laws of image generators: text encoders, denoiser x steps, decoder.

#include "archsim/run/session.hpp"
#include "estimate/algebra.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <string>

using namespace archsim;

namespace {

Result made(const std::string& name, std::map<std::string, std::int64_t> sizes = {}, std::int64_t batch = 1,
            const std::string& device = "H100", double devices = 1, const std::string& stack = {}) {
    const Session& session = test::shipped_session();
    Workload workload{.model = session.load(name), .batch = batch};
    workload.sizes.dims = std::move(sizes);
    Conditions conditions;
    conditions.devices = devices;
    conditions.stack = stack;
    return session.estimate(workload, device, conditions);
}

const ResultPart& part(const Result& result, const std::string& name) {
    return *std::find_if(result.parts.begin(), result.parts.end(),
                         [&](const ResultPart& p) { return p.name == name; });
}

const char* const kModels[] = {"sd-1.5", "sdxl", "flux.1-schnell", "pixart-sigma"};

} // namespace

TEST_CASE("time and energy of an image are affine in the steps", "[diffusion]") {
    for (const char* const name : kModels) {
        INFO(name);
        const Result one = made(name, {{"steps", 1}}), two = made(name, {{"steps", 2}}),
                     many = made(name, {{"steps", 12}});
        REQUIRE(many.ok());
        const double step = two.estimate.latency_s - one.estimate.latency_s,
                     joules = two.estimate.energy_per_inference_j - one.estimate.energy_per_inference_j;
        CHECK(step > 0);
        CHECK(many.estimate.latency_s == Approx(one.estimate.latency_s + 11 * step));
        CHECK(many.estimate.energy_per_inference_j ==
              Approx(one.estimate.energy_per_inference_j + 11 * joules));
        CHECK(many.estimate.memory.peak_bytes == Approx(one.estimate.memory.peak_bytes));
    }
}

TEST_CASE("a larger image is never faster and takes no less memory", "[diffusion]") {
    for (const char* const name : kModels) {
        INFO(name);
        double before_s = 0, before_bytes = 0;
        for (const std::int64_t side : {256, 512, 768, 1024}) {
            const Result r = made(name, {{"height", side}, {"width", side}, {"steps", 4}});
            REQUIRE(r.ok());
            CHECK(r.estimate.latency_s >= before_s);
            CHECK(r.estimate.memory.peak_bytes >= before_bytes);
            before_s = r.estimate.latency_s;
            before_bytes = r.estimate.memory.peak_bytes;
        }
    }
}

TEST_CASE("guidance doubles the denoiser's batch and the passes over the prompt", "[diffusion]") {
    const Result with = made("sdxl", {{"steps", 2}}), without = made("sdxl", {{"steps", 2}, {"guidance", 1}}),
                 pair = made("sdxl", {{"steps", 2}, {"guidance", 1}}, 2);
    REQUIRE(with.ok());
    CHECK(part(with, "text_encoder").repeat == 2);
    CHECK(part(without, "text_encoder").repeat == 1);
    const Result &guided = *part(with, "unet").result, &two = *part(pair, "unet").result,
                 &one = *part(without, "unet").result;
    CHECK(guided.model->macs == Approx(two.model->macs));
    CHECK(guided.estimate.latency_s == Approx(two.estimate.latency_s));
    CHECK(guided.model->macs == Approx(2 * one.model->macs).epsilon(0.01));
    CHECK(guided.estimate.batch == 1); // one image, whatever it takes to make it
    CHECK(with.estimate.batch == 1);
}

TEST_CASE("memory holds the weights of all parts and the activations of one at a time", "[diffusion]") {
    const Result r = made("sdxl");
    REQUIRE(r.ok());
    double weights = 0, activations = 0;
    for (const ResultPart& p : r.parts) {
        weights += p.result->estimate.memory.weight_bytes;
        activations = std::max(activations, p.result->estimate.memory.activation_bytes);
    }
    CHECK(r.estimate.memory.weight_bytes == Approx(weights));
    CHECK(r.estimate.memory.activation_bytes == Approx(activations));
}

TEST_CASE("a generator runs in the format of its file", "[diffusion]") {
    CHECK(made("flux.1-schnell", {{"steps", 1}}).conditions.precision ==
          PrecisionConfig::uniform(Precision::bf16));
    CHECK(made("sd-1.5", {{"steps", 1}}).conditions.precision == PrecisionConfig::uniform(Precision::fp16));
}

TEST_CASE("sizes of a generator reach the parts that have them, and are no remark on the others",
          "[diffusion]") {
    const Result r = made("sdxl", {{"steps", 3}, {"height", 512}, {"width", 768}, {"guidance", 1}});
    REQUIRE(r.ok());
    CHECK(r.model->findings.empty());
    for (const auto& [name, size] : std::map<std::string, std::int64_t>{
             {"steps", 3}, {"height", 512}, {"width", 768}, {"guidance", 1}, {"batch", 1}}) {
        INFO(name);
        REQUIRE(r.model->dims.contains(name));
        CHECK(r.model->dims.at(name) == size);
    }
    CHECK_THROWS_WITH(made("sdxl", {{"heigth", 512}}), Catch::Contains("heigth"));
}

TEST_CASE("devices divide the tokens of a denoiser, and each holds all weights", "[diffusion]") {
    const Session& session = test::shipped_session();
    Workload workload{.model = session.load("flux.1-schnell")};
    workload.sizes.dims = {{"steps", 4}};
    Conditions conditions;
    const Result one = session.estimate(workload, "H100", conditions);
    conditions.devices = 4;
    const Result four = session.estimate(workload, "H100", conditions);
    REQUIRE(four.ok());
    CHECK(four.devices() == 4);
    CHECK(four.estimate.latency_s < one.estimate.latency_s);
    CHECK(four.estimate.latency_s > one.estimate.latency_s / 4);
    CHECK(four.estimate.memory.weight_bytes == Approx(one.estimate.memory.weight_bytes));
    CHECK(four.estimate.memory.activation_bytes <= one.estimate.memory.activation_bytes);
    CHECK(four.estimate.energy_per_inference_j > one.estimate.energy_per_inference_j);
    const Result &whole = *part(one, "transformer").result, &divided = *part(four, "transformer").result;
    CHECK(4 * divided.model->macs == Approx(whole.model->macs).epsilon(0.02));
    conditions.devices = 2;
    CHECK_FALSE(session.estimate(workload, "Coral-Edge-TPU", conditions).ok());
}

TEST_CASE("what devices that divide tokens exchange is copied before and after", "[diffusion]") {
    // Queries, keys, values and results of each attention that xDiT divides, two copies each.
    for (const auto& [name, attentions] :
         std::map<std::string, int>{{"flux.1-schnell", 57}, {"pixart-sigma", 2 * 28}, {"sd-1.5", 0}}) {
        INFO(name);
        const Result two = made(name, {{"steps", 1}}, 1, "H100", 2);
        REQUIRE(two.ok());
        const Result& denoiser = *two.parts[two.parts.size() - 2].result;
        CHECK(std::ranges::count_if(denoiser.model->graph->operators, [&](const Operator& op) {
                  return op.type == "Transpose" &&
                         denoiser.model->graph->tensors.at(op.outputs.front()).name.find("/exchange") !=
                             std::string::npos;
              }) == 4 * 2 * attentions);
    }
}

TEST_CASE("a prompt that does not divide evenly stays whole on every device", "[diffusion]") {
    const auto share = [](const std::string& name) {
        const Result one = made(name, {{"steps", 1}}), two = made(name, {{"steps", 1}}, 1, "H100", 2);
        return 2 * part(two, "transformer").result->model->macs /
               part(one, "transformer").result->model->macs;
    };
    CHECK(share("flux.1-schnell") == Approx(1).epsilon(0.02));
    CHECK(share("stable-diffusion-3.5-medium") > 1.05); // 333 tokens beside 4096
    CHECK(share("stable-diffusion-3.5-medium") < 1.09);
}

TEST_CASE("a host that starts kernels and exchanges slower than devices run them decides", "[diffusion]") {
    const Result eight = made("flux.1-schnell", {{"steps", 1}}, 1, "H100", 8, "pytorch-eager");
    REQUIRE(eight.ok());
    const Result& denoiser = *part(eight, "transformer").result;
    CHECK(denoiser.estimate.latency_s ==
          Approx(launches_s(*denoiser.work, *denoiser.machine) +
                 57 * 4 * denoiser.machine->param(Parameter::link_latency, 0)));
}

TEST_CASE("the host makes pictures after the device", "[diffusion]") {
    const auto after = [](std::int64_t side, std::int64_t batch) {
        const Result r = made("sd-1.5", {{"steps", 2}, {"height", side}, {"width", side}}, batch);
        double parts = 0;
        for (const ResultPart& p : r.parts)
            parts += p.repeat * p.result->estimate.latency_s;
        return r.estimate.latency_s - parts;
    };
    CHECK(after(1024, 1) == Approx(0.039).epsilon(0.01));
    CHECK(after(512, 2) == Approx(after(1024, 1) / 2).epsilon(0.01));
}

TEST_CASE("steps are counted from one, and of generators alone", "[diffusion]") {
    CHECK_THROWS_AS(made("sdxl", {{"steps", 0}}), UsageError);
    CHECK_THROWS_AS(made("resnet50", {{"steps", 20}}), UsageError);
    CHECK_THROWS_AS(made("clip-vit-b32", {{"steps", 20}}), UsageError);
    CHECK_THROWS_AS(made("flux.1-schnell", {{"guidance", 2}}), UsageError);
}
