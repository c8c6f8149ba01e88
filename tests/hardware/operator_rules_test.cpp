// What compilers leave to the host: rows of the database, and the places that follow from them.

#include "answers/portability/check_model.hpp"
#include "archsim/extend/importer.hpp"
#include "archsim/extend/operator.hpp"
#include "hardware/operator_rules.hpp"
#include "ops/uncounted.hpp"
#include "support/shipped_session.hpp"
#include "support/tflite_maker.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

using namespace archsim;
using archsim::test::FlatTableMaker;
using archsim::test::shipped_session;
using archsim::test::TfliteMaker;
using archsim::test::TfliteScales;

namespace {

/// x -> Relu -> A -> Relu -> B, and x -> C beside them; all of one shape.
ShapedGraph chain(const std::vector<std::string>& types) {
    ShapedGraph graph;
    const auto tensor = [&](TensorRole role) {
        ShapedTensor t;
        t.known = true;
        t.shape = {1, 64};
        t.role = role;
        graph.tensors.push_back(t);
        return static_cast<TensorId>(graph.tensors.size() - 1);
    };
    TensorId last = tensor(TensorRole::input);
    graph.inputs = {last};
    for (const std::string& type : types) {
        Operator op;
        op.type = type;
        op.inputs = {last};
        op.outputs = {last = tensor(TensorRole::intermediate)};
        op.work.kind = OpKind::elementwise;
        op.work.vector_ops = 64;
        graph.operators.push_back(op);
    }
    return graph;
}

OperatorRules refusing(const std::string& type, bool rest) {
    OperatorRules rules;
    rules.refused.push_back({.operators = {type}, .because = "nobody has it"});
    rules.rest_follows = rest;
    rules.rest_because = "one part";
    return rules;
}

/// A transposed convolution in 8 bits.
std::string transposed(std::int32_t stride) {
    TfliteMaker m;
    const TfliteScales one{1};
    const std::int32_t side = 8 * stride;
    const auto shape = m.ints({1, side, side, 16});
    const auto w = m.tensor("w", {16, 3, 3, 16}, TfliteMaker::i8, 2304, one);
    const auto x = m.tensor("x", {1, 8, 8, 16}, TfliteMaker::i8, 0, one),
               y = m.tensor("y", {1, side, side, 16}, TfliteMaker::i8, 0, one);
    FlatTableMaker options;
    m.op(67, {shape, w, x}, {y}, options.number(0, std::int8_t{0}).number(1, stride).number(2, stride));
    return m.bytes({x}, {y});
}

std::string conv(TfliteMaker::Type type, std::int32_t activation) {
    TfliteMaker m;
    const TfliteScales one{1};
    const auto x = m.tensor("x", {1, 32, 32, 64}, type, 0, one),
               w = m.tensor("w", {64, 3, 3, 64}, TfliteMaker::i8, 36864, one),
               y = m.tensor("y", {1, 32, 32, 64}, type, 0, one),
               z = m.tensor("z", {1, 32, 32, 64}, type, 0, one);
    m.op(3, {x, w}, {y}, TfliteMaker::conv(1));
    m.op(activation, {y}, {z});
    return m.bytes({x}, {z});
}

Portability checked(const std::string& bytes, const std::string& device) {
    const auto file = std::filesystem::temp_directory_path() / "archsim_operator_rules_test.tflite";
    std::ofstream(file, std::ios::binary) << bytes;
    PortabilityRequest request;
    request.model = file.string();
    request.hardware = {device};
    request.conditions.precision = PrecisionConfig::uniform(Precision::int8);
    request.rewrites = false;
    return check_model(shipped_session(), std::move(request)).devices.front();
}

std::set<std::string> leaving(const Portability& p) {
    std::set<std::string> types;
    for (const LeavingOperators& t : p.types)
        types.insert(t.type);
    return types;
}

} // namespace

