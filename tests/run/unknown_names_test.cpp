// Names of sizes and inputs that a model does not have are refused, whatever kind of model it is and
// whichever question it is asked by.

#include "answers/sweep/sweep.hpp"
#include "archsim/run/compare_models.hpp"
#include "laws/laws.hpp"

#include <catch2/catch.hpp>

#include <functional>

using namespace archsim;
using Catch::Contains;

namespace {

/// What can be given by name, with a name that no model has.
const std::vector<std::function<void(Bindings&)>>& misnomers() {
    static const std::vector<std::function<void(Bindings&)>> all = {
        [](Bindings& b) { b.dims["sequnce"] = 64; },
        [](Bindings& b) {
            b.input_shapes["sequnce"] = {1, 64};
        },
        [](Bindings& b) { b.input_values["sequnce"] = {64}; },
        [](Bindings& b) { b.input_real_values["sequnce"] = {0.5}; },
        [](Bindings& b) {
            b.input_sequences["sequnce"] = {{1, 64}};
        }};
    return all;
}

} // namespace

TEST_CASE("a name that the model does not have is refused with those that it has", "[run][names]") {
    const Session& session = laws::session();
    for (const char* name : {"resnet18", "bert-base", "clip-vit-b32", "whisper-tiny", "gpt2"})
        for (const auto& give : misnomers()) {
            INFO(name);
            Workload workload{.model = session.load(name)};
            give(workload.sizes);
            CHECK_THROWS_WITH(session.estimate(workload, "H100", {}),
                              Contains("sequnce") && Contains("it has"));
        }
    Workload prompt{.model = session.load("gpt2"), .prompt = Prompt{.tokens = 16, .generate = 4}};
    misnomers().front()(prompt.sizes);
    CHECK_THROWS_WITH(session.estimate(prompt, "H100", {}), Contains("sequnce"));
}

TEST_CASE("a size of one of several models is used there, one of none is refused", "[run][names]") {
    CompareModelsRequest request;
    request.models = {"resnet18", "bert-base"};
    request.hardware = {"H100"};
    request.workload.sizes.dims["sequence"] = 64;
    const ModelComparison c = compare_models(laws::session(), request);
    CHECK(c.models[1]->dims.at("sequence") == 64);
    CHECK_FALSE(c.models[0]->dims.contains("sequence"));
    request.workload.sizes.dims["sequnce"] = 64;
    CHECK_THROWS_WITH(compare_models(laws::session(), request), Contains("sequnce"));

    SweepRequest sweep;
    sweep.models = {"resnet18", "bert-base"};
    sweep.hardware = {"H100"};
    sweep.sizes.dims["sequence"] = 64;
    CHECK(Sweep(laws::session(), sweep).size() == 2);
    sweep.sizes.dims["sequnce"] = 64;
    CHECK_THROWS_WITH(Sweep(laws::session(), sweep), Contains("sequnce"));
}
