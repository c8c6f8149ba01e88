// Sizes that files write as arithmetic, and sizes that messages offer.

#include "ops/given_values.hpp"
#include "ops/graph_maker.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;

namespace {

std::optional<std::int64_t> worth(const std::string& text) {
    return evaluate_expression(text, [](const std::string& name) -> std::optional<std::int64_t> {
        if (name == "batch")
            return 8;
        if (name == "H")
            return 33;
        return std::nullopt;
    });
}

ShapedGraph image_network(std::vector<Dimension> shape, const Bindings& bindings = {}) {
    GraphMaker g;
    const auto x = g.symbolic_input("x", std::move(shape));
    g.node("Conv", {x, g.weight("w", {16, 3, 3, 3})}, {g.output("y")}).attributes = {
        {"pads", Ints{1, 1, 1, 1}}};
    return bound(g, bindings);
}

} // namespace

TEST_CASE("arithmetic over sizes is evaluated", "[ops]") {
    CHECK(worth("2*batch") == 16);
    CHECK(worth("batch + 1") == 9);
    CHECK(worth("batch+H") == 41);
    CHECK(worth("(batch - 2)*3") == 18);
    CHECK(worth("batch-1") == 7);
    CHECK(worth("H/8") == 4);
    CHECK(worth("H // 8 + H % 8") == 5);
    CHECK(worth("floor(H/2) + ceiling(H/2)") == 33);
    CHECK(worth("min(batch, 4)") == 4);
    CHECK(worth("max(batch, H, 64)") == 64);
    CHECK_FALSE(worth("batch + unknown"));
    CHECK_FALSE(worth("batch - H")); // negative
    CHECK_FALSE(worth("H / 0"));
    for (const char* name : {"batch", "batch-size", "N/A", "Height (px)", "unk__1: 0", "16H", "a b", "", "3",
                             "a.b", "((((", "f(x)", "2**batch"}) {
        INFO(name);
        CHECK(names_in_expression(name).empty());
        CHECK_FALSE(worth(name));
    }
    CHECK(names_in_expression("past + seq") == std::vector<std::string>{"past", "seq"});
    CHECK(names_in_expression(std::string(100000, '(') + "a+b").empty());
}

TEST_CASE("a batch is the size of the name in the leading dimension's arithmetic", "[ops]") {
    Bindings bindings;
    bindings.batch_size = 8;
    const ShapedGraph s = image_network({{-1, "2*batch"}, {3, ""}, {32, ""}, {32, ""}}, bindings);
    REQUIRE(s.complete());
    CHECK(s.tensors[s.inputs[0]].shape == Shape{16, 3, 32, 32});
    bindings = {};
    bindings.dims["batch"] = 8;
    CHECK(image_network({{-1, "batch + 1"}, {3, ""}, {32, ""}, {32, ""}}, bindings).tensors[0].shape[0] == 9);
}

TEST_CASE("a message asks for the names in the arithmetic, and what it offers binds", "[ops]") {
    for (const auto& shape : {std::vector<Dimension>{{-1, "batch"}, {3, ""}, {-1, "16*H"}, {-1, "16*W"}},
                              std::vector<Dimension>{{1, ""}, {3, ""}, {-1, "Height (px)"}, {-1, "s0"}},
                              std::vector<Dimension>{{-1, ""}, {3, ""}, {-1, ""}, {-1, ""}},
                              std::vector<Dimension>{{1, ""}, {3, ""}, {-1, "16H"}, {-1, "it's"}}}) {
        const ShapedGraph open = image_network(shape);
        REQUIRE_FALSE(open.complete());
        Bindings offered;
        for (std::string flag : sizes_wanted(open.findings)) {
            INFO(flag);
            REQUIRE(flag.starts_with("--dim "));
            flag.erase(0, 6);
            if (flag.front() == '\'') { // as a shell reads it
                flag = flag.substr(1, flag.size() - 2);
                for (std::size_t at; (at = flag.find("'\\''")) != std::string::npos;)
                    flag.replace(at, 4, "'");
            }
            give_dim(offered, flag, "--dim");
        }
        const ShapedGraph s = image_network(shape, offered);
        REQUIRE(s.complete());
        CHECK(s.tensors[s.inputs[0]].shape[2] >= 64); // plausible for an image
        CHECK(s.tensors[s.inputs[0]].shape[3] >= 64);
    }
}

TEST_CASE("sizes at which a network does not bind are not offered", "[ops]") {
    // Halved by a stride and joined with itself doubled: only even sizes of the pyramid fit; 224 / 2^6 does
    // not.
    GraphMaker g;
    const auto x = g.symbolic_input("x", {{1, ""}, {3, ""}, {-1, "h"}, {-1, "w"}});
    auto small = x;
    std::int64_t channels = 3;
    for (int level = 0; level < 7; ++level) {
        const auto next = g.intermediate("down" + std::to_string(level));
        g.node("MaxPool", {small}, {next}).attributes = {{"kernel_shape", Ints{2, 2}},
                                                         {"strides", Ints{2, 2}}};
        small = next;
    }
    auto large = small;
    for (int level = 0; level < 7; ++level) {
        const auto next = g.intermediate("up" + std::to_string(level));
        g.node("ConvTranspose", {large, g.weight("w" + std::to_string(level), {channels, channels, 2, 2})},
               {next})
            .attributes = {{"strides", Ints{2, 2}}};
        large = next;
    }
    g.node("Add", {x, large}, {g.output("y")});
    const ShapedGraph open = bound(g);
    const auto flags = sizes_wanted(open.findings);
    REQUIRE(flags.size() == 2);
    CHECK(flags[0] == "--dim h=256");
    CHECK(flags[1] == "--dim w=256");
}
