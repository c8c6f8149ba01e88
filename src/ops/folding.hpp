#pragma once
// Folding of elementwise operators over small known values.

#include "ops/common.hpp"

namespace archsim {

/// Walks the index of a broadcast operand along with the output's.
class BroadcastIndex {
  public:
    BroadcastIndex(const Shape& operand, const Shape& output) : output_(output), strides_(output.size(), 0) {
        std::size_t stride = 1;
        const std::size_t offset = output.size() - std::min(operand.size(), output.size());
        for (std::size_t i = operand.size(); i-- > 0;) {
            if (operand[i] != 1 && offset + i < strides_.size())
                strides_[offset + i] = stride;
            stride *= static_cast<std::size_t>(operand[i]);
        }
    }
    std::size_t operator()(std::size_t flat) const {
        std::size_t index = 0;
        for (std::size_t i = output_.size(); i-- > 0;) {
            const auto d = static_cast<std::size_t>(output_[i]);
            index += flat % d * strides_[i];
            flat /= d;
        }
        return index;
    }

  private:
    const Shape& output_;
    std::vector<std::size_t> strides_;
};

using IntFunction = bool (*)(std::int64_t, std::int64_t, std::int64_t&);
using RealFunction = double (*)(double, double);

/// Folds one binary elementwise operator; no value results where an integer operation has none (x / 0).
void fold_binary_with(NodeContext& c, IntFunction ints, RealFunction reals);
void fold_unary_with(NodeContext& c, IntFunction ints, RealFunction reals);

template <IntFunction Ints, RealFunction Reals>
void fold_binary(NodeContext& c) {
    fold_binary_with(c, Ints, Reals);
}
template <class Function>
double real_of(double a, double b) {
    return Function{}(a, b);
}
/// The second argument of the functions is not used.
template <IntFunction Ints, RealFunction Reals>
void fold_unary(NodeContext& c) {
    fold_unary_with(c, Ints, Reals);
}

} // namespace archsim
