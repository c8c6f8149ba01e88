// TensorFlow Lite files: the graph that stands for them, their quantised formats, and damaged bytes.

#include "archsim/core/finding.hpp"
#include "archsim/extend/importer.hpp"
#include "archsim/ops/shaped_graph.hpp"
#include "archsim/run/session.hpp"
#include "support/shipped_session.hpp"
#include "support/tflite_maker.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

using namespace archsim;
using archsim::test::FlatTableMaker;
using archsim::test::shipped_session;
using archsim::test::TfliteMaker;
using archsim::test::TfliteScales;

namespace {

Graph read_back(const std::string& bytes) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    return import_tflite(std::span(first, bytes.size()), "made.tflite");
}

double macs_of(const ShapedGraph& graph) {
    double macs = 0;
    for (const Operator& op : graph.operators)
        macs += op.work.macs;
    return macs;
}

std::vector<std::string> kinds_of(const Graph& graph) {
    std::vector<std::string> kinds;
    for (const Node& node : graph.nodes)
        kinds.push_back(node.op_type);
    return kinds;
}

const Shape& shape_of_output(const ShapedGraph& graph) {
    return graph.tensors[graph.outputs.front()].shape;
}

/// 32x32x3 -> conv 3x3/2 to 8, ReLU6 -> depthwise 3x3 -> 1x1 to 16, + itself -> mean -> 10 classes, softmax.
std::string small_network() {
    TfliteMaker m;
    const auto image = m.tensor("image", {1, 32, 32, 3});
    const auto w1 = m.tensor("w1", {8, 3, 3, 3}, TfliteMaker::f32, 864),
               b1 = m.tensor("b1", {8}, TfliteMaker::f32, 32);
    const auto x1 = m.tensor("x1", {1, 16, 16, 8});
    m.op(3, {image, w1, b1}, {x1}, TfliteMaker::conv(2, 3));
    const auto w2 = m.tensor("w2", {1, 3, 3, 8}, TfliteMaker::f32, 288), x2 = m.tensor("x2", {1, 16, 16, 8});
    m.op(4, {x1, w2, b1}, {x2}, TfliteMaker::depthwise(1, 1));
    const auto w3 = m.tensor("w3", {16, 1, 1, 8}, TfliteMaker::f32, 512),
               x3 = m.tensor("x3", {1, 16, 16, 16});
    m.op(3, {x2, w3}, {x3}, TfliteMaker::conv(1));
    const auto scale = m.tensor("scale", {16}, TfliteMaker::f32, 64), x4 = m.tensor("x4", {1, 16, 16, 16});
    m.op(18, {x3, scale}, {x4});
    const auto x5 = m.tensor("x5", {1, 16, 16, 16});
    m.op(0, {x4, x3}, {x5});
    const auto axes = m.ints({1, 2}), x6 = m.tensor("x6", {1, 16});
    m.op(40, {x5, axes}, {x6}, FlatTableMaker{});
    const auto w7 = m.tensor("w7", {10, 16}, TfliteMaker::f32, 640),
               b7 = m.tensor("b7", {10}, TfliteMaker::f32, 40);
    const auto x7 = m.tensor("x7", {1, 10}), x8 = m.tensor("x8", {1, 10});
    m.op(9, {x6, w7, b7}, {x7});
    m.op(25, {x7}, {x8});
    return m.bytes({image}, {x8});
}

/// The same layers in the ways that converters quantise: `weights` alone, or activations too.
std::string quantised_conv(bool activations) {
    TfliteMaker m;
    const TfliteScales one{1}, each{16};
    const auto image = m.tensor("image", {1, 8, 8, 16}, activations ? TfliteMaker::i8 : TfliteMaker::f32, 0,
                                activations ? one : TfliteScales{});
    const auto w = m.tensor("w", {16, 1, 1, 16}, TfliteMaker::i8, 256, each);
    const auto y = m.tensor("y", {1, 8, 8, 16}, activations ? TfliteMaker::i8 : TfliteMaker::f32, 0,
                            activations ? one : TfliteScales{});
    const auto z = m.tensor("z", {1, 8, 8, 16}, activations ? TfliteMaker::i8 : TfliteMaker::f32, 0,
                            activations ? one : TfliteScales{});
    m.op(3, {image, w}, {y}, TfliteMaker::conv(1, 1));
    m.op(0, {y, image}, {z});
    return m.bytes({image}, {z});
}

} // namespace

