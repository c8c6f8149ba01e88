// What automatic mixed precision leaves in fp32.

#include "map/network_parts.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <utility>

using namespace archsim;

namespace {

/// Float tensors and operators on them.
struct WideSketch {
    ShapedGraph graph;

    TensorId tensor(Shape shape, TensorRole role = TensorRole::intermediate) {
        ShapedTensor& t = graph.tensors.emplace_back();
        t.type = DataType::float32;
        t.known = true;
        t.shape = std::move(shape);
        t.role = role;
        t.constant = role == TensorRole::initializer;
        return static_cast<TensorId>(graph.tensors.size() - 1);
    }
    TensorId input() {
        const TensorId id = tensor({4, 8}, TensorRole::input);
        graph.inputs.push_back(id);
        return id;
    }
    TensorId parameter(Shape shape) { return tensor(std::move(shape), TensorRole::initializer); }
    TensorId apply(const std::string& type, OpKind kind, const TensorList& inputs) {
        const TensorId out = tensor({4, 8});
        Operator& op = graph.operators.emplace_back();
        op.type = type;
        op.inputs = inputs;
        op.outputs = {out};
        op.work.kind = kind;
        return out;
    }
    bool wide(TensorId id) const { return find_wide_tensors(graph)[id] != 0; }
};

} // namespace

TEST_CASE("products yield 16 bits, norms and softmax fp32, the rest what it reads", "[map][autocast]") {
    WideSketch s;
    const TensorId in = s.input();
    CHECK(s.wide(in));
    const TensorId product = s.apply("MatMul", OpKind::matmul, {in, s.parameter({8, 8})});
    CHECK_FALSE(s.wide(product));
    const TensorId bias = s.apply("Add", OpKind::elementwise, {product, s.parameter({8})});
    CHECK_FALSE(s.wide(bias)); // of the linear layer
    CHECK_FALSE(s.wide(s.apply("Relu", OpKind::elementwise, {bias})));
    CHECK_FALSE(
        s.wide(s.apply("Mul", OpKind::elementwise, {bias, s.parameter({})}))); // a number of the program
    CHECK(s.wide(s.apply("Softmax", OpKind::softmax, {bias})));
    CHECK(s.wide(s.apply("LayerNormalization", OpKind::normalization, {bias})));
    const TensorId scaled = s.apply("Mul", OpKind::elementwise, {bias, s.parameter({8})});
    CHECK(s.wide(scaled)); // promoted by an fp32 parameter
    const TensorId stream = s.apply("Add", OpKind::elementwise, {bias, in});
    CHECK(s.wide(stream));
    CHECK(s.wide(s.apply("Transpose", OpKind::data_movement, {stream})));
    CHECK_FALSE(s.wide(s.apply("Conv", OpKind::convolution, {stream, s.parameter({8, 8})})));
    CHECK(s.wide(s.apply("Gather", OpKind::data_movement, {s.parameter({100, 8}), s.tensor({4})})));
}

TEST_CASE("batch normalisation takes the format of the convolution before it", "[map][autocast]") {
    WideSketch s;
    const TensorId conv = s.apply("Conv", OpKind::convolution, {s.input(), s.parameter({8, 8})});
    for (const OpKind kind : {OpKind::normalization, OpKind::elementwise})
        CHECK_FALSE(s.wide(s.apply("BatchNormalization", kind, {conv, s.parameter({8}), s.parameter({8})})));
}
