#include "ops/common.hpp"

#include <cmath>
#include <limits>

namespace archsim {

void malformed(std::string message) {
    throw NodeProblem{FindingKind::malformed_node, std::move(message),
                      "correct the node or export the model again"};
}

void sizes_differ(std::string message) {
    throw NodeProblem{FindingKind::shape_conflict, std::move(message),
                      "check the sizes given for the inputs"};
}

const Constant& known_value(const NodeContext& c, std::size_t i) {
    if (!c.value(i))
        static_cast<void>(c.ints(i)); // throws with the name of the missing value
    return *c.value(i);
}

static std::string to_text(std::span<const std::int64_t> shape) {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += (i ? "," : "") + std::to_string(shape[i]);
    return text + "]";
}

Shape broadcast(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
    if (a.size() < b.size())
        std::swap(a, b);
    Shape result(a.begin(), a.end());
    const std::size_t offset = a.size() - b.size();
    for (std::size_t i = 0; i < b.size(); ++i) {
        std::int64_t& d = result[offset + i];
        if (d == b[i] || b[i] == 1)
            continue;
        if (d != 1)
            sizes_differ("shapes " + to_text(a) + " and " + to_text(b) + " do not broadcast");
        d = b[i];
    }
    return result;
}

std::size_t normalized_axis(std::int64_t axis, std::size_t rank) {
    const auto r = static_cast<std::int64_t>(rank);
    if (axis < -r || axis >= r)
        malformed("axis " + std::to_string(axis) + " is outside rank " + std::to_string(rank));
    return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

std::vector<std::size_t> normalized_axes(const std::vector<std::int64_t>& axes, std::size_t rank) {
    std::vector<std::size_t> result;
    result.reserve(axes.size());
    for (const std::int64_t axis : axes)
        result.push_back(normalized_axis(axis, rank));
    std::ranges::sort(result);
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
}

double product(std::span<const std::int64_t> dims) {
    double n = 1;
    for (const std::int64_t d : dims)
        n *= static_cast<double>(d);
    return n;
}

std::optional<std::vector<std::int64_t>> axes_of(const NodeContext& c, std::size_t i) {
    if (c.has_input(i))
        return c.ints(i);
    if (const auto* axes = c.integers("axes"))
        return *axes;
    return std::nullopt;
}

DataType data_type_attribute(const NodeContext& c, std::string_view key, DataType fallback) {
    const std::int64_t code = c.integer(key, static_cast<std::int64_t>(fallback));
    if (code < 0 || code > static_cast<std::int64_t>(DataType::int2))
        malformed("attribute '" + std::string(key) + "' names no data type");
    return static_cast<DataType>(code);
}

void set_known(NodeContext& c, DataType type, std::int64_t value) {
    Constant constant;
    constant.type = type;
    constant.ints = {value};
    c.set_value(0, std::move(constant));
    c.output(0).constant = true;
}

void declare_like(NodeContext& c, std::size_t i) {
    ShapedTensor& out = c.output(0);
    out.type = c.type(i);
    out.shape = c.shape(i);
    out.known = c.input(i).known;
}

Constant blank_value(NodeContext& c, std::size_t output) {
    return {.type = c.output(output).type, .shape = c.output(output).shape};
}

std::size_t value_count(const Constant& constant) {
    return constant.ints.size() + constant.reals.size() + constant.strings.size();
}

double number_at(const Constant& constant, std::size_t i) {
    if (i < constant.reals.size())
        return constant.reals[i];
    return i < constant.ints.size() ? static_cast<double>(constant.ints[i]) : 0.0;
}

void append_from(Constant& to, const Constant& from, std::size_t i) {
    if (i < from.ints.size())
        to.ints.push_back(from.ints[i]);
    else if (i < from.reals.size())
        to.reals.push_back(from.reals[i]);
    else if (i < from.strings.size())
        to.strings.push_back(from.strings[i]);
}

double rounded_to(DataType type, double value) {
    return type == DataType::float64 ? value : static_cast<double>(static_cast<float>(value));
}

std::int64_t saturated_int(double value) {
    if (std::isnan(value))
        return 0;
    if (value >= 9223372036854775807.0)
        return std::numeric_limits<std::int64_t>::max();
    if (value <= -9223372036854775808.0)
        return std::numeric_limits<std::int64_t>::min();
    return static_cast<std::int64_t>(value);
}

void infer_same(NodeContext& c) {
    c.set_output(0, c.type(0), c.shape(0));
}

static Shape broadcast_inputs(NodeContext& c) {
    // Before opset 7 the second operand lined up at `axis` and only broadcast when `broadcast` was set.
    if (c.opset() < 7 && c.input_count() == 2 && c.integer("broadcast", 0) != 0)
        return c.shape(0);
    if (c.input_count() == 2 && c.shape(0) == c.shape(1))
        return c.shape(0);
    Shape shape = c.shape(0);
    for (std::size_t i = 1; i < c.input_count(); ++i)
        shape = broadcast(shape, c.shape(i));
    return shape;
}

void infer_broadcast(NodeContext& c) {
    c.set_output(0, c.type(0), broadcast_inputs(c));
}

void infer_comparison(NodeContext& c) {
    c.set_output(0, DataType::boolean, broadcast_inputs(c));
}

void work_per_output(NodeContext& c) {
    const double n = c.output(0).elements();
    c.work().vector_ops = c.row().cost.vector * n;
    c.work().special_ops = c.row().cost.special * n;
}

void work_per_input(NodeContext& c) {
    const double n = c.elements(0);
    c.work().vector_ops = c.row().cost.vector * n;
    c.work().special_ops = c.row().cost.special * n;
}

void work_movement(NodeContext&) {}

void add_product(NodeContext& c, const Contraction& product) {
    c.work().contractions.push_back(product);
    c.work().macs += product.macs();
}

void read_part(NodeContext& c, std::size_t input, double elements) {
    c.work().partial_reads.emplace_back(static_cast<std::uint16_t>(input), elements);
}

void write_part(NodeContext& c, std::size_t output, double elements) {
    c.work().partial_writes.emplace_back(static_cast<std::uint16_t>(output), elements);
}

void mark_learned(NodeContext& c, std::initializer_list<std::size_t> inputs, bool learned) {
    for (const std::size_t i : inputs)
        c.mark_learned(i, learned);
}

void run_int8(NodeContext& c, std::initializer_list<std::size_t> scales) {
    c.op().native_precision = Precision::int8;
    mark_learned(c, scales, false);
}

void mark_learned_from(NodeContext& c, std::size_t first, bool learned) {
    for (std::size_t i = first; i < c.input_count(); ++i)
        c.mark_learned(i, learned);
}

void recurrent_work(NodeContext& c, const RecurrentProducts& r) {
    const Contraction input{.groups = r.directions,
                            .m = r.steps * r.batch,
                            .n = r.width,
                            .k = r.inputs,
                            .weights_constant = r.input_constant},
        state{.groups = r.directions * r.steps,
              .m = r.batch,
              .n = r.width,
              .k = r.state,
              .weights_constant = r.state_constant};
    c.work().contractions = {input, state};
    c.work().macs = input.macs() + state.macs();
    c.work().serial_steps = std::max(r.steps, 1.0); // both directions run side by side
}

void suppression_work(NodeContext& c, double lists, double boxes, double pairs) {
    c.work().vector_ops += lists * boxes * std::log2(std::max(boxes, 2.0)) + 12 * pairs;
    c.work().special_ops += pairs;
}

Shape gathered_shape(const Shape& data, const Shape& indices, std::size_t axis) {
    const auto place = data.begin() + static_cast<std::ptrdiff_t>(axis);
    Shape out(data.begin(), place);
    out.insert(out.end(), indices.begin(), indices.end());
    out.insert(out.end(), place + 1, data.end());
    return out;
}

Shape reduced_shape(const Shape& in, const std::vector<bool>& reduced, bool keep) {
    Shape out;
    for (std::size_t i = 0; i < in.size(); ++i)
        if (!reduced[i])
            out.push_back(in[i]);
        else if (keep)
            out.push_back(1);
    return out;
}

void work_free(NodeContext& c) {
    c.work().kind = OpKind::free;
    c.work().fusion = FusionClass::transparent;
}

void fold_reshaped(NodeContext& c) {
    if (known_value(c, 0).shape == c.output(0).shape) {
        c.share_value(0, c.value(0));
        return;
    }
    Constant constant = known_value(c, 0);
    constant.type = c.output(0).type;
    constant.shape = c.output(0).shape;
    c.set_value(0, std::move(constant));
}

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
