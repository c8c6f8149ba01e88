// What a fit expects of a parameter before it sees measurements.

#include "fit/parameters/parameter_fit.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

using namespace archsim;

TEST_CASE("the expectation is the median of what is said, each thing counted once", "[run][calibrate]") {
    const Expectation alike = summarize_statements({0.72, 0.5, 0.5, 0.6}, Parameter::matrix_efficiency);
    CHECK(alike.value == Approx(0.6));  // of 0.5, 0.6, 0.72
    CHECK(alike.spread == Approx(0.3)); // the logarithms scatter by 0.18, less than the least
    const Expectation apart = summarize_statements({0.2, 0.6, 1.8}, Parameter::matrix_efficiency);
    CHECK(apart.value == Approx(0.6));
    CHECK(apart.spread == Approx(std::log(3.0))); // +-log 3 around the middle one
}

TEST_CASE("little said, or said of costs, binds little", "[run][calibrate]") {
    CHECK(summarize_statements({}, Parameter::matrix_efficiency).spread == 0);
    CHECK(summarize_statements({0.5}, Parameter::matrix_efficiency).spread == 1);
    CHECK(summarize_statements({0.5, 0.5}, Parameter::matrix_efficiency).spread == 1);
    CHECK(summarize_statements({0.5, 0.51}, Parameter::matrix_efficiency).spread == 1);
    CHECK(summarize_statements({7000, 7100, 7200}, Parameter::kernel_floor_cycles).spread == 1);
    CHECK(summarize_statements({1e-6, 1e-4, 1e-2}, Parameter::inference_overhead).spread == 2); // the most
}

TEST_CASE("a fitted value, its copies and fits to a row or two are no witnesses for it", "[run][calibrate]") {
    SessionOptions options;
    options.data = ARCHSIM_SOURCE_DIR;
    const Session session(options);
    const HardwareDatabase& hardware = session.hardware();
    // What every stack of GPUs says of all generations.
    const Parameter parameter = GENERATE(Parameter::depthwise_efficiency, Parameter::resident_fraction);
    std::map<std::string, double> said;
    for (const std::string& id : hardware.runtime_ids()) {
        const auto runtime = hardware.runtime(id);
        const auto& families = runtime->families;
        if (std::find(families.begin(), families.end(), Family("gpu")) == families.end())
            continue;
        for (const ParameterEntry& entry : runtime->parameters)
            if (entry.parameter == parameter && entry.value.known() && // none at a bound
                entry.value.source->kind != SourceKind::assumed &&     // estimates are no evidence
                !(entry.value.source->kind == SourceKind::fitted && entry.value.fitted_n < 3))
                said[id] = entry.value.value;
    }
    REQUIRE(said.contains("tensorrt"));
    std::vector<double> others;
    for (const auto& [id, value] : said)
        if (value != said.at("tensorrt"))
            others.push_back(value);
    REQUIRE(others.size() + 1 < said.size()); // some state the same fit
    const Expectation expected = expect(session, Family("gpu"), {{{}, "tensorrt", {}, parameter}});
    CHECK(expected.value == Approx(summarize_statements(others, parameter).value));
}

TEST_CASE("a generation under a stack is expected to be like others under that stack", "[run][calibrate]") {
    SessionOptions options;
    options.data = ARCHSIM_SOURCE_DIR;
    const Session session(options);
    const auto stack = session.hardware().runtime("pytorch-compile");
    const Parameter parameter = Parameter::matrix_efficiency;
    const auto entry = std::find_if(stack->parameters.begin(), stack->parameters.end(),
                                    [&](const ParameterEntry& e) { return e.parameter == parameter; });
    REQUIRE(entry != stack->parameters.end());
    const auto own = std::find_if(entry->by_generation.begin(), entry->by_generation.end(),
                                  [](const auto& said) { return said.first == "volta"; });
    REQUIRE(own != entry->by_generation.end());
    std::vector<double> others;
    for (const auto& [generation, fact] : entry->by_generation)
        if (fact.value != own->second.value && fact.value < info_of(parameter).high &&
            fact.source->kind != SourceKind::assumed)
            others.push_back(fact.value);
    REQUIRE(others.size() > 2);
    const Expectation expected =
        expect(session, Family("gpu"), {{{}, "pytorch-compile", "volta", parameter}});
    CHECK(expected.value == Approx(summarize_statements(others, parameter).value));
}

