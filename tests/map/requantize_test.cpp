// Which tensors a quantised concatenation must scale again.

#include "map/accelerator.hpp"
#include "map/accelerator_support.hpp"
#include "map/expected_counts.hpp"
#include "support/shipped_session.hpp"

#include "archsim/run/session.hpp"
#include "session/bound_model.hpp"

#include <catch2/catch.hpp>

using namespace archsim;

namespace {

/// Float tensors of ten elements, and operators on them.
struct Sketch {
    ShapedGraph graph;

    TensorId tensor() {
        ShapedTensor& t = graph.tensors.emplace_back();
        t.type = DataType::float32;
        t.known = true;
        t.shape = {10};
        return static_cast<TensorId>(graph.tensors.size() - 1);
    }
    TensorId apply(const std::string& type, OpKind kind, const TensorList& inputs) {
        const TensorId out = tensor();
        Operator& op = graph.operators.emplace_back();
        op.type = type;
        op.inputs = inputs;
        op.outputs = {out};
        op.work.kind = kind;
        return out;
    }
    double requantized() const { return accelerator::requantized_inputs(graph).elements; }
};

} // namespace

TEST_CASE("branches that only the concatenation reads are written at its scale", "[map][formulas]") {
    Sketch s;
    const TensorId in = s.tensor();
    const TensorId a = s.apply("Conv", OpKind::convolution, {in}),
                   b = s.apply("Relu", OpKind::elementwise, {a});
    const TensorId c = s.apply("Conv", OpKind::convolution, {in});
    CHECK(s.requantized() == 0); // nothing is joined
    s.apply("Concat", OpKind::data_movement, {b, c});
    CHECK(s.requantized() == 0);
}

TEST_CASE("what others read too, or what no arithmetic wrote, is scaled again", "[map][formulas]") {
    Sketch s;
    const TensorId in = s.tensor();
    const TensorId a = s.apply("Conv", OpKind::convolution, {in}),
                   b = s.apply("Conv", OpKind::convolution, {a});
    s.apply("Concat", OpKind::data_movement, {a, b}); // the second convolution reads a too
    CHECK(s.requantized() == 10);
    const TensorId most = s.apply("MaxPool", OpKind::pooling, {b}); // now b has two readers
    const TensorId view = s.apply("Reshape", OpKind::free, {most});
    s.apply("Concat", OpKind::data_movement, {view, in});
    CHECK(s.requantized() == 10 + 10 + 20);
    CHECK(accelerator::requantized_inputs(s.graph).tensors == 4);
}

TEST_CASE("dense blocks scale their features again, inception blocks do not", "[map][laws]") {
    const Session& session = test::shipped_session();
    const auto again = [&](const char* name) {
        const Model model = session.load(name);
        return accelerator::requantized_inputs(session.bind(model, 1)->graph());
    };
    // 58 concatenations of 64 to 1024 channels at 56, 28, 14 and 7 pixels: 10.6 M elements, of which the last
    // layer's 32 channels in each block have one reader.
    CHECK(again("densenet121").elements == Approx(10.5e6).epsilon(0.05));
    CHECK(again("densenet121").tensors == Approx(590).epsilon(0.01));
    CHECK(again("googlenet").tensors == 0);
}

TEST_CASE("what a quantised concatenation scales again is a small operator, a float one has none",
          "[map][formulas]") {
    using namespace archsim::test;
    Sketch s;
    const TensorId in = s.tensor();
    const TensorId a = s.apply("Conv", OpKind::convolution, {in}),
                   b = s.apply("Conv", OpKind::convolution, {a});
    s.apply("Concat", OpKind::data_movement, {a, b}); // ten elements
    Network network;
    network.product(6, 8, 8);
    NetworkWork work = network.work();
    work.graph = &s.graph;
    Rig rig(Family("dsp"), 1, 1000); // 1000 matrix operations a cycle, 0.1 of them on the vector unit
    rig.set(Parameter::vector_per_matrix, 0.1).set(Parameter::vector_efficiency, 0.5);
    rig.set(Parameter::requantized_share, 0.25).set(Parameter::elementwise_cost, 3);
    rig.set(Parameter::small_operator_work, 5000);
    const Mapper& dsp = *mapper_of("dsp");
    // Ten elements are read and written, whatever their width.
    for (const char* precision : {"int8", "w8a16"}) {
        work.precision = PrecisionConfig::parse(precision).value();
        check_demands(dsp.map_network(work, rig.machine()).fixed,
                      {{Resource::matrix_cycles, Lane::overhead, 0.25 * 5000 / 1000, 1},
                       {Resource::vector_cycles, Lane::overhead, 0.25 * 3 * 20 / 100.0, 0.5}});
    }
    work.precision = PrecisionConfig::uniform(Precision::fp16);
    check_demands(dsp.map_network(work, rig.machine()).fixed, {});
}