TEST_CASE("a tflite network is the ONNX operators that do its work", "[tflite][import]") {
    const Graph graph = read_back(small_network());
    const auto kinds = kinds_of(graph);
    // Images stay with their channels first from the first convolution to the mean: nothing is moved.
    CHECK(std::count(kinds.begin(), kinds.end(), "Transpose") == 0);
    CHECK(std::count(kinds.begin(), kinds.end(), "Reshape") == 0);
    CHECK(kinds == std::vector<std::string>{"Conv", "Clip", "Conv", "Relu", "Conv", "Mul", "Add",
                                            "ReduceMean", "Gemm", "Softmax"});
    const ShapedGraph bound = bind(graph, {});
    CHECK(bound.findings.empty());
    // 16*16*8*27, 16*16*8*9, 16*16*16*8, 160.
    CHECK(macs_of(bound) == 16 * 16 * 8 * 27 + 16 * 16 * 8 * 9 + 16 * 16 * 16 * 8 + 160);
    CHECK(shape_of_output(bound) == Shape{1, 10});
    CHECK(bound.tensors[bound.inputs.front()].shape == Shape{1, 3, 32, 32});
    double parameters = 0;
    for (const ShapedTensor& t : bound.tensors)
        if (t.role == TensorRole::initializer && t.learned)
            parameters += t.elements();
    CHECK(parameters == 216 + 8 + 72 + 128 + 16 + 160 + 10);
}

TEST_CASE("a tflite file is estimated like any model, and listed in a folder", "[tflite][import]") {
    const auto folder = std::filesystem::temp_directory_path() / "archsim_tflite_test";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "small.tflite", std::ios::binary) << small_network();
    const Model model = shipped_session().load((folder / "small.tflite").string());
    CHECK(model.name() == "small");
    const Result result = shipped_session().estimate({.model = model}, "Cortex-A76-RPi5");
    CHECK(result.ok());
    CHECK(result.estimate.latency_s > 0);
    const Result batch = shipped_session().estimate({.model = model, .batch = 4}, "Cortex-A76-RPi5");
    CHECK(batch.ok()); // as far as the file lets the batch be changed
    std::filesystem::remove_all(folder);
}

TEST_CASE("an open batch of a tflite file is a symbol", "[tflite][import]") {
    TfliteMaker m;
    const auto image = m.tensor("image", {1, 8, 8, 4});
    m.last_tensor().vector(7, std::vector<std::int32_t>{-1, 8, 8, 4});
    const auto w = m.tensor("w", {4, 1, 1, 4}, TfliteMaker::f32, 64), y = m.tensor("y", {1, 8, 8, 4});
    const auto z = m.tensor("z", {1, 64, 4}), shape = m.ints({-1, 64, 4});
    m.op(3, {image, w}, {y}, TfliteMaker::conv(1));
    m.op(22, {y, shape}, {z});
    const Graph graph = read_back(m.bytes({image}, {z}));
    Bindings five;
    five.dims["batch"] = 5;
    const ShapedGraph bound = bind(graph, five);
    CHECK(shape_of_output(bound) == Shape{5, 64, 4});
    CHECK(macs_of(bound) == 5 * 64 * 16);
}

TEST_CASE("quantised tflite operators run in the format of the file", "[tflite][import]") {
    const ShapedGraph whole = bind(read_back(quantised_conv(true)), {});
    for (const Operator& op : whole.operators)
        if (op.type == "Conv" || op.type == "Add")
            CHECK(op.native_precision == Precision::int8);
    const ShapedGraph weights = bind(read_back(quantised_conv(false)), {});
    for (const Operator& op : weights.operators)
        if (op.type == "Conv") {
            CHECK(!op.native_precision); // one operand is floating
            CHECK(weights.tensors[op.inputs[1]].stored_bits() < 16);
        }
}