TEST_CASE("a refused operator leaves alone, or takes along what depends on it", "[operator_rules]") {
    const ShapedGraph graph = chain({"Relu", "Erf", "Relu", "Relu"});
    const auto alone = place_operators(graph, refusing("Erf", false), "", Precision::int8);
    REQUIRE(alone.size() == 4);
    CHECK(alone[0] == 0);
    CHECK(alone[1] == (kLeft | kSwitches | kFetches | kReturns));
    CHECK(alone[2] == 0);
    const auto rest = place_operators(graph, refusing("Erf", true), "", Precision::int8);
    REQUIRE(rest.size() == 4);
    CHECK(rest[0] == 0);
    CHECK(rest[1] == (kLeft | kSwitches | kFetches));
    CHECK(rest[2] == kLeft);
    CHECK(rest[3] == kLeft);
    CHECK(place_operators(graph, refusing("Gelu", true), "", Precision::int8).empty());
}

TEST_CASE("an operator that is not on a list is refused, on the generations of the list",
          "[operator_rules]") {
    OperatorRules rules;
    rules.lists.push_back({.operators = {"Relu"}, .generations = {"one"}, .because = "it is not listed"});
    const ShapedGraph graph = chain({"Relu", "Erf"});
    CHECK(place_operators(graph, rules, "two", Precision::int8).empty());
    const auto places = place_operators(graph, rules, "one", Precision::int8);
    REQUIRE(places.size() == 2);
    CHECK(places[0] == 0);
    CHECK((places[1] & kLeft) != 0);
}

TEST_CASE("conditions are ranges and sets of one number", "[operator_rules]") {
    OperatorCondition above{.fact = &operator_facts().front(), .above = 2};
    CHECK(above.holds(3));
    CHECK_FALSE(above.holds(2));
    CHECK(above.text() == "stride above 2");
    const OperatorCondition others{.fact = &operator_facts().front(), .is_not = {1, 2}};
    CHECK(others.holds(4));
    CHECK_FALSE(others.holds(2));
}

TEST_CASE("every row of every stack has a reason that reads on and a source", "[operator_rules]") {
    std::size_t rows = 0;
    for (const std::string& id : shipped_session().hardware().runtime_ids()) {
        const auto runtime = shipped_session().hardware().runtime(id);
        if (!runtime->rules)
            continue;
        CAPTURE(runtime->id);
        const auto check = [&](const std::string& because, const auto& source) {
            CHECK(because.size() > 10);
            CHECK(because.back() != '.');
            REQUIRE(source);
            CHECK_FALSE(source->cite.empty());
            ++rows;
        };
        for (const OperatorRule& rule : runtime->rules->refused) {
            CHECK_FALSE(rule.operators.empty());
            check(rule.because, rule.source);
        }
        for (const OperatorList& list : runtime->rules->lists)
            check(list.because, list.source);
    }
    CHECK(rows >= 20);
}

TEST_CASE("a compiler refuses by attribute, and check_model prints the operator's own value",
          "[operator_rules][portability]") {
    for (const char* device : {"Ethos-U55-256", "Ethos-U65-512"}) {
        CAPTURE(device);
        CHECK(checked(transposed(2), device).leaving == 0);
        const Portability p = checked(transposed(3), device);
        CHECK_FALSE(p.result.ok()); // it is all that the network computes
        CHECK(p.result.estimate.reason.find("ConvTranspose (stride 3") != std::string::npos);
    }
}

TEST_CASE("an Edge TPU takes what its vendor lists, in 8 bits", "[operator_rules][portability]") {
    constexpr std::int32_t kLogistic = 14, kHardSwish = 117, kLeakyRelu = 98;
    CHECK(checked(conv(TfliteMaker::i8, kLogistic), "Coral-Edge-TPU").leaving == 0);
    CHECK(leaving(checked(conv(TfliteMaker::i8, kHardSwish), "Coral-Edge-TPU")) ==
          std::set<std::string>{"HardSwish"});
    CHECK(leaving(checked(conv(TfliteMaker::i8, kLeakyRelu), "Coral-Edge-TPU")) ==
          std::set<std::string>{"LeakyRelu"});
    const Portability wide = checked(conv(TfliteMaker::i16, kLogistic), "Coral-Edge-TPU");
    CHECK_FALSE(wide.result.ok());
    CHECK(wide.result.estimate.reason.find("Cortex-A72-RPi4 runs all arithmetic") != std::string::npos);
    CHECK(wide.result.estimate.reason.find("bits 16") != std::string::npos);
    // The same network takes an Ethos-U in either width, at half the rate in the wider one.
    const Portability narrow_u = checked(conv(TfliteMaker::i8, kLogistic), "Ethos-U55-256"),
                      wide_u = checked(conv(TfliteMaker::i16, kLogistic), "Ethos-U55-256");
    CHECK(narrow_u.leaving == 0);
    CHECK(wide_u.leaving == 0);
    REQUIRE(wide_u.result.ok());
    CHECK(wide_u.result.estimate.latency_s > 1.3 * narrow_u.result.estimate.latency_s);
}

