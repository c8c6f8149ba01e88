// Shapes, slices, gathers: what moves elements and computes nothing.

#include "import/tflite.hpp"

#include <limits>

namespace archsim::import {

using Ints = std::vector<std::int64_t>;
constexpr std::int64_t kToTheEnd = std::numeric_limits<std::int64_t>::max();

static void moved(const TfliteCall& c, TensorId y, AxisOrder order = AxisOrder::file) {
    c.graph().set(c.out(), y, order, false);
}

/// The shape that is given, or else that of the result.
static void add_reshape(const TfliteCall& c) {
    TfliteGraph& g = c.graph();
    const std::int64_t given = c.optional_in(1);
    TensorId shape = kNoTensor;
    if (given >= 0 && !g.tensor(given).constant())
        shape = g.get(given, AxisOrder::file);
    else if (const auto values = given >= 0 ? g.integers(given) : std::nullopt; values && !values->empty())
        shape = g.ints(*values);
    else
        shape = g.ints(g.tensor(c.out()).shape);
    moved(c, g.emit("Reshape", {c.get(0), shape}));
}

static void add_squeeze(const TfliteCall& c) {
    TfliteGraph& g = c.graph();
    const Ints axes = c.op().options ? c.op().options->integers<std::int32_t>(0) : Ints{};
    const TensorId x = c.get(0);
    moved(c, axes.empty() ? g.emit("Squeeze", {x}) : g.emit("Squeeze", {x, g.ints(axes)}));
}

static void add_expand_dims(const TfliteCall& c) {
    moved(c, c.graph().emit("Unsqueeze", {c.get(0), c.graph().ints(c.known(1))}));
}

static void add_concat(const TfliteCall& c) {
    const AxisOrder order = c.order();
    const std::int64_t axis =
        c.axis(c.option<std::int32_t>(0, 0), c.graph().tensor(c.out()).shape.size(), order);
    const TensorId y = c.graph().emit("Concat", c.operands(order), {{"axis", axis}});
    moved(c, c.activated(y, 1), order);
}

static void add_pack(const TfliteCall& c) {
    TfliteGraph& g = c.graph();
    const std::int64_t axis = c.axis(c.option<std::int32_t>(1, 0), c.rank(0) + 1, AxisOrder::file);
    std::vector<TensorId> parts;
    for (std::size_t i = 0; i < c.input_count(); ++i)
        parts.push_back(g.emit("Unsqueeze", {c.get(i), g.ints({axis})}));
    moved(c, g.emit("Concat", std::move(parts), {{"axis", axis}}));
}

/// The results of a split along `axis`, of equal sizes or as `sizes` has them.
static std::vector<TensorId> split(const TfliteCall& c, TensorId x, std::int64_t axis, const Ints& sizes) {
    const std::size_t parts = c.op().outputs.size();
    TfliteAttributes attributes = {{"axis", axis}};
    std::vector<TensorId> inputs = {x};
    if (sizes.empty())
        attributes.emplace_back("num_outputs", static_cast<std::int64_t>(parts));
    else
        inputs.push_back(c.graph().ints(sizes));
    return c.graph().emit_several("Split", std::move(inputs), parts, std::move(attributes));
}

static void add_split(const TfliteCall& c) {
    const bool sized = c.code() == builtin("SPLIT_V");
    const std::size_t x = sized ? 0 : 1;
    const AxisOrder order =
        c.graph().is_channels_first(c.in(x)) ? AxisOrder::channels_first : AxisOrder::file;
    const Ints axis = c.known(sized ? 2 : 0);
    if (axis.empty())
        throw FlatError("a split has no axis");
    c.set_moved(
        split(c, c.get(x, order), c.axis(axis.front(), c.rank(x), order), sized ? c.known(1) : Ints{}),
        order);
}

static void add_unpack(const TfliteCall& c) {
    const std::int64_t axis = c.axis(c.option<std::int32_t>(1, 0), c.rank(0), AxisOrder::file);
    const auto parts = split(c, c.get(0), axis, Ints(c.op().outputs.size(), 1));
    for (std::size_t i = 0; i < parts.size(); ++i)
        c.graph().set(c.out(i), c.graph().emit("Squeeze", {parts[i], c.graph().ints({axis})}),
                      AxisOrder::file, false);
}

/// Pairs of before and after, axis by axis.
static void add_pad(const TfliteCall& c) {
    const AxisOrder order = c.order();
    const std::size_t rank = c.rank(0);
    const Ints pairs = c.known(1);
    if (pairs.size() != 2 * rank)
        throw FlatError("a padding does not fit its operand");
    Ints pads(2 * rank);
    for (std::size_t i = 0; i < rank; ++i) {
        const auto to = static_cast<std::size_t>(c.axis(static_cast<std::int64_t>(i), rank, order));
        pads[to] = pairs[2 * i];
        pads[rank + to] = pairs[2 * i + 1];
    }
    const char* mode = c.code() == builtin("MIRROR_PAD") ? "reflect" : "constant";
    moved(c,
          c.graph().emit("Pad", {c.get(0, order), c.graph().ints(std::move(pads))},
                         {{"mode", std::string(mode)}}),
          order);
}

struct SliceBounds {
    Ints starts, ends, axes, steps, squeezed;
};

static void emit_slice(const TfliteCall& c, SliceBounds b, AxisOrder order) {
    TfliteGraph& g = c.graph();
    for (std::int64_t& axis : b.axes)
        axis = c.axis(axis, c.rank(0), order);
    TensorId y = g.emit("Slice", {c.get(0, order), g.ints(std::move(b.starts)), g.ints(std::move(b.ends)),
                                  g.ints(std::move(b.axes)), g.ints(std::move(b.steps))});
    if (!b.squeezed.empty())
        y = g.emit("Squeeze", {y, g.ints(std::move(b.squeezed))});
    moved(c, y, order);
}

static void add_slice(const TfliteCall& c) {
    const Ints begin = c.known(1), size = c.known(2);
    SliceBounds b;
    for (std::size_t i = 0; i < begin.size() && i < size.size(); ++i) {
        b.axes.push_back(static_cast<std::int64_t>(i));
        b.starts.push_back(begin[i]);
        b.ends.push_back(size[i] < 0 ? kToTheEnd : begin[i] + size[i]);
        b.steps.push_back(1);
    }
    emit_slice(c, std::move(b), c.order());
}

static bool add_strided_slice(const TfliteCall& c) {
    const auto bit = [&](unsigned field, std::size_t axis) {
        return ((c.option<std::int32_t>(field, 0) >> axis) & 1) != 0;
    };
    if (c.option<std::int32_t>(2, 0) != 0 || c.option<std::int32_t>(3, 0) != 0)
        return false; // an ellipsis or new axes: rewritten by every converter since 2.0
    const auto begin = c.graph().integers(c.in(1)), end = c.graph().integers(c.in(2)),
               strides = c.graph().integers(c.in(3));
    if (!begin || !end || !strides || begin->size() != end->size() || begin->size() != strides->size() ||
        begin->size() > c.rank(0))
        return false;
    SliceBounds b;
    for (std::size_t i = 0; i < begin->size(); ++i) {
        const bool back = (*strides)[i] < 0, shrink = bit(4, i);
        const std::int64_t first = (*begin)[i];
        b.axes.push_back(static_cast<std::int64_t>(i));
        b.starts.push_back(bit(0, i) ? (back ? kToTheEnd : 0) : first);
        b.ends.push_back(shrink      ? (first == -1 ? kToTheEnd : first + 1)
                         : bit(1, i) ? (back ? -kToTheEnd : kToTheEnd)
                                     : (*end)[i]);
        b.steps.push_back(shrink ? 1 : (*strides)[i]);
        if (shrink)
            b.squeezed.push_back(static_cast<std::int64_t>(i));
    }
    const bool axes_go = !b.squeezed.empty();
    emit_slice(c, std::move(b), axes_go ? AxisOrder::file : c.order());
    return true;
}

static bool add_gather(const TfliteCall& c) {
    const bool lookup = c.code() == builtin("EMBEDDING_LOOKUP"); // indices first
    if (!lookup && c.option<std::int32_t>(1, 0) != 0)
        return false;
    const TensorId table = c.get(lookup ? 1 : 0), indices = c.get(lookup ? 0 : 1);
    moved(c, c.graph().emit("Gather", {table, indices},
                            {{"axis", std::int64_t{lookup ? 0 : c.option<std::int32_t>(0, 0)}}}));
    return true;
}

static void add_transpose(const TfliteCall& c) {
    moved(c, c.graph().emit("Transpose", {c.get(0)}, {{"perm", c.known(1)}}));
}

static void add_arg(const TfliteCall& c, std::string_view op) {
    const Ints axis = c.known(1);
    if (axis.empty())
        throw FlatError("an operator takes an axis that is not there");
    const std::int64_t chosen = c.axis(axis.front(), c.rank(0), AxisOrder::file);
    moved(c, c.graph().emit(op, {c.get(0)}, {{"axis", chosen}, {"keepdims", std::int64_t{0}}}));
}

static void add_top(const TfliteCall& c) {
    const auto both = c.graph().emit_several("TopK", {c.get(0), c.sizes(1)}, 2);
    for (std::size_t i = 0; i < 2 && i < c.op().outputs.size(); ++i)
        c.graph().set(c.out(i), both[i], AxisOrder::file, false);
}

static void add_with_sizes(const TfliteCall& c, std::string_view op) {
    moved(c, c.graph().emit(op, {c.get(0), c.sizes(1)}));
}

static void add_cast(const TfliteCall& c) {
    const AxisOrder order = c.order();
    const auto to = static_cast<std::int64_t>(c.graph().tensor(c.out()).type);
    c.graph().set(c.out(), c.graph().emit("Cast", {c.get(0, order)}, {{"to", to}}), order);
}

/// A tensor is dequantised where it is read: this only names the result. Halves stay what they are.
static void add_conversion(const TfliteCall& c) {
    if (c.code() == builtin("DEQUANTIZE"))
        return c.graph().alias(c.out(), c.in(0));
    const AxisOrder order = c.order();
    c.graph().set(c.out(), c.get(0, order), order);
}

static void add_fill(const TfliteCall& c) {
    TfliteGraph& g = c.graph();
    const auto sizes = g.integers(c.in(0));
    moved(c, g.emit("Expand", {c.get(1), sizes ? g.ints(*sizes) : c.get(0)}));
}

static void add_zeros(const TfliteCall& c) {
    moved(c, c.graph().emit("ConstantOfShape", {c.graph().emit("Shape", {c.get(0)})}));
}

/// Indices of what is true, one row each.
static void add_where(const TfliteCall& c) {
    if (c.input_count() != 1)
        throw FlatError("it takes one operand");
    TfliteGraph& g = c.graph();
    moved(c, g.emit("Transpose", {g.emit("NonZero", {c.get(0)})}, {{"perm", Ints{1, 0}}}));
}

static void add_one_hot(const TfliteCall& c) {
    TfliteGraph& g = c.graph();
    const auto row = [&](std::size_t i) { return g.emit("Reshape", {c.get(i), g.ints({1})}); };
    const TensorId off = row(3), on = row(2);
    moved(c,
          g.emit("OneHot", {c.get(0), c.sizes(1), g.emit("Concat", {off, on}, {{"axis", std::int64_t{0}}})},
                 {{"axis", std::int64_t{c.option<std::int32_t>(0, -1)}}}));
}

static void add_reverse(const TfliteCall& c) {
    const AxisOrder order = c.order();
    SliceBounds b;
    for (const std::int64_t axis : c.known(1)) {
        b.axes.push_back(axis);
        b.starts.push_back(-1);
        b.ends.push_back(-kToTheEnd);
        b.steps.push_back(-1);
    }
    emit_slice(c, std::move(b), order);
}

static void add_unique(const TfliteCall& c) {
    const auto all = c.graph().emit_several("Unique", {c.get(0)}, 3);
    c.graph().set(c.out(0), all[0], AxisOrder::file, false);
    if (c.op().outputs.size() > 1)
        c.graph().set(c.out(1), all[2], AxisOrder::file, false);
}

static void add_scatter(const TfliteCall& c) {
    TfliteGraph& g = c.graph();
    const TensorId zeros = g.emit("ConstantOfShape", {c.sizes(2)});
    moved(c, g.emit("ScatterND", {zeros, c.get(0), c.get(1)}));
}

/// Writes a part of its first operand, in place.
static void add_update(const TfliteCall& c) {
    const TfliteAttributes none;
    moved(c, c.graph().emit_own("DYNAMIC_UPDATE_SLICE", {c.get(0), c.get(1)}, none));
}

constexpr TfliteRow kRowsArrangement[] = {
    {"RESHAPE", add_reshape},
    {"SQUEEZE", add_squeeze},
    {"EXPAND_DIMS", add_expand_dims},
    {"CONCATENATION", add_concat},
    {"PACK", add_pack},
    {"SPLIT", add_split},
    {"SPLIT_V", add_split},
    {"UNPACK", add_unpack},
    {"PAD", add_pad},
    {"PADV2", add_pad},
    {"MIRROR_PAD", add_pad},
    {"SLICE", add_slice},
    {"STRIDED_SLICE", nullptr, add_strided_slice},
    {"GATHER", nullptr, add_gather},
    {"EMBEDDING_LOOKUP", nullptr, add_gather},
    {"GATHER_ND",
     [](const TfliteCall& c) {
         moved(c, c.graph().emit("GatherND", {c.get(0), c.get(1)}));
     }},
    {"TRANSPOSE", add_transpose},
    {"ARG_MAX", [](const TfliteCall& c) { add_arg(c, "ArgMax"); }},
    {"ARG_MIN", [](const TfliteCall& c) { add_arg(c, "ArgMin"); }},
    {"TOPK_V2", add_top},
    {"TILE", [](const TfliteCall& c) { add_with_sizes(c, "Tile"); }},
    {"BROADCAST_TO", [](const TfliteCall& c) { add_with_sizes(c, "Expand"); }},
    {"CUMSUM",
     [](const TfliteCall& c) {
         moved(c, c.graph().emit("CumSum", {c.get(0), c.get(1)}));
     }},
    {"SHAPE", [](const TfliteCall& c) { moved(c, c.graph().emit("Shape", {c.get(0)})); }},
    {"CAST", add_cast},
    {"QUANTIZE", add_conversion},
    {"DEQUANTIZE", add_conversion},
    {"DENSIFY", [](const TfliteCall& c) { c.graph().alias(c.out(), c.in(0)); }}, // when the network is loaded
    {"FILL", add_fill},
    {"ZEROS_LIKE", add_zeros},
    {"RANGE",
     [](const TfliteCall& c) {
         moved(c, c.graph().emit("Range", {c.get(0), c.get(1), c.get(2)}));
     }},
    {"RANK",
     [](const TfliteCall& c) { moved(c, c.graph().emit("Size", {c.graph().emit("Shape", {c.get(0)})})); }},
    {"WHERE", add_where},
    {"ONE_HOT", add_one_hot},
    {"REVERSE_V2", add_reverse},
    {"UNIQUE", add_unique},
    {"SCATTER_ND", add_scatter},
    {"DYNAMIC_UPDATE_SLICE", add_update},
    {"CALL_ONCE", [](const TfliteCall&) {}}, // initialises variables, once and not per inference
};
static_assert(are_built_in(kRowsArrangement));

bool add_tflite_arrangement(const TfliteCall& c) {
    return add_by_row(kRowsArrangement, c);
}

} // namespace archsim::import