TEST_CASE("shapes, slices and axes follow the file's order", "[tflite][import]") {
    TfliteMaker m;
    const auto image = m.tensor("image", {1, 8, 6, 4});
    const auto w = m.tensor("w", {4, 1, 1, 4}, TfliteMaker::f32, 64), y = m.tensor("y", {1, 8, 6, 4});
    m.op(3, {image, w}, {y}, TfliteMaker::conv(1));
    // Padding of height by 1 and 2, concatenation of channels, every second column, then a flat vector.
    const auto pads = m.ints({0, 0, 1, 2, 0, 0, 0, 0}), p = m.tensor("p", {1, 11, 6, 4});
    m.op(34, {y, pads}, {p});
    const auto both = m.tensor("both", {1, 11, 6, 8});
    m.op(2, {p, p}, {both}, FlatTableMaker{}.number(0, -1));
    const auto begin = m.ints({0, 0, 0, 0}), end = m.ints({0, 0, 0, 0}), step = m.ints({1, 1, 2, 1});
    const auto columns = m.tensor("columns", {1, 11, 3, 8});
    m.op(45, {both, begin, end, step}, {columns}, FlatTableMaker{}.number(0, 15).number(1, 15));
    const auto flat = m.ints({1, -1}), out = m.tensor("out", {1, 264});
    m.op(22, {columns, flat}, {out});
    const ShapedGraph bound = bind(read_back(m.bytes({image}, {out})), {});
    CHECK(bound.findings.empty());
    CHECK(shape_of_output(bound) == Shape{1, 264});
    for (const Operator& op : bound.operators) {
        const Shape& shape = bound.tensors[op.outputs.front()].shape;
        if (op.type == "Pad")
            CHECK(shape == Shape{1, 4, 11, 6});
        if (op.type == "Concat")
            CHECK(shape == Shape{1, 8, 11, 6});
        if (op.type == "Slice")
            CHECK(shape == Shape{1, 8, 11, 3});
    }
}

TEST_CASE("an operator that tflite alone has keeps its name", "[tflite][import]") {
    TfliteMaker m;
    const auto x = m.tensor("x", {1, 4}), y = m.tensor("y", {1, 4});
    m.op(32, {x}, {y}, {}, "AudioSpectrogram");
    const Graph graph = read_back(m.bytes({x}, {y}));
    REQUIRE(graph.nodes.size() == 1);
    CHECK(graph.nodes.front().op_type == "AudioSpectrogram");
    CHECK(graph.nodes.front().domain == "tflite");
    const ShapedGraph bound = bind(graph, {});
    CHECK(std::any_of(bound.findings.begin(), bound.findings.end(),
                      [](const Finding& f) { return f.kind == FindingKind::unknown_operator; }));
}

TEST_CASE("a damaged tflite file is refused in one sentence", "[tflite][import]") {
    const std::string whole = small_network();
    for (std::size_t length = 0; length < whole.size(); length += 7) {
        INFO(length);
        try {
            read_back(whole.substr(0, length));
        } catch (const InputError& problem) {
            const std::string text = problem.what();
            CHECK(text.find("made.tflite") != std::string::npos);
            CHECK(text.find("complete .tflite file") != std::string::npos);
        }
    }
    CHECK_THROWS_AS(read_back(whole.substr(0, 64)), InputError);
    CHECK_THROWS_AS(read_back("not a model at all, but long enough"), InputError);
    // Every byte in turn set to what offsets least like.
    for (std::size_t i = 0; i < whole.size(); ++i)
        for (const char value : {'\x00', '\x7f', '\xff'}) {
            std::string bytes = whole;
            bytes[i] = value;
            try {
                const Graph graph = read_back(bytes);
                for (const Node& node : graph.nodes)
                    for (const TensorId id : node.inputs)
                        CHECK((id == kNoTensor || id < graph.tensors.size()));
            } catch (const InputError&) {
            }
        }
}

TEST_CASE("state of a streaming network is read before and written behind it", "[tflite][import]") {
    TfliteMaker m;
    const auto x = m.tensor("x", {1, 4}), state = m.tensor("state", {1, 12}), handle = m.tensor("handle", {});
    const auto all = m.tensor("all", {1, 16}), w = m.tensor("w", {8, 16}, TfliteMaker::f32, 512),
               y = m.tensor("y", {1, 8}), last = m.tensor("last", {1, 12});
    const auto begin = m.ints({0, 4}), size = m.ints({1, 12});
    FlatTableMaker axis;
    m.op(142, {}, {handle});
    m.op(143, {handle}, {state});
    m.op(2, {state, x}, {all}, axis.number(0, std::int32_t{1}));
    m.op(65, {all, begin, size}, {last});
    m.op(144, {handle, last}, {});
    m.op(9, {all, w}, {y});
    const ShapedGraph bound = bind(read_back(m.bytes({x}, {y})), {});
    CHECK(bound.findings.empty());
    CHECK(bound.complete());
    CHECK(macs_of(bound) == 16 * 8);
    CHECK(std::none_of(bound.operators.begin(), bound.operators.end(),
                       [](const Operator& op) { return op.type != "Reshape" && op.folded; }));
}

