// Einsum: the equation is parsed into axes; the work is that of contracting the operands pairwise, left to
// right.

#include "ops/common.hpp"
#include "ops/families.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace archsim {

namespace {

/// Axes are single characters; broadcast axes under an ellipsis get the digits '0'..'9' counted from the
/// right.
struct Equation {
    std::vector<std::string> operands;
    std::string output;
};

std::string expand_ellipsis(const std::string& term, std::size_t rank) {
    const std::size_t dots = term.find("...");
    if (dots == std::string::npos)
        return term;
    const std::size_t named = term.size() - 3;
    if (rank < named || rank - named > 10)
        malformed("the equation does not fit the rank of an operand");
    std::string axes;
    for (std::size_t i = rank - named; i-- > 0;)
        axes += static_cast<char>('0' + i);
    return term.substr(0, dots) + axes + term.substr(dots + 3);
}

Equation parse(const NodeContext& c) {
    std::string text;
    for (const char ch : c.text("equation", ""))
        if (ch != ' ')
            text += ch;
    const std::size_t arrow = text.find("->");
    std::string left = text.substr(0, arrow);
    Equation e;
    std::size_t start = 0;
    for (std::size_t i = 0; i < c.input_count(); ++i) {
        const std::size_t comma = left.find(',', start);
        e.operands.push_back(expand_ellipsis(
            left.substr(start, comma == std::string::npos ? comma : comma - start), c.shape(i).size()));
        if (comma == std::string::npos && i + 1 < c.input_count())
            malformed("the equation has fewer terms than the node has inputs");
        start = comma == std::string::npos ? left.size() : comma + 1;
    }
    std::string ellipsis_axes;
    for (const std::string& term : e.operands) {
        std::string digits;
        for (const char ch : term)
            if (ch >= '0' && ch <= '9')
                digits += ch;
        if (digits.size() > ellipsis_axes.size())
            ellipsis_axes = digits;
    }
    if (arrow != std::string::npos) {
        e.output = text.substr(arrow + 2);
        if (const std::size_t dots = e.output.find("..."); dots != std::string::npos)
            e.output = e.output.substr(0, dots) + ellipsis_axes + e.output.substr(dots + 3);
        return e;
    }
    // Without an arrow: the axes that occur once, in alphabetical order, after those of the ellipsis.
    std::array<int, 256> count{};
    for (const std::string& term : e.operands)
        for (const char ch : term)
            ++count[static_cast<unsigned char>(ch)];
    e.output = ellipsis_axes;
    for (int ch = 'A'; ch <= 'z'; ++ch)
        if (count[static_cast<std::size_t>(ch)] == 1)
            e.output += static_cast<char>(ch);
    return e;
}

using AxisSizes = std::array<std::int64_t, 256>;

AxisSizes sizes_of(const NodeContext& c, const Equation& e) {
    AxisSizes sizes;
    sizes.fill(-1);
    for (std::size_t i = 0; i < e.operands.size(); ++i) {
        const Shape& shape = c.shape(i);
        if (shape.size() != e.operands[i].size())
            malformed("the equation does not fit the rank of an operand");
        for (std::size_t d = 0; d < shape.size(); ++d) {
            std::int64_t& size = sizes[static_cast<unsigned char>(e.operands[i][d])];
            if (size < 0 || size == 1)
                size = shape[d];
            else if (shape[d] != 1 && shape[d] != size)
                sizes_differ("the operands differ in an axis of the equation");
        }
    }
    return sizes;
}

void infer_einsum(NodeContext& c) {
    const Equation e = parse(c);
    const AxisSizes sizes = sizes_of(c, e);
    Shape out;
    for (const char axis : e.output) {
        const std::int64_t size = sizes[static_cast<unsigned char>(axis)];
        if (size < 0)
            malformed("the equation's result names an axis that no operand has");
        out.push_back(size);
    }
    c.set_output(0, c.type(0), std::move(out));
}

bool has(const std::string& axes, char axis) {
    return axes.find(axis) != std::string::npos;
}

/// One pairwise step: axes of both that stay are groups, axes of both that vanish are contracted.
Contraction step(const std::string& a, const std::string& b, const std::string& kept,
                 const AxisSizes& sizes) {
    Contraction result;
    std::string seen;
    for (const char axis : a + b) {
        if (has(seen, axis))
            continue;
        seen += axis;
        const auto size = static_cast<double>(sizes[static_cast<unsigned char>(axis)]);
        const bool in_a = has(a, axis), in_b = has(b, axis), stays = has(kept, axis);
        if (in_a && in_b)
            (stays ? result.groups : result.k) *= size;
        else
            (in_a ? result.m : result.n) *= size;
    }
    return result;
}

void work_einsum(NodeContext& c) {
    const Equation e = parse(c);
    const AxisSizes sizes = sizes_of(c, e);
    if (e.operands.size() == 1) {
        const bool reduces = c.output(0).elements() < c.elements(0);
        c.work().kind = reduces ? OpKind::reduction : OpKind::data_movement;
        c.work().fusion = reduces ? FusionClass::reduction : FusionClass::injective;
        c.work().vector_ops = reduces ? c.elements(0) : 0;
        return;
    }
    std::string left = e.operands[0];
    bool left_constant = c.is_constant(0);
    for (std::size_t i = 1; i < e.operands.size(); ++i) {
        std::string kept = e.output;
        for (std::size_t later = i + 1; later < e.operands.size(); ++later)
            kept += e.operands[later];
        Contraction product_of_two = step(left, e.operands[i], kept, sizes);
        product_of_two.weights_constant = left_constant || c.is_constant(i);
        if (left_constant && !c.is_constant(i))
            std::swap(product_of_two.m, product_of_two.n);
        left_constant = left_constant && c.is_constant(i);
        // Without a contracted axis the step is an elementwise or outer product.
        if (product_of_two.k == 1)
            c.work().vector_ops += product_of_two.macs();
        else
            c.work().contractions.push_back(product_of_two);
        c.work().macs += product_of_two.k == 1 ? 0 : product_of_two.macs();
        std::string next;
        for (const char axis : left + e.operands[i])
            if (has(kept, axis) && !has(next, axis))
                next += axis;
        left = next;
    }
    if (c.work().contractions.empty()) {
        c.work().kind = OpKind::elementwise;
        c.work().fusion = FusionClass::elementwise;
    }
    for (std::size_t i = 0; i < c.input_count(); ++i)
        c.mark_learned(i);
}

constexpr OperatorRow kEinsumRows[] = {
    kOnnx.product(
        "Einsum", 12, infer_einsum, work_einsum,
        "contraction by an equation, pairwise from the left; without a contracted axis an elementwise "
        "product"),
};

} // namespace

constinit const std::span<const OperatorRow> einsum_rows = kEinsumRows;

} // namespace archsim
