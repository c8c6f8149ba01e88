// What TensorFlow Lite files state beside plain layers: recurrent ones gate by gate, loops and branches,
// several graphs in a file, blocks of pixels in the batch, custom operators, shared weights.

#include "archsim/core/finding.hpp"
#include "archsim/extend/importer.hpp"
#include "archsim/ops/shaped_graph.hpp"
#include "support/tflite_maker.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace archsim;
using archsim::test::FlatTableMaker;
using archsim::test::TfliteMaker;
using archsim::test::TfliteScales;

namespace {

Graph read(const std::string& bytes, std::string_view part = {}) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    return import_tflite(std::span(first, bytes.size()), "made.tflite", part);
}

std::string refusal(const std::string& bytes, std::string_view part = {}) {
    try {
        read(bytes, part);
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

std::size_t bytes_of(const std::vector<std::int32_t>& shape) {
    return 4 * static_cast<std::size_t>(
                   std::accumulate(shape.begin(), shape.end(), std::int32_t{1}, std::multiplies<>()));
}

struct Lstm {
    std::int32_t batch = 1, steps = 5, inputs = 4, hidden = 6, projected = 0;
    bool coupled = false, time_major = false, integers = false;
};

/// UNIDIRECTIONAL_SEQUENCE_LSTM with biases, its state in variables.
std::string lstm(const Lstm& o) {
    TfliteMaker m;
    const auto type = o.integers ? TfliteMaker::i8 : TfliteMaker::f32;
    const TfliteScales scales{o.integers ? std::size_t{1} : 0};
    const std::int32_t width = o.projected > 0 ? o.projected : o.hidden;
    const std::vector<std::int32_t> in = o.time_major ? std::vector{o.steps, o.batch, o.inputs}
                                                      : std::vector{o.batch, o.steps, o.inputs},
                                    out = o.time_major ? std::vector{o.steps, o.batch, width}
                                                       : std::vector{o.batch, o.steps, width};
    const auto x = m.tensor("x", in, type, 0, scales);
    int made = 0;
    const auto weights = [&](const std::vector<std::int32_t>& shape) {
        return m.tensor("w" + std::to_string(made++), shape, type, bytes_of(shape) / (o.integers ? 4 : 1),
                        scales);
    };
    const auto bias = [&](std::int32_t n) {
        return m.tensor("b" + std::to_string(made++), {n}, o.integers ? TfliteMaker::i32 : TfliteMaker::f32,
                        bytes_of({n}), scales);
    };
    std::vector<std::int32_t> operands = {x};
    for (const std::int32_t depth : {o.inputs, width})
        for (int gate = 0; gate < 4; ++gate)
            operands.push_back(gate == 0 && o.coupled ? -1 : weights({o.hidden, depth}));
    operands.insert(operands.end(), {-1, -1, -1});
    for (int gate = 0; gate < 4; ++gate)
        operands.push_back(gate == 0 && o.coupled ? -1 : bias(o.hidden));
    operands.push_back(o.projected > 0 ? weights({o.projected, o.hidden}) : -1);
    operands.push_back(-1);
    const auto y = m.tensor("y", out, type, 0, scales);
    FlatTableMaker options;
    options.number(0, std::int8_t{4}).number(3, std::uint8_t{o.time_major});
    m.op(44, operands, {y}, options);
    return m.bytes({x}, {y});
}

double gates(const Lstm& o) {
    const double width = o.projected > 0 ? o.projected : o.hidden;
    return o.batch * o.steps *
           ((o.coupled ? 3.0 : 4.0) * o.hidden * (o.inputs + width) + o.hidden * (o.projected));
}

/// A dense layer of n x n, run `trips` times: a counter in integers decides.
std::string loop(std::int32_t n, std::optional<std::int32_t> trips, bool given_start = false) {
    TfliteMaker m;
    const auto before = m.tensor("i", {1}, TfliteMaker::i32), x = m.tensor("state", {1, n});
    const auto one = m.ints({1}), after = m.tensor("next", {1}, TfliteMaker::i32);
    const auto w = m.tensor("w", {n, n}, TfliteMaker::f32, bytes_of({n, n})), y = m.tensor("y", {1, n});
    m.op(0, {before, one}, {after});
    m.op(9, {x, w}, {y});
    m.end_graph({before, x}, {after, y}, "body");
    const auto counted = m.tensor("i", {1}, TfliteMaker::i32), state = m.tensor("state", {1, n});
    const auto goes_on = m.tensor("goes_on", {1}, TfliteMaker::boolean);
    if (trips) {
        const auto limit = m.ints({*trips});
        m.op(58, {counted, limit}, {goes_on});
    } else {
        const auto limit = m.tensor("limit", {1, n}), least = m.tensor("least", {1}, TfliteMaker::i32);
        m.op(53, {state}, {limit});
        m.op(56, {limit, m.ints({1})}, {least});
        m.op(58, {counted, least}, {goes_on});
    }
    m.end_graph({counted, state}, {goes_on}, "condition");
    const auto start = given_start ? m.tensor("start", {1}, TfliteMaker::i32) : m.ints({0});
    const auto in = m.tensor("in", {1, n});
    const auto last = m.tensor("last", {1}, TfliteMaker::i32), out = m.tensor("out", {1, n});
    FlatTableMaker options;
    m.op(119, {start, in}, {last, out}, options.number(0, 2).number(1, 1));
    return m.bytes(given_start ? std::vector{start, in} : std::vector{in}, {out});
}

/// Two graphs that are called by name.
TfliteMaker two_graphs() {
    TfliteMaker m;
    const auto x = m.tensor("codes", {1, 64}), w = m.tensor("w", {32, 64}, TfliteMaker::f32, 4 * 2048),
               y = m.tensor("sound", {1, 32});
    m.op(9, {x, w}, {y});
    m.end_graph({x}, {y}, "encode_graph");
    m.signature("decode", 0);
    m.signature("encode", 1);
    return m;
}

std::string decode_and_encode() {
    TfliteMaker m = two_graphs();
    const auto x = m.tensor("x", {1, 16}), w = m.tensor("v", {8, 16}, TfliteMaker::f32, 4 * 128),
               y = m.tensor("y", {1, 8});
    m.op(9, {x, w}, {y});
    return m.bytes({x}, {y});
}

/// A zip archive whose members are stored as they are.
std::string archive(const std::vector<std::pair<std::string, std::string>>& members) {
    std::string out, directory;
    const auto put = [](std::string& to, std::uint64_t value, int width) {
        for (int i = 0; i < width; ++i)
            to += static_cast<char>((value >> (8 * i)) & 0xff);
    };
    for (const auto& [name, bytes] : members) {
        const std::size_t at = out.size();
        put(out, 0x04034b50, 4);
        for (const int width : {2, 2, 2, 2, 2, 4}) // version, flags, stored, time, date, sum
            put(out, 0, width);
        put(out, bytes.size(), 4);
        put(out, bytes.size(), 4);
        put(out, name.size(), 2);
        put(out, 0, 2);
        out += name + bytes;
        put(directory, 0x02014b50, 4);
        for (const int width : {2, 2, 2, 2, 2, 2, 4})
            put(directory, 0, width);
        put(directory, bytes.size(), 4);
        put(directory, bytes.size(), 4);
        put(directory, name.size(), 2);
        for (const int width : {2, 2, 2, 2, 4})
            put(directory, 0, width);
        put(directory, at, 4);
        directory += name;
    }
    const std::size_t first = out.size();
    out += directory;
    put(out, 0x06054b50, 4);
    put(out, 0, 4);
    put(out, members.size(), 2);
    put(out, members.size(), 2);
    put(out, directory.size(), 4);
    put(out, first, 4);
    put(out, 0, 2);
    return out;
}

} // namespace

TEST_CASE("an LSTM of a tflite file counts the gates, the projection and the biases that it has",
          "[tflite][import]") {
    for (const Lstm& o : {Lstm{}, Lstm{.coupled = true}, Lstm{.projected = 3},
                          Lstm{.batch = 2, .time_major = true}, Lstm{.projected = 3, .coupled = true}}) {
        const ShapedGraph bound = bind(read(lstm(o)), {});
        CHECK(bound.findings.empty());
        CHECK(bound.macs() == gates(o));
        const double width = o.projected > 0 ? o.projected : o.hidden, each = o.coupled ? 3 : 4;
        CHECK(bound.parameters() ==
              each * o.hidden * (o.inputs + width) + each * o.hidden + o.hidden * o.projected);
        CHECK(bound.tensors[bound.outputs.front()].shape.back() == static_cast<std::int64_t>(width));
    }
    // Batch and time change places, and the same work is done.
    CHECK(bind(read(lstm({.batch = 2})), {}).macs() ==
          bind(read(lstm({.batch = 2, .time_major = true})), {}).macs());
}

TEST_CASE("an LSTM of integers runs in integers", "[tflite][import]") {
    const ShapedGraph bound = bind(read(lstm({.integers = true})), {});
    for (const Operator& op : bound.operators)
        if (op.type == "tflite.UNIDIRECTIONAL_SEQUENCE_LSTM")
            CHECK(op.native_precision == Precision::int8);
}

TEST_CASE("an SVDF layer counts its features and its weights over time", "[tflite][import]") {
    TfliteMaker m;
    const auto x = m.tensor("x", {1, 40}), features = m.tensor("f", {16, 40}, TfliteMaker::f32, 4 * 640),
               time = m.tensor("t", {16, 8}, TfliteMaker::f32, 4 * 128), y = m.tensor("y", {1, 8});
    FlatTableMaker options;
    m.op(27, {x, features, time, -1, -1}, {y}, options.number(0, 2));
    const ShapedGraph bound = bind(read(m.bytes({x}, {y})), {});
    CHECK(bound.macs() == 16 * 40 + 16 * 8);
    CHECK(bound.tensors[bound.outputs.front()].shape == Shape{1, 8});
}

TEST_CASE("a convolution between blocks of the batch is a dilated one", "[tflite][import]") {
    TfliteMaker m;
    const auto x = m.tensor("x", {1, 8, 8, 4}), block = m.ints({2, 2}), pads = m.ints({2, 2, 2, 2});
    const auto a = m.tensor("a", {4, 6, 6, 4}), w = m.tensor("w", {4, 3, 3, 4}, TfliteMaker::f32, 576),
               b = m.tensor("b", {4, 4, 4, 4}), crops = m.ints({0, 0, 0, 0}), y = m.tensor("y", {1, 8, 8, 4});
    m.op(38, {x, block, pads}, {a});
    m.op(3, {a, w}, {b}, TfliteMaker::conv(1, 0, 1));
    m.op(37, {b, block, crops}, {y});
    const ShapedGraph bound = bind(read(m.bytes({x}, {y})), {});
    CHECK(bound.findings.empty());
    CHECK(bound.macs() == 4 * 4 * 4 * 4 * 4 * 9); // as many as dilated by 2 on the 8x8 image
    CHECK(bound.tensors[bound.outputs.front()].shape == Shape{1, 4, 8, 8});
}

TEST_CASE("a convolution of volumes has the channels last, like images", "[tflite][import]") {
    TfliteMaker m;
    const auto x = m.tensor("x", {1, 4, 8, 8, 3}),
               w = m.tensor("w", {3, 3, 3, 3, 5}, TfliteMaker::f32, 4 * 405),
               y = m.tensor("y", {1, 4, 8, 8, 5});
    FlatTableMaker options;
    m.op(132, {x, w}, {y}, options.number(0, std::int8_t{0}).number(1, 1).number(2, 1).number(3, 1));
    const ShapedGraph bound = bind(read(m.bytes({x}, {y})), {});
    CHECK(bound.findings.empty());
    CHECK(bound.macs() == 4 * 8 * 8 * 5 * 81);
    CHECK(bound.tensors[bound.outputs.front()].shape == Shape{1, 4, 8, 8, 5});
}

TEST_CASE("a loop that a counter ends runs as often; one that data ends says so", "[tflite][import]") {
    for (const std::int32_t trips : {0, 1, 50, 200}) {
        const ShapedGraph bound = bind(read(loop(16, trips)), {});
        CHECK(bound.complete());
        double macs = 0;
        for (const Operator& op : bound.operators)
            macs += op.repeat * op.work.macs;
        CHECK(macs == trips * 256.0);
    }
    const ShapedGraph given = bind(read(loop(16, 50, true)), {});
    CHECK(given.complete());
    CHECK(given.macs() == 50 * 256.0);
    REQUIRE_FALSE(given.findings.empty());
    CHECK(given.findings.front().message.find("from 0 it runs 50 times") != std::string::npos);
    const ShapedGraph open = bind(read(loop(16, std::nullopt)), {});
    CHECK_FALSE(open.complete());
    CHECK(std::any_of(open.findings.begin(), open.findings.end(), [](const Finding& f) {
        return f.message.find("trip count") != std::string::npos && f.hint.find("--dim") != std::string::npos;
    }));
}

TEST_CASE("a graph that runs itself is refused", "[tflite][import]") {
    TfliteMaker m;
    const auto x = m.tensor("x", {1}), y = m.tensor("y", {1});
    FlatTableMaker options;
    m.op(31, {x}, {y}, options.number(0, std::uint32_t{1}));
    m.end_graph({x}, {y}, "again");
    const auto in = m.tensor("x", {1}), out = m.tensor("y", {1});
    FlatTableMaker call;
    m.op(31, {in}, {out}, call.number(0, std::uint32_t{1}));
    CHECK(refusal(m.bytes({in}, {out})).find("runs itself") != std::string::npos);
}

TEST_CASE("a file of several graphs says so and answers for the one that is named", "[tflite][import]") {
    const std::string bytes = decode_and_encode();
    const Graph first = read(bytes);
    REQUIRE(first.findings.size() == 1);
    CHECK(first.findings.front().message.find("decode, encode") != std::string::npos);
    CHECK(bind(first, {}).macs() == 128);
    CHECK(bind(read(bytes, "encode"), {}).macs() == 2048);
    CHECK(refusal(bytes, "decoder").find("decode, encode") != std::string::npos);
    // Bodies of loops are no graphs of their own.
    CHECK(read(loop(16, 50)).findings.empty());
}

TEST_CASE("a bundle is opened where it is clear which model is meant", "[tflite][import]") {
    const std::string model = decode_and_encode();
    CHECK(bind(read(archive({{"readme.txt", "words"}, {"codec.tflite", model}})), {}).macs() == 128);
    const std::string two = archive({{"a.tflite", model}, {"b.tflite", lstm({})}});
    CHECK(refusal(two).find("a.tflite, b.tflite") != std::string::npos);
    CHECK(bind(read(two, "b.tflite"), {}).macs() == gates({}));
    CHECK(bind(read(two, "a.tflite/encode"), {}).macs() == 2048);
    CHECK_FALSE(refusal(archive({{"readme.txt", "words"}})).empty());
    for (std::size_t end = 0; end < two.size(); end += 7) // cut anywhere
        CHECK_FALSE(refusal(two.substr(0, end)).empty());
}

TEST_CASE("what stands behind a custom operator has the shape that the file states", "[tflite][import]") {
    TfliteMaker m;
    const auto x = m.tensor("x", {1, 10}), y = m.tensor("y", {1, 40}),
               w = m.tensor("w", {5, 40}, TfliteMaker::f32, 4 * 200), z = m.tensor("z", {1, 5});
    m.op(32, {x}, {y}, FlatTableMaker{}, "MyOperator");
    m.op(9, {y, w}, {z});
    const ShapedGraph bound = bind(read(m.bytes({x}, {z})), {});
    CHECK(bound.macs() == 200);
    REQUIRE(bound.findings.size() == 1);
    CHECK(bound.findings.front().message.find("tflite.MyOperator") != std::string::npos);
}

TEST_CASE("detections are as many as the file states, or as its options keep", "[tflite][import]") {
    // A FlexBuffer map of one integer: key, keys, widths, value, types, root.
    std::string options = "max_detections";
    options += '\0';
    for (const int byte : {1, 16, 1, 1, 1, 7, 4, 2, 36, 1})
        options += static_cast<char>(byte);
    for (const bool stated : {true, false}) {
        TfliteMaker m;
        const auto boxes = m.tensor("boxes", {1, 50, 4}), scores = m.tensor("scores", {1, 50, 9}),
                   anchors = m.tensor("anchors", {50, 4}, TfliteMaker::f32, 800);
        const std::vector<std::int32_t> none;
        const auto a = m.tensor("a", stated ? std::vector<std::int32_t>{1, 12, 4} : none),
                   b = m.tensor("b", none), c = m.tensor("c", none), d = m.tensor("d", none);
        m.op(32, {boxes, scores, anchors}, {a, b, c, d}, FlatTableMaker{}, "TFLite_Detection_PostProcess");
        m.last_op().vector(5, std::vector<char>(options.begin(), options.end()));
        const ShapedGraph bound = bind(read(m.bytes({boxes, scores}, {a, b, c, d})), {});
        CHECK(bound.complete());
        CHECK(bound.tensors[bound.outputs.front()].shape == Shape{1, stated ? 12 : 7, 4});
        CHECK(bound.operations() > 50 * 9);
    }
}

TEST_CASE("built-in operators that are not translated keep their name", "[tflite][import]") {
    TfliteMaker m;
    const auto x = m.tensor("x", {4, 4}), y = m.tensor("y", {4, 4, 4});
    m.op(113, {x}, {y});
    const ShapedGraph bound = bind(read(m.bytes({x}, {y})), {});
    REQUIRE(bound.findings.size() == 1);
    CHECK(bound.findings.front().message.find("tflite.MATRIX_DIAG") != std::string::npos);
    CHECK(bound.tensors[bound.outputs.front()].shape == Shape{4, 4, 4});
}

TEST_CASE("a compiled file says who compiled it", "[tflite][import]") {
    for (const auto& [name, who] :
         {std::pair{"ethos-u", "Vela"}, std::pair{"edgetpu-custom-op", "edgetpu_compiler"}}) {
        TfliteMaker m;
        const auto x = m.tensor("x", {1, 8}), y = m.tensor("y", {1, 8});
        m.op(32, {x}, {y}, FlatTableMaker{}, name);
        CHECK(refusal(m.bytes({x}, {y})).find(who) != std::string::npos);
    }
}

TEST_CASE("weights that several operators read are one tensor", "[tflite][import]") {
    TfliteMaker m;
    const auto x = m.tensor("x", {1, 8, 8, 4}), w = m.tensor("w", {4, 3, 3, 4}, TfliteMaker::f32, 576),
               a = m.tensor("a", {1, 8, 8, 4}), b = m.tensor("b", {1, 8, 8, 4}),
               c = m.tensor("c", {1, 8, 8, 4});
    m.op(3, {x, w}, {a}, TfliteMaker::conv(1));
    m.op(3, {a, w}, {b}, TfliteMaker::conv(1));
    m.op(3, {b, w}, {c}, TfliteMaker::conv(1));
    const ShapedGraph bound = bind(read(m.bytes({x}, {c})), {});
    CHECK(bound.parameters() == 144);
    CHECK(bound.macs() == 3 * 64 * 4 * 36);
}

TEST_CASE("weights that are unpacked at load are weights", "[tflite][import]") {
    TfliteMaker m;
    const auto x = m.tensor("x", {1, 16}), sparse = m.tensor("s", {8, 16}, TfliteMaker::f32, 100),
               dense = m.tensor("d", {8, 16}), y = m.tensor("y", {1, 8});
    m.op(124, {sparse}, {dense});
    m.op(9, {x, dense}, {y});
    const ShapedGraph bound = bind(read(m.bytes({x}, {y})), {});
    CHECK(bound.findings.empty());
    CHECK(bound.parameters() == 128);
    CHECK(bound.macs() == 128);
}

TEST_CASE("a constant without elements reshapes to a scalar", "[tflite][import]") {
    TfliteMaker m;
    const auto x = m.tensor("x", {1}), shape = m.tensor("shape", {0}, TfliteMaker::i32),
               y = m.tensor("y", {});
    m.op(22, {x, shape}, {y});
    const ShapedGraph bound = bind(read(m.bytes({x}, {y})), {});
    CHECK(bound.complete());
    CHECK(bound.tensors[bound.outputs.front()].shape.empty());
}

TEST_CASE("16-bit activations stay 16 bits wide", "[tflite][import]") {
    const auto conv = [](TfliteMaker::Type type) {
        TfliteMaker m;
        const TfliteScales one{1};
        const auto x = m.tensor("x", {1, 16, 16, 64}, type, 0, one),
                   w = m.tensor("w", {64, 3, 3, 64}, TfliteMaker::i8, 36864, one),
                   y = m.tensor("y", {1, 16, 16, 64}, type, 0, one);
        m.op(3, {x, w}, {y}, TfliteMaker::conv(1));
        return m.bytes({x}, {y});
    };
    const ShapedGraph bound = bind(read(conv(TfliteMaker::i16)), {});
    for (const Operator& op : bound.operators)
        if (op.type == "Conv")
            CHECK(op.native_precision == Precision::int16);
}