TEST_CASE("a loop over a list runs as often as the list is long", "[tflite][import]") {
    // The list's length is what the first loop's list has, which only the bound graph knows.
    constexpr std::int32_t kSteps = 70;
    TfliteMaker m;
    const auto i = m.tensor("i", {}, TfliteMaker::i32), n = m.tensor("n", {}, TfliteMaker::i32),
               goes = m.tensor("goes", {}, TfliteMaker::boolean), seen = m.tensor("seen", {1, 4}),
               list = m.tensor("list", {});
    m.op(58, {i, n}, {goes});
    m.end_graph({i, n, seen, list}, {goes}, "condition");
    const auto j = m.tensor("j", {}, TfliteMaker::i32), k = m.tensor("k", {}, TfliteMaker::i32),
               h = m.tensor("h", {1, 4}), filled = m.tensor("filled", {}), one = m.ints({1}),
               next = m.tensor("next", {}, TfliteMaker::i32), w = m.tensor("w", {4, 4}, TfliteMaker::f32, 64),
               y = m.tensor("y", {1, 4}), more = m.tensor("more", {});
    m.op(0, {j, one}, {next});
    m.op(9, {h, w}, {y});
    m.op(32, {filled, j, y}, {more}, {}, "TensorListSetItem");
    m.end_graph({j, k, h, filled}, {next, k, y, more}, "body");
    const auto x = m.tensor("x", {kSteps, 4}), sizes = m.tensor("sizes", {2}, TfliteMaker::i32),
               from = m.ints({0}), to = m.ints({1}), stride = m.ints({1}),
               length = m.tensor("length", {}, TfliteMaker::i32), zero = m.ints({0}),
               start = m.tensor("start", {1, 4}, TfliteMaker::f32, 16), element = m.ints({-1, 4}),
               reserved = m.tensor("reserved", {}), steps = m.tensor("steps", {}, TfliteMaker::i32),
               same = m.tensor("same", {}, TfliteMaker::i32), end = m.tensor("end", {1, 4}),
               result = m.tensor("result", {}), stacked = m.tensor("stacked", {1, 1, 4});
    FlatTableMaker shrink, graphs;
    m.op(77, {x}, {sizes});
    m.op(45, {sizes, from, to, stride}, {length}, shrink.number(4, std::int32_t{1}));
    m.op(32, {element, length}, {reserved}, {}, "FlexTensorListReserve");
    m.op(119, {zero, length, start, reserved}, {steps, same, end, result},
         graphs.number(0, std::int32_t{1}).number(1, std::int32_t{2}));
    m.op(32, {result, element}, {stacked}, {}, "FlexTensorListStack");
    const ShapedGraph bound = bind(read_back(m.bytes({x}, {stacked})), {});
    CHECK(bound.complete());
    CHECK(bound.macs() == kSteps * 16);
    CHECK(shape_of_output(bound) == Shape{kSteps, 1, 4});
}

TEST_CASE("a file with a graph that trains is asked for the one that infers", "[tflite][import]") {
    TfliteMaker m;
    const auto a = m.tensor("a", {1, 4}), w = m.tensor("w", {8, 4}, TfliteMaker::f32, 128),
               b = m.tensor("b", {1, 8});
    m.op(9, {a, w}, {b});
    m.end_graph({a}, {b}, "infer");
    const auto x = m.tensor("x", {1, 4}), loss = m.tensor("loss", {1, 4});
    m.op(0, {x, x}, {loss});
    m.signature("train", 0);
    m.signature("infer", 1);
    CHECK(macs_of(bind(read_back(m.bytes({x}, {loss})), {})) == 4 * 8);
}
