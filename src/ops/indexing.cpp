// Operators that pick or place elements by index.

#include "ops/families.hpp"

#include <cmath>

namespace archsim {

/// Reads `count` elements of input 0 where that is less than all of it.
static void read_part(NodeContext& c, double count) {
    if (count < c.elements(0))
        read_part(c, 0, count);
}

static void infer_gather(NodeContext& c) {
    const std::size_t axis = normalized_axis(c.integer("axis", 0), c.shape(0).size());
    c.set_output(0, c.type(0), gathered_shape(c.shape(0), c.shape(1), axis));
}

static void work_gather(NodeContext& c) {
    read_part(c, c.output(0).elements());
}

static void fold_gather(NodeContext& c) {
    const Constant &data = known_value(c, 0), &indices = known_value(c, 1);
    Constant to = blank_value(c, 0);
    const std::size_t axis = normalized_axis(c.integer("axis", 0), data.shape.size());
    const auto size = data.shape[axis];
    const auto outer = static_cast<std::size_t>(product(std::span(data.shape).first(axis)));
    const auto inner = static_cast<std::size_t>(product(std::span(data.shape).subspan(axis + 1)));
    for (std::size_t o = 0; o < outer; ++o)
        for (std::int64_t index : indices.ints) {
            if (index < 0)
                index += size;
            if (index < 0 || index >= size)
                malformed("an index is outside the axis of size " + std::to_string(size));
            for (std::size_t i = 0; i < inner; ++i)
                append_from(to, data,
                            (o * static_cast<std::size_t>(size) + static_cast<std::size_t>(index)) * inner +
                                i);
        }
    c.set_value(0, std::move(to));
}

static void infer_gather_nd(NodeContext& c) {
    const Shape &data = c.shape(0), &indices = c.shape(1);
    const std::int64_t batch = c.integer("batch_dims", 0);
    if (indices.empty())
        malformed("the indices need at least one axis");
    const std::int64_t depth = indices.back() + batch;
    if (batch < 0 || depth < 0 || depth > static_cast<std::int64_t>(data.size()))
        malformed("the index tuples are longer than the rank of the data");
    Shape out(indices.begin(), indices.end() - 1);
    out.insert(out.end(), data.begin() + static_cast<std::ptrdiff_t>(depth), data.end());
    c.set_output(0, c.type(0), std::move(out));
}

/// An index tuple of a small known tensor, as exporters write for shape[i].
static void fold_gather_nd(NodeContext& c) {
    const Constant &data = known_value(c, 0), &indices = known_value(c, 1);
    if (data.shape.size() != 1 || c.integer("batch_dims", 0) != 0 || indices.shape.empty() ||
        indices.shape.back() != 1)
        return;
    Constant to = blank_value(c, 0);
    for (std::int64_t index : indices.ints) {
        if (index < 0)
            index += data.shape[0];
        if (index < 0 || index >= data.shape[0])
            malformed("an index is outside the data");
        append_from(to, data, static_cast<std::size_t>(index));
    }
    c.set_value(0, std::move(to));
}

// --- Scatter: data, indices, updates. A runtime updates the data in place where it can, so the work is the
// updates.

static void work_scatter(NodeContext& c) {
    const double updates = c.has_input(2) ? c.elements(2) : 0;
    c.work().vector_ops = c.text("reduction", "none") == "none" ? 0 : updates;
    read_part(c, 0, 0.0);
    c.work().partial_write = updates;
    if (c.input(0).role != TensorRole::intermediate || c.is_constant(0)) {
        c.work().partial_reads.clear(); // copied first
        c.work().partial_write.reset();
    }
}

static void fold_scatter_nd(NodeContext& c) {
    const Constant &data = known_value(c, 0), &indices = known_value(c, 1), &updates = known_value(c, 2);
    if (data.shape.size() != 1 || indices.shape.empty() || indices.shape.back() != 1 ||
        c.text("reduction", "none") != "none" || value_count(updates) != indices.ints.size())
        return;
    Constant to = data;
    for (std::size_t i = 0; i < indices.ints.size(); ++i) {
        const std::int64_t at = indices.ints[i] < 0 ? indices.ints[i] + data.shape[0] : indices.ints[i];
        if (at < 0 || at >= data.shape[0])
            malformed("an index is outside the data");
        const auto k = static_cast<std::size_t>(at);
        if (!to.ints.empty() && !updates.ints.empty())
            to.ints[k] = updates.ints[i];
        else if (!to.reals.empty() && !updates.reals.empty())
            to.reals[k] = updates.reals[i];
        else
            return;
    }
    c.set_value(0, std::move(to));
}

static void work_tensor_scatter(NodeContext& c) {
    read_part(c, 0, 0.0);
    c.work().partial_write = c.elements(1);
    c.mark_kv_cache_input(0);
    c.mark_kv_cache_output(0);
}

static void infer_one_hot(NodeContext& c) {
    Shape out = c.shape(0);
    const std::size_t axis = normalized_axis(c.integer("axis", -1), out.size() + 1);
    const Constant* depth = c.value(1);
    if (!depth)
        static_cast<void>(c.ints(1));
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(axis), saturated_int(number_at(*depth, 0)));
    c.set_output(0, c.type(2), std::move(out));
}

