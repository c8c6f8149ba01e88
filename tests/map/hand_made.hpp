#pragma once
// What the machines and networks of tests that work counts out by hand are made of: facts, operators,
// subgraphs.

#include "map/mapper_of.hpp"

#include <deque>
#include <memory>
#include <span>
#include <vector>

namespace archsim::test {

inline Fact fact(double value) {
    Fact f;
    f.value = value;
    f.source = std::make_shared<const Source>(Source{SourceKind::assumed, "test"});
    return f;
}

inline OperatorWork product_work(double m, double n, double k) {
    OperatorWork work;
    work.kind = OpKind::matmul;
    work.contractions.push_back({1, m, n, k, true});
    work.macs = m * n * k;
    return work;
}

/// A square convolution that keeps the image's size.
inline OperatorWork convolution_work(double batch, double in_channels, double out_channels, double size,
                                     double kernel, double groups) {
    OperatorWork work;
    work.kind = OpKind::convolution;
    Window w;
    w.batch = batch;
    w.in_channels = in_channels;
    w.out_channels = out_channels;
    w.groups = groups;
    w.in = w.out = {1, size, size};
    w.kernel = {1, kernel, kernel};
    work.window = w;
    work.contractions.push_back(
        {groups, batch * size * size, out_channels / groups, in_channels / groups * kernel * kernel, true});
    work.macs = work.contractions.front().macs();
    return work;
}

/// Elements of an operator's tensors.
struct Elements {
    double input = 0, weights = 0, output = 0;
};

inline Elements elements_of_product(double m, double n, double k) {
    return {m * k, n * k, m * n};
}
inline Elements elements_of_convolution(const OperatorWork& work) {
    const Window& w = *work.window;
    return {w.batch * w.in_channels * w.in_pixels(), w.out_channels * w.in_channels / w.groups * w.taps(),
            w.batch * w.out_channels * w.out_pixels()};
}

/// Keeps what subgraphs that are made by hand have of their operators.
class Uses {
  public:
    /// One more operator of `s`, behind the others.
    void add(SubgraphWork& s, const OperatorUse& use) {
        own(s).push_back(use);
        s.operators = lists_.back();
    }
    /// Those of `s`, to be changed.
    std::span<OperatorUse> of(SubgraphWork& s) {
        std::vector<OperatorUse>& list = own(s);
        s.operators = list;
        return list;
    }

  private:
    std::vector<OperatorUse>& own(const SubgraphWork& s) {
        return lists_.emplace_back(s.operators.begin(), s.operators.end());
    }
    std::deque<std::vector<OperatorUse>> lists_;
};

/// The subgraph of one operator, which must outlive it as `uses` must.
inline SubgraphWork subgraph_of(const Operator& op, const Elements& elements,
                                const PrecisionConfig& precision, Uses& uses) {
    const double width = bytes_of(precision.activations);
    OperatorUse use;
    use.op = &op;
    use.compute = precision.compute;
    use.anchor = true;
    use.input_elements = elements.input;
    use.output_elements = elements.output;
    use.read_bytes = elements.input * width;
    use.written_bytes = elements.output * width;
    use.weight_bytes = elements.weights * bytes_of(precision.weights);
    SubgraphWork s;
    s.kind = op.work.kind;
    s.precision = precision.compute;
    s.anchor = &op.work;
    s.input_bytes = use.read_bytes;
    s.output_bytes = use.written_bytes;
    s.weight_bytes = use.weight_bytes;
    s.unfused_bytes = s.activation_bytes() + s.weight_bytes;
    s.macs = op.work.macs;
    s.vector_ops = op.work.vector_ops;
    s.special_ops = op.work.special_ops;
    uses.add(s, use);
    return s;
}

} // namespace archsim::test