TEST_CASE("the document on portability explains every fact that conditions look at", "[operator_rules]") {
    std::ifstream file(std::filesystem::path(ARCHSIM_SOURCE_DIR) / "docs/portability.md");
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    REQUIRE(text.size() > 1000);
    for (const OperatorFact& fact : operator_facts()) {
        CAPTURE(fact.name);
        CHECK(text.find("`" + std::string(fact.name) + "`") != std::string::npos);
    }
}

TEST_CASE("a compiler refuses a function under every name that it has", "[operator_rules]") {
    const auto refuses = [](const Runtime& runtime, const std::string& type) {
        const ShapedGraph graph = chain({type});
        return static_cast<bool>(
            refusal_of(graph, graph.operators.front(), *runtime.rules, "", Precision::fp32));
    };
    std::size_t compared = 0;
    for (const std::string& id : shipped_session().hardware().runtime_ids()) {
        const auto runtime = shipped_session().hardware().runtime(id);
        if (!runtime->rules)
            continue;
        for (const OperatorRow& row : OperatorRegistry::standard().rows()) {
            if (row.domain.empty())
                continue;
            const std::string type = std::string(row.domain) + "." + std::string(row.name);
            for (const std::string_view function : functions_of(type))
                for (const OperatorRule& rule : runtime->rules->refused)
                    if (rule.when.empty() && rule.generations.empty() &&
                        std::find(rule.operators.begin(), rule.operators.end(), function) !=
                            rule.operators.end()) {
                        CAPTURE(id, type);
                        CHECK(refuses(*runtime, type));
                        ++compared;
                    }
        }
    }
    CHECK(compared > 50);
}

TEST_CASE("a compiler takes what its vendor lists, under every name, and nothing else", "[operator_rules]") {
    for (const char* id : {"vitis-ai", "rknn", "hailort"}) {
        const auto runtime = shipped_session().hardware().runtime(id);
        const auto takes = [&](const std::string& type) {
            const ShapedGraph graph = chain({type});
            return !refusal_of(graph, graph.operators.front(), *runtime->rules, "", Precision::int8);
        };
        CAPTURE(id);
        for (const char* type : {"Conv", "MaxPool", "com.microsoft.FusedConv"})
            CHECK(takes(type));
        for (const char* type : {"CumSum", "NonZero", "GridSample", "com.microsoft.SkipLayerNormalization2",
                                 "com.microsoft.MatMulNBits"}) {
            CAPTURE(type);
            CHECK_FALSE(takes(type));
        }
    }
}

TEST_CASE("every twin is an operator of ai.onnx, and classical machine learning has none",
          "[operator_rules]") {
    for (const OperatorRow& row : OperatorRegistry::standard().rows()) {
        const std::string type =
            std::string(row.domain) + (row.domain.empty() ? "" : ".") + std::string(row.name);
        CAPTURE(type);
        for (const std::string_view function : functions_of(type))
            CHECK(OperatorRegistry::standard().find(kOnnxDomain, function) != nullptr);
        if (row.domain == kMlDomain)
            CHECK(functions_of(type).empty());
    }
}

TEST_CASE("no accelerator runs the operators of classical machine learning", "[operator_rules]") {
    std::vector<Finding> findings;
    for (const auto& device : shipped_session().hardware().all_devices(findings)) {
        if (device->family.row().is_host)
            continue;
        const auto runtime = shipped_session().hardware().runtime(device->default_runtime);
        CAPTURE(device->id, runtime->id);
        const ShapedGraph trees = chain({"ai.onnx.ml.TreeEnsembleRegressor"});
        CHECK((runtime->rules && refusal_of(trees, trees.operators.front(), *runtime->rules,
                                            device->generation, Precision::fp32)));
    }
}
