// TensorRT's plugins promise the size of their results; Crop takes a border away.

#include "ops/graph_maker.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace archsim;
using namespace archsim::test;

TEST_CASE("plugins for suppression give as many results as they promise, in any domain", "[ops]") {
    for (const char* domain : {"TRT", "trt.plugins", "", "mmdeploy"})
        for (const char* type : {"EfficientNMS_TRT", "EfficientNMS_Explicit_TF_TRT", "BatchedNMS_TRT"}) {
            INFO(domain << ' ' << type);
            GraphMaker g;
            auto& node = g.node(type, {g.input("boxes", {2, 6400, 4}), g.input("scores", {2, 6400, 80})},
                                {g.output("n"), g.output("b"), g.output("s"), g.output("c")}, domain);
            const bool older = std::string(type).starts_with("Batched");
            node.attributes = {{older ? "keepTopK" : "max_output_boxes", std::int64_t{100}}};
            const ShapedGraph s = bound(g);
            REQUIRE(s.complete());
            CHECK(s.tensors[s.outputs[0]].shape == Shape{2, 1});
            CHECK(s.tensors[s.outputs[1]].shape == Shape{2, 100, 4});
            CHECK(s.tensors[s.outputs[3]].shape == Shape{2, 100});
            // 160 sorted lists of 6,400, and 100 kept boxes an image that meet the rest.
            const double sorts = 160 * 6400 * std::log2(6400.0);
            CHECK(operator_of(s, s.operators.back().type).work.vector_ops ==
                  Approx(sorts + 12 * 200 * 6400.0));
        }
}

TEST_CASE("Crop takes a border away, or a size from its corner", "[ops]") {
    for (const bool scaled : {false, true}) {
        GraphMaker g;
        auto& node = g.node("Crop", {g.input("x", {1, 3, 40, 50})}, {g.output("y")});
        node.attributes = {{"border", Ints{1, 2, 3, 4}}}; // left, top, right, bottom
        if (scaled)
            node.attributes.emplace_back("scale", Ints{10, 20});
        const ShapedGraph s = bound(g);
        REQUIRE(s.complete());
        CHECK(s.tensors[s.outputs[0]].shape == (scaled ? Shape{1, 3, 10, 20} : Shape{1, 3, 34, 46}));
    }
}