// --- Data-dependent counts

/// Multi-indices of the non-zero elements, exact for known values.
static void infer_non_zero(NodeContext& c) {
    const auto rank = static_cast<std::int64_t>(std::max<std::size_t>(c.shape(0).size(), 1));
    if (const Constant* value = c.value(0); value && value->strings.empty()) {
        Constant places;
        const std::size_t count = value_count(*value);
        std::vector<std::size_t> hits;
        for (std::size_t i = 0; i < count; ++i)
            if (number_at(*value, i) != 0.0)
                hits.push_back(i);
        c.set_output(0, DataType::int64, {rank, static_cast<std::int64_t>(hits.size())});
        places = blank_value(c, 0);
        std::size_t below = count;
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis) {
            const auto d =
                value->shape.empty() ? std::size_t{1} : static_cast<std::size_t>(value->shape[axis]);
            below = d > 0 ? below / d : 0;
            for (const std::size_t hit : hits)
                places.ints.push_back(static_cast<std::int64_t>(hit / std::max<std::size_t>(below, 1) % d));
        }
        c.set_value(0, std::move(places));
        return;
    }
    const std::int64_t bound = saturated_int(c.elements(0));
    c.set_output(0, DataType::int64, {rank, c.data_dependent_dim(0, 1, bound, "every element is non-zero")});
    c.output(0).data_dependent = true;
}

static void infer_compress(NodeContext& c) {
    const auto* axis = c.attribute("axis");
    Shape out = axis ? c.shape(0) : Shape{saturated_int(c.elements(0))};
    std::int64_t& size = out[axis ? normalized_axis(c.integer("axis", 0), out.size()) : 0];
    if (const Constant* condition = c.value(1)) {
        const auto taken = std::ranges::count_if(condition->ints, [](std::int64_t v) { return v != 0; });
        size = std::min<std::int64_t>(size, taken);
    } else {
        const std::size_t place = axis ? normalized_axis(c.integer("axis", 0), out.size()) : 0;
        size = c.data_dependent_dim(0, place, std::min(size, c.dim(1, 0)), "every element is selected");
    }
    c.set_output(0, c.type(0), std::move(out));
}

static void infer_unique(NodeContext& c) {
    const auto* axis = c.attribute("axis");
    Shape out = axis ? c.shape(0) : Shape{saturated_int(c.elements(0))};
    const std::size_t place = axis ? normalized_axis(c.integer("axis", 0), out.size()) : 0;
    const std::int64_t all = out[place];
    std::int64_t size = 0;
    if (const Constant* value = c.value(0); value && out.size() == 1 && value->strings.empty()) {
        std::vector<double> sorted;
        for (std::size_t i = 0; i < value_count(*value); ++i)
            sorted.push_back(number_at(*value, i));
        std::ranges::sort(sorted);
        size = std::unique(sorted.begin(), sorted.end()) - sorted.begin();
    } else {
        size = c.data_dependent_dim(0, place, all, "every element is different");
        for (std::size_t i = 1; i < c.output_count(); ++i)
            if (i != 2)
                c.output(i).data_dependent = true;
    }
    out[place] = size;
    c.set_output(0, c.type(0), std::move(out));
    if (c.node().domain == kMicrosoftDomain) { // inverse places, counts
        c.set_output(1, DataType::int64, {all});
        c.set_output(2, DataType::int64, {size});
        return;
    }
    c.set_output(1, DataType::int64, {size});
    c.set_output(2, DataType::int64, {all});
    c.set_output(3, DataType::int64, {size});
}

