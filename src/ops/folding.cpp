#include "ops/folding.hpp"

namespace archsim {

static bool sizes_fit(const Constant& constant) {
    return static_cast<double>(value_count(constant)) == product(constant.shape) && constant.strings.empty();
}

static void combine(NodeContext& c, const Constant& a, const Constant& b, IntFunction ints,
                    RealFunction reals) {
    if (!sizes_fit(a) || !sizes_fit(b))
        return;
    const bool integer = a.reals.empty() && b.reals.empty() && !is_floating(c.type(0));
    Constant result = blank_value(c, 0);
    const auto count = static_cast<std::size_t>(product(result.shape));
    const bool direct_a = a.shape == result.shape, direct_b = b.shape == result.shape;
    const BroadcastIndex index_a(a.shape, result.shape), index_b(b.shape, result.shape);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t ia = direct_a ? i : index_a(i), ib = direct_b ? i : index_b(i);
        if (integer) {
            std::int64_t value = 0;
            if (!ints || !ints(a.ints[ia], b.ints[ib], value))
                return;
            result.ints.push_back(value);
            continue;
        }
        if (!reals)
            return;
        const double value = reals(number_at(a, ia), number_at(b, ib));
        if (is_floating(result.type))
            result.reals.push_back(rounded_to(result.type, value));
        else
            result.ints.push_back(saturated_int(value));
    }
    c.set_value(0, std::move(result));
}

void fold_binary_with(NodeContext& c, IntFunction ints, RealFunction reals) {
    if (c.input_count() == 1) {
        fold_reshaped(c);
        return;
    }
    if (c.input_count() == 2 && c.opset() >= 7)
        combine(c, known_value(c, 0), known_value(c, 1), ints, reals);
}

void fold_unary_with(NodeContext& c, IntFunction ints, RealFunction reals) {
    combine(c, known_value(c, 0), known_value(c, 0), ints, reals);
}

} // namespace archsim
