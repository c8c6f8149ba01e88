// Operators that move or copy elements without computing: transpose, concat, slice, pad, tile...

#include "ops/families.hpp"

#include <numeric>

namespace archsim {

/// The value of an output that takes each element from the first input. `part_of(axis, x, strides)` is what
/// the coordinate `x` of an axis of the output adds to the place in the input, whose axes have these strides.
template <class PartOf>
static void fold_picked(NodeContext& c, PartOf&& part_of) {
    const Constant& from = known_value(c, 0);
    Constant to = blank_value(c, 0);
    std::vector<std::int64_t> strides(from.shape.size(), 1);
    for (std::size_t i = strides.size(); i-- > 1;)
        strides[i - 1] = strides[i] * from.shape[i];
    const auto count = static_cast<std::int64_t>(product(to.shape));
    for (std::int64_t flat = 0; flat < count; ++flat) {
        std::int64_t rest = flat, index = 0;
        for (std::size_t i = to.shape.size(); i-- > 0; rest /= to.shape[i])
            index += part_of(i, rest % to.shape[i], strides);
        append_from(to, from, static_cast<std::size_t>(index));
    }
    c.set_value(0, std::move(to));
}

// --- Transpose

static std::vector<std::size_t> permutation_of(const NodeContext& c) {
    const std::size_t rank = c.shape(0).size();
    std::vector<std::size_t> perm(rank);
    if (const auto* given = c.integers("perm")) {
        if (given->size() != rank)
            malformed("the permutation does not fit rank " + std::to_string(rank));
        std::vector<bool> seen(rank, false);
        for (std::size_t i = 0; i < rank; ++i) {
            perm[i] = normalized_axis((*given)[i], rank);
            if (seen[perm[i]])
                malformed("the permutation names an axis twice");
            seen[perm[i]] = true;
        }
    } else {
        for (std::size_t i = 0; i < rank; ++i)
            perm[i] = rank - 1 - i;
    }
    return perm;
}

static void infer_transpose(NodeContext& c) {
    const auto perm = permutation_of(c);
    const Shape& in = c.shape(0);
    Shape out(perm.size());
    for (std::size_t i = 0; i < perm.size(); ++i)
        out[i] = in[perm[i]];
    c.set_output(0, c.type(0), std::move(out));
}

/// Free when only dimensions of size 1 change place.
static void work_transpose(NodeContext& c) {
    const auto perm = permutation_of(c);
    const Shape& in = c.shape(0);
    std::size_t last = 0;
    bool ordered = true;
    for (const std::size_t axis : perm) {
        if (in[axis] == 1)
            continue;
        ordered = ordered && axis >= last;
        last = axis;
    }
    if (ordered)
        work_free(c);
}

static void fold_transpose(NodeContext& c) {
    fold_picked(c, [perm = permutation_of(c)](std::size_t axis, std::int64_t x, const auto& strides) {
        return x * strides[perm[axis]];
    });
}

// --- Concat

static void infer_concat(NodeContext& c) {
    Shape out = c.shape(0);
    const std::size_t axis = normalized_axis(c.integer("axis", 1), out.size());
    for (std::size_t i = 1; i < c.input_count(); ++i) {
        const Shape& in = c.shape(i);
        if (in.size() != out.size())
            malformed("the inputs differ in rank");
        for (std::size_t d = 0; d < out.size(); ++d)
            if (d != axis && in[d] != out[d])
                sizes_differ("the inputs differ in axis " + std::to_string(d) + " (" +
                             std::to_string(out[d]) + " and " + std::to_string(in[d]) + ")");
        out[axis] += in[axis];
    }
    c.set_output(0, c.type(0), std::move(out));
}

static void work_concat(NodeContext& c) {
    std::size_t filled = 0;
    for (std::size_t i = 0; i < c.input_count(); ++i)
        filled += c.elements(i) > 0;
    if (filled <= 1)
        work_free(c);
}

static void fold_concat(NodeContext& c) {
    Constant to = blank_value(c, 0);
    const std::size_t axis = normalized_axis(c.integer("axis", 1), to.shape.size());
    const auto outer = static_cast<std::size_t>(product(std::span(to.shape).first(axis)));
    for (std::size_t o = 0; o < outer; ++o)
        for (std::size_t i = 0; i < c.input_count(); ++i) {
            const Constant& from = known_value(c, i);
            const auto block = static_cast<std::size_t>(product(std::span(from.shape).subspan(axis)));
            for (std::size_t k = 0; k < block; ++k)
                append_from(to, from, o * block + k);
        }
    c.set_value(0, std::move(to));
}

// --- Slice

struct SliceRange {
    std::int64_t start = 0, step = 1, count = 0;
};

static SliceRange slice_range(std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t size) {
    if (step == 0)
        malformed("a step of 0");
    if (size == 0)
        return {0, step, 0};
    const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
    const auto place = [&](std::int64_t x) { return std::clamp(x < 0 ? x + size : x, low, high); };
    // The clamp of a negative `end` with a negative step stops before the first element.
    const std::int64_t first =
        std::clamp<std::int64_t>(start < 0 ? start + size : start, 0, step > 0 ? size : size - 1);
    const std::int64_t last = place(end);
    const std::int64_t distance = step > 0 ? last - first : first - last;
    const std::int64_t stride =
        step > 0 ? step : (step == std::numeric_limits<std::int64_t>::min() ? 1 : -step);
    if (distance <= 0)
        return {0, step, 0};
    return {first, step, (distance - 1) / stride + 1};
}

static std::vector<SliceRange> slice_ranges(const NodeContext& c) {
    const Shape& in = c.shape(0);
    std::vector<SliceRange> ranges;
    for (const std::int64_t d : in)
        ranges.push_back({0, 1, d});
    const std::vector<std::int64_t>*starts = nullptr, *ends = nullptr;
    if (c.has_input(1)) {
        starts = &c.ints(1);
        ends = &c.ints(2);
    } else {
        starts = c.integers("starts");
        ends = c.integers("ends");
    }
    if (!starts || !ends || starts->size() != ends->size())
        malformed("starts and ends do not fit each other");
    const auto given = axes_of(c, 3);
    const std::vector<std::int64_t>* steps = c.has_input(4) ? &c.ints(4) : nullptr;
    if ((given && given->size() != starts->size()) || (steps && steps->size() != starts->size()))
        malformed("starts, ends, axes and steps differ in length");
    for (std::size_t i = 0; i < starts->size(); ++i) {
        const std::size_t axis =
            normalized_axis(given ? (*given)[i] : static_cast<std::int64_t>(i), in.size());
        ranges[axis] = slice_range((*starts)[i], (*ends)[i], steps ? (*steps)[i] : 1, in[axis]);
    }
    return ranges;
}

static bool slice_values_known(const NodeContext& c) {
    for (std::size_t i = 1; i < c.input_count(); ++i)
        if (c.has_input(i) && !c.value(i))
            return false;
    return true;
}

/// Axes that a slice whose limits only a run knows may shorten.
static std::vector<std::size_t> sliced_axes(const NodeContext& c) {
    const auto rank = static_cast<std::size_t>(c.rank(0));
    std::vector<std::size_t> axes;
    if (const Constant* given = c.value(3)) {
        for (const std::int64_t axis : given->ints)
            axes.push_back(normalized_axis(axis, rank));
        return axes;
    }
    const std::size_t count = c.has_input(3) || c.rank(1) != 1 ? rank : static_cast<std::size_t>(c.dim(1, 0));
    for (std::size_t axis = 0; axis < std::min(count, rank); ++axis)
        axes.push_back(axis);
    return axes;
}

static void infer_slice(NodeContext& c) {
    if (!slice_values_known(c)) {
        const Shape in = c.shape(0);
        Shape bound = in;
        c.set_output(0, c.type(0), in);
        for (const std::size_t axis : sliced_axes(c))
            bound[axis] = std::clamp<std::int64_t>(
                c.data_dependent_dim(0, axis, in[axis], "the whole of axis " + std::to_string(axis)), 0,
                in[axis]);
        c.set_output(0, c.type(0), std::move(bound));
        return;
    }
    Shape out;
    for (const SliceRange& range : slice_ranges(c))
        out.push_back(range.count);
    c.set_output(0, c.type(0), std::move(out));
}

/// Reads only what it keeps; the whole of its input is the input itself.
static void work_slice(NodeContext& c) {
    const double kept = c.output(0).elements();
    if (c.output(0).shape == c.shape(0) && slice_values_known(c))
        work_free(c);
    else
        read_part(c, 0, kept);
}

static void fold_slice(NodeContext& c) {
    fold_picked(c, [ranges = slice_ranges(c)](std::size_t axis, std::int64_t x, const auto& strides) {
        return (ranges[axis].start + x * ranges[axis].step) * strides[axis];
    });
}

// --- Split

static void infer_split(NodeContext& c) {
    const Shape in = c.shape(0);
    const std::size_t axis = normalized_axis(c.integer("axis", 0), in.size());
    const std::vector<std::int64_t>* sizes = c.has_input(1) ? &c.ints(1) : c.integers("split");
    const auto parts = static_cast<std::int64_t>(c.output_count());
    if (sizes && sizes->size() < c.output_count())
        malformed("fewer split sizes than outputs");
    // Equal parts, the last one smaller where the size does not divide (opset 18).
    const std::int64_t number = std::max<std::int64_t>(c.integer("num_outputs", parts), 1);
    const std::int64_t chunk = in[axis] / number + (in[axis] % number != 0);
    std::int64_t left = in[axis];
    for (std::size_t i = 0; i < c.output_count(); ++i) {
        Shape out = in;
        out[axis] = sizes ? (*sizes)[i] : std::min(chunk, left);
        left -= out[axis];
        c.set_output(i, c.type(0), std::move(out));
    }
    if (left < 0)
        malformed("the split sizes exceed the dimension");
}

static void fold_split(NodeContext& c) {
    const Constant& from = known_value(c, 0);
    const std::size_t axis = normalized_axis(c.integer("axis", 0), from.shape.size());
    const auto outer = static_cast<std::size_t>(product(std::span(from.shape).first(axis)));
    const auto row = static_cast<std::size_t>(product(std::span(from.shape).subspan(axis)));
    std::size_t offset = 0;
    for (std::size_t i = 0; i < c.output_count(); ++i) {
        if (!c.has_output(i))
            return;
        Constant to = blank_value(c, i);
        const auto block = static_cast<std::size_t>(product(std::span(to.shape).subspan(axis)));
        for (std::size_t o = 0; o < outer; ++o)
            for (std::size_t k = 0; k < block; ++k)
                append_from(to, from, o * row + offset + k);
        offset += block;
        c.set_value(i, std::move(to));
    }
}

// --- Expand, Tile

static void infer_expand(NodeContext& c) {
    c.set_output(0, c.type(0), broadcast(c.shape(0), c.ints(1)));
}

static void fold_expand(NodeContext& c) {
    const Constant& from = known_value(c, 0);
    Constant to = blank_value(c, 0);
    const BroadcastIndex index(from.shape, to.shape);
    const auto count = static_cast<std::size_t>(product(to.shape));
    for (std::size_t i = 0; i < count; ++i)
        append_from(to, from, index(i));
    c.set_value(0, std::move(to));
}

static void infer_tile(NodeContext& c) {
    Shape out = c.shape(0);
    if (c.opset() < 6 && c.has_input(2)) { // tiles and axis as scalars
        std::int64_t& d = out[normalized_axis(c.scalar_int(2), out.size())];
        if (__builtin_mul_overflow(d, c.scalar_int(1), &d))
            throw NodeProblem{FindingKind::too_large, "the repeats overflow", "check the repeats"};
        c.set_output(0, c.type(0), std::move(out));
        return;
    }
    const auto& repeats = c.ints(1);
    if (repeats.size() != out.size())
        malformed("one repeat per dimension is needed");
    for (std::size_t i = 0; i < out.size(); ++i)
        if (__builtin_mul_overflow(out[i], repeats[i], &out[i]))
            throw NodeProblem{FindingKind::too_large, "the repeats overflow", "check the repeats"};
    c.set_output(0, c.type(0), std::move(out));
}

static void fold_tile(NodeContext& c) {
    if (c.shape(0).size() == c.output(0).shape.size())
        fold_picked(c, [&in = c.shape(0)](std::size_t axis, std::int64_t x, const auto& strides) {
            return x % in[axis] * strides[axis];
        });
}

static void work_copy(NodeContext& c) {
    if (c.output(0).shape == c.shape(0))
        work_free(c);
}

// --- Pad

static void infer_pad(NodeContext& c) {
    Shape out = c.shape(0);
    const std::vector<std::int64_t>* pads = nullptr;
    if (c.has_input(1))
        pads = &c.ints(1);
    else
        pads = c.integers("pads") ? c.integers("pads") : c.integers("paddings");
    if (!pads)
        malformed("the pads are missing");
    std::vector<std::int64_t> axes(out.size());
    std::iota(axes.begin(), axes.end(), 0);
    if (c.has_input(3))
        axes = c.ints(3);
    if (pads->size() != 2 * axes.size())
        malformed("two pads per axis are needed");
    for (std::size_t i = 0; i < axes.size(); ++i) {
        std::int64_t& d = out[normalized_axis(axes[i], out.size())];
        if (__builtin_add_overflow(d, (*pads)[i], &d) ||
            __builtin_add_overflow(d, (*pads)[i + axes.size()], &d))
            throw NodeProblem{FindingKind::too_large, "the pads overflow", "check the pads"};
    }
    c.set_output(0, c.type(0), std::move(out));
}

static void infer_center_crop_pad(NodeContext& c) {
    Shape out = c.shape(0);
    const auto& target = c.ints(1);
    std::vector<std::int64_t> axes(out.size());
    std::iota(axes.begin(), axes.end(), 0);
    if (const auto* given = c.integers("axes"))
        axes = *given;
    if (axes.size() != target.size())
        malformed("one size per axis is needed");
    for (std::size_t i = 0; i < axes.size(); ++i)
        out[normalized_axis(axes[i], out.size())] = target[i];
    c.set_output(0, c.type(0), std::move(out));
}

// --- Blocks, triangles, sequences

static void infer_depth_to_space(NodeContext& c) {
    const std::int64_t block = c.integer("blocksize", 1);
    if (block < 1 || block > (std::int64_t{1} << 20) || c.rank(0) != 4 || c.dim(0, 1) % (block * block) != 0)
        malformed("the channels do not divide by the block");
    const Shape& in = c.shape(0);
    c.set_output(0, c.type(0), {in[0], in[1] / (block * block), in[2] * block, in[3] * block});
}

static void infer_space_to_depth(NodeContext& c) {
    const std::int64_t block = c.integer("blocksize", 1);
    if (block < 1 || block > (std::int64_t{1} << 20) || c.rank(0) != 4)
        malformed("an image of rank 4 and a positive block are needed");
    const Shape& in = c.shape(0);
    c.set_output(0, c.type(0), {in[0], in[1] * block * block, in[2] / block, in[3] / block});
}

constexpr OperatorRow kMovementRows[] = {
    kOnnx.movement("Transpose", 1, infer_transpose, work_transpose,
                   "permutes axes; free when only axes of size 1 move", fold_transpose),
    kOnnx.movement("Concat", 1, infer_concat, work_concat, "joins tensors along an axis", fold_concat),
    kOnnx.movement("Slice", 1, infer_slice, work_slice, "a part of a tensor; reads only that part",
                   fold_slice),
    kOnnx.movement("Split", 1, infer_split, work_movement, "parts of a tensor along an axis", fold_split),
    kOnnx.movement("Expand", 8, infer_expand, work_copy, "broadcasts to a shape", fold_expand),
    kOnnx.movement("Tile", 1, infer_tile, work_copy, "repeats a tensor", fold_tile),
    kOnnx.movement("Pad", 1, infer_pad, work_copy, "adds a border; negative pads crop"),
    kOnnx.movement("CenterCropPad", 18, infer_center_crop_pad, work_copy, "crops or pads around the centre"),
    kOnnx.movement("DepthToSpace", 1, infer_depth_to_space, work_movement, "channels to pixels"),
    kOnnx.movement("SpaceToDepth", 1, infer_space_to_depth, work_movement, "pixels to channels"),
    kOnnx.movement("Trilu", 14, infer_same, work_movement, "upper or lower triangle, the rest zero"),
    kOnnx.movement("ReverseSequence", 10, infer_same, work_movement, "reverses sequences of given lengths"),
};

constinit const std::span<const OperatorRow> movement_rows = kMovementRows;

} // namespace archsim