TEST_CASE("8-bit kernels are expected to reach what the fp32 kernels of their stack do", "[run][calibrate]") {
    SessionOptions options;
    options.data = ARCHSIM_SOURCE_DIR;
    const Session session(options);
    const auto stack = session.hardware().runtime("onnxruntime-cpu");
    std::vector<double> fp32;
    for (const ParameterEntry& entry : stack->parameters)
        if (entry.parameter == Parameter::vector_convolution_efficiency ||
            entry.parameter == Parameter::vector_matrix_efficiency)
            fp32.push_back(entry.value.value);
    REQUIRE(fp32.size() == 2);
    const Expectation expected =
        expect(session, Family("cpu"), {{{}, "onnxruntime-cpu", {}, Parameter::integer_vector_efficiency}});
    CHECK(expected.value == Approx((fp32[0] + fp32[1]) / 2)); // the middle of two
    CHECK(expected.spread == 1.0);                            // two statements say little
    // fp32 kernels themselves are like those of other stacks.
    const Expectation other =
        expect(session, Family("cpu"), {{{}, "onnxruntime-cpu", {}, Parameter::vector_matrix_efficiency}});
    CHECK(other.value != Approx(expected.value));
}

TEST_CASE("estimates are no evidence where something else speaks", "[run][calibrate]") {
    SessionOptions options;
    options.data = ARCHSIM_SOURCE_DIR;
    const Session session(options);
    const HardwareDatabase& hardware = session.hardware();
    const Parameter parameter = Parameter::matrix_efficiency;
    const Family npu("npu");
    std::vector<Finding> findings;
    std::vector<std::string> generations;
    for (const auto& device : hardware.all_devices(findings))
        if (device->family == npu)
            generations.push_back(device->generation);
    std::vector<double> evidence, all;
    for (const std::string& id : hardware.runtime_ids()) {
        const auto runtime = hardware.runtime(id);
        if (id == "openvino" ||
            std::find(runtime->families.begin(), runtime->families.end(), npu) == runtime->families.end())
            continue;
        for (const ParameterEntry& entry : runtime->parameters)
            if (entry.parameter == parameter)
                for (const auto& [generation, fact] : entry.by_generation)
                    if (std::find(generations.begin(), generations.end(), generation) != generations.end()) {
                        all.push_back(fact.value);
                        if (fact.source->kind != SourceKind::assumed)
                            evidence.push_back(fact.value);
                    }
    }
    REQUIRE(!evidence.empty());
    REQUIRE(evidence.size() < all.size());
    const Expectation expected = expect(session, npu, {{{}, "openvino", "intel-npu", parameter}});
    CHECK(expected.value == Approx(summarize_statements(evidence, parameter).value));
    CHECK(expected.value != Approx(summarize_statements(all, parameter).value));
}

TEST_CASE("what no other device states is expected to be what the stack states of every device",
          "[run][calibrate]") {
    SessionOptions options;
    options.data = ARCHSIM_SOURCE_DIR;
    const Session session(options);
    const HardwareDatabase& hardware = session.hardware();
    const Parameter parameter = Parameter::inference_overhead;
    const auto device = hardware.device("Snapdragon-X-Elite-NPU").device;
    const auto stack = hardware.runtime(device->default_runtime);
    const auto entry = std::find_if(stack->parameters.begin(), stack->parameters.end(),
                                    [&](const ParameterEntry& e) { return e.parameter == parameter; });
    REQUIRE(entry != stack->parameters.end());
    const Expectation expected = expect(session, Family("dsp"), {{device->id, {}, {}, parameter}});
    CHECK(expected.value == Approx(entry->value.value));
}