static void infer_top_k(NodeContext& c) {
    Shape out = c.shape(0);
    const std::size_t axis = normalized_axis(c.integer("axis", -1), out.size());
    std::int64_t k = 0;
    if (!c.has_input(1))
        k = c.integer("k", 0);
    else if (c.value(1))
        k = c.scalar_int(1);
    else
        k = c.data_dependent_dim(0, axis, out[axis], "k is the whole axis");
    if (k > out[axis])
        sizes_differ("k = " + std::to_string(k) + " exceeds the axis of " + std::to_string(out[axis]));
    if (c.has_input(1) && !c.value(1))
        c.output(1).data_dependent = true;
    out[axis] = k;
    c.set_output(0, c.type(0), out);
    c.set_output(1, DataType::int64, std::move(out));
}

/// A heap of k over n values: about log2(k) + 1 comparisons each.
static void work_top_k(NodeContext& c) {
    const auto k =
        static_cast<double>(c.output(0).shape[normalized_axis(c.integer("axis", -1), c.shape(0).size())]);
    c.work().vector_ops = c.elements(0) * (std::log2(std::max(k, 1.0)) + 1);
}

/// A sort of n values takes n log2 n comparisons.
static void work_sort(NodeContext& c) {
    const double n = c.elements(0);
    c.work().vector_ops = n * std::log2(std::max(n, 2.0));
}

/// boxes [batch, boxes, 4], scores [batch, classes, boxes], max_output_boxes_per_class.
static void infer_nms(NodeContext& c) {
    const std::int64_t batch = c.dim(1, 0), classes = c.dim(1, 1), boxes = c.dim(1, 2);
    std::int64_t per_class = boxes;
    if (const auto limit = c.scalar(2))
        per_class = std::clamp<std::int64_t>(saturated_int(*limit), 0, boxes);
    if (!c.has_input(2))
        per_class = 0;
    const double bound =
        static_cast<double>(batch) * static_cast<double>(classes) * static_cast<double>(per_class);
    c.set_output(
        0, DataType::int64,
        {c.data_dependent_dim(0, 0, saturated_int(bound),
                              "batch x classes x the smaller of the boxes and max_output_boxes_per_class"),
         3});
}

static void work_nms(NodeContext& c) {
    const auto lists = extent(c, 1, 0) * extent(c, 1, 1);
    const auto boxes = extent(c, 1, 2);
    const double kept = lists > 0 ? static_cast<double>(c.output(0).shape[0]) / lists : 0;
    const double pairs = lists * std::min(kept * boxes, boxes * (boxes - 1) / 2);
    suppression_work(c, lists, boxes, pairs);
}

constexpr OperatorRow kIndexingRows[] = {
    kOnnx.movement("Gather", 1, infer_gather, work_gather, "rows by index; reads only those rows",
                   fold_gather),
    kOnnx.movement("GatherElements", 11, infer_like<0, 1>, work_gather, "elements by index along an axis"),
    kOnnx.movement("GatherND", 11, infer_gather_nd, work_gather, "slices by index tuples", fold_gather_nd),
    kOnnx.movement("Scatter", 9, infer_same, work_scatter,
                   "places elements by index (older ScatterElements)"),
    kOnnx.movement("ScatterElements", 11, infer_same, work_scatter, "places elements by index along an axis"),
    kOnnx.movement("ScatterND", 11, infer_same, work_scatter, "places slices by index tuples",
                   fold_scatter_nd),
    kOnnx.movement("TensorScatter", 24, infer_same, work_tensor_scatter,
                   "writes new keys or values into a cache, in place"),
    kOnnx.movement("OneHot", 9, infer_one_hot, work_movement, "one-hot rows"),
    kOnnx.sorting("NonZero", 9, infer_non_zero, work_per_input, {1, 0},
                  "places of the non-zero elements; upper bound: all elements"),
    kOnnx.sorting("Compress", 9, infer_compress, work_per_input, {1, 0},
                  "selected slices; upper bound: all of them"),
    kOnnx.sorting("Unique", 11, infer_unique, work_sort, {1, 0},
                  "distinct elements by sorting; upper bound: all of them"),
    kOnnx.sorting("TopK", 1, infer_top_k, work_top_k, {1, 0},
                  "k largest or smallest along an axis, by a heap"),
    kOnnx.sorting("NonMaxSuppression", 10, infer_nms, work_nms, {1, 0},
                  "greedy suppression of overlapping boxes; upper bound: the limit per class and image"),
};

constinit const std::span<const OperatorRow> indexing_rows = kIndexingRows;

} // namespace archsim
