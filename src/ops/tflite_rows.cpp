// Operators of TensorFlow Lite that ONNX has no counterpart of, under the names of its schema.

#include "ops/families.hpp"

namespace archsim {

// --- Blocks of pixels to the batch and back

struct Blocks {
    const std::vector<std::int64_t>&block, &amounts, &axes;
};

static Blocks blocks_of(const NodeContext& c, std::string_view amounts) {
    const auto *block = c.integers("block_shape"), *edges = c.integers(amounts), *axes = c.integers("axes");
    if (!block || !edges || !axes || axes->size() != block->size() || edges->size() != 2 * block->size())
        malformed("blocks, axes and edges do not fit each other");
    for (const std::int64_t b : *block)
        if (b < 1 || b > (std::int64_t{1} << 20))
            malformed("a block must be a positive number");
    return {*block, *edges, *axes};
}

static std::int64_t checked(bool overflow, std::int64_t value) {
    if (overflow)
        throw NodeProblem{FindingKind::too_large, "the blocks overflow", "check the blocks"};
    return value;
}

static void infer_space_to_batch(NodeContext& c) {
    const Blocks b = blocks_of(c, "paddings");
    Shape out = c.shape(0);
    for (std::size_t i = 0; i < b.block.size(); ++i) {
        const std::size_t axis = normalized_axis(b.axes[i], out.size());
        const std::int64_t padded = out[axis] + b.amounts[2 * i] + b.amounts[2 * i + 1];
        if (padded < 0 || padded % b.block[i] != 0)
            malformed("the padded size does not divide by the block");
        out[axis] = padded / b.block[i];
        std::int64_t batch = 0;
        const bool overflow = __builtin_mul_overflow(out[0], b.block[i], &batch);
        out[0] = checked(overflow, batch);
    }
    c.set_output(0, c.type(0), std::move(out));
}

static void infer_batch_to_space(NodeContext& c) {
    const Blocks b = blocks_of(c, "crops");
    Shape out = c.shape(0);
    for (std::size_t i = 0; i < b.block.size(); ++i) {
        const std::size_t axis = normalized_axis(b.axes[i], out.size());
        if (out[0] % b.block[i] != 0)
            malformed("the batch does not divide by the block");
        out[0] /= b.block[i];
        std::int64_t size = 0;
        const bool overflow = __builtin_mul_overflow(out[axis], b.block[i], &size);
        out[axis] = checked(overflow, size) - b.amounts[2 * i] - b.amounts[2 * i + 1];
    }
    c.set_output(0, c.type(0), std::move(out));
}

// --- Recurrent layers, gate by gate

/// Places of the operands: x, 4 x input weights, 4 x state weights, 3 peepholes, 4 biases, projection, its
/// bias, 4 coefficients of layer normalisation.
enum : std::size_t { kInput = 1, kForget = 2, kState = 5, kPeephole = 9, kProjection = 16, kNorm = 18 };

struct Steps {
    std::int64_t steps = 1, batch = 1, inputs = 0;
    bool time_major = false;
};

static Steps steps_of(const NodeContext& c) {
    Steps s;
    s.time_major = c.integer("time_major", 0) != 0;
    if (c.rank(0) != 2 && c.rank(0) != 3)
        malformed("the input needs rank 2 or 3");
    s.inputs = c.dim(0, -1);
    if (c.rank(0) == 3) {
        s.steps = c.dim(0, s.time_major ? 0 : 1);
        s.batch = c.dim(0, s.time_major ? 1 : 0);
    } else {
        s.batch = c.dim(0, 0);
    }
    return s;
}

static void set_sequence_output(NodeContext& c, std::int64_t width) {
    Shape out = c.shape(0);
    out.back() = width;
    c.set_output(0, c.type(0), std::move(out));
}

static void infer_sequence_lstm(NodeContext& c) {
    steps_of(c);
    if (c.rank(kForget) != 2 || c.dim(kForget, 1) != c.dim(0, -1))
        malformed("the input weights do not fit the input");
    set_sequence_output(c, c.has_input(kProjection) ? c.dim(kProjection, 0) : c.dim(kForget, 0));
}

static void work_sequence_lstm(NodeContext& c) {
    const Steps s = steps_of(c);
    const double gates = c.has_input(kInput) ? 4 : 3; // a coupled input gate is what the forget gate leaves
    const auto hidden = extent(c, kForget, 0);
    const auto state = static_cast<double>(c.output(0).shape.back());
    const auto steps = static_cast<double>(s.steps), batch = static_cast<double>(s.batch);
    recurrent_work(c, {1, steps, batch, static_cast<double>(s.inputs), state, gates * hidden,
                       c.is_constant(kForget), c.is_constant(kState + 1)});
    const double units = steps * batch * hidden;
    if (c.has_input(kProjection)) // of each step's state
        add_product(c, {.groups = steps,
                        .m = batch,
                        .n = state,
                        .k = hidden,
                        .weights_constant = c.is_constant(kProjection)});
    // Sigmoids and tanh as in an LSTM of ONNX: 2 and 2 operations a gate, c = f c + i g, h = o tanh(c), and
    // the two sums of products and bias.
    c.work().vector_ops = units * (2 * gates + 2 + 2 * gates + (c.has_input(kPeephole + 1) ? 6 : 0) +
                                   (c.has_input(kNorm + 1) ? 5 * gates : 0));
    c.work().special_ops = units * 2 * gates;
    mark_learned_from(c, 1, true);
}

static void infer_sequence_rnn(NodeContext& c) {
    steps_of(c);
    set_sequence_output(c, c.dim(1, 0));
}

static void work_sequence_rnn(NodeContext& c) {
    const Steps s = steps_of(c);
    const auto hidden = extent(c, 1, 0);
    const auto steps = static_cast<double>(s.steps), batch = static_cast<double>(s.batch);
    recurrent_work(c, {1, steps, batch, static_cast<double>(s.inputs), hidden, hidden, c.is_constant(1),
                       c.is_constant(2)});
    c.work().vector_ops = 2 * steps * batch * hidden;
    c.work().special_ops = steps * batch * hidden;
    mark_learned_from(c, 1, true);
}

/// x [batch, inputs], state before [batch, hidden], weights [4 hidden, inputs + hidden], bias, cell before.
static void infer_basic_lstm(NodeContext& c) {
    const std::int64_t batch = c.dim(0, 0), hidden = c.dim(1, 1), inputs = c.dim(0, 1);
    c.set_output(0, c.type(0), {batch, hidden});
    c.set_output(1, c.type(0), {batch, hidden});
    c.set_output(2, c.type(0), {batch, inputs + hidden});
    c.set_output(3, c.type(0), {batch, 4 * hidden});
}

static void work_basic_lstm(NodeContext& c) {
    Contraction product{.m = extent(c, 0, 0),
                        .n = extent(c, 2, 0),
                        .k = extent(c, 2, 1),
                        .weights_constant = c.is_constant(2)};
    add_product(c, product);
    const double units = product.m * extent(c, 1, 1);
    c.work().vector_ops = 14 * units;
    c.work().special_ops = 8 * units;
    mark_learned(c, {2, 3});
}

/// Weights of features [filters, inputs] and of time [filters, memory]; `rank` filters make a unit.
static void infer_svdf(NodeContext& c) {
    const std::int64_t rank = c.integer("rank", 1);
    if (c.rank(0) != 2 || c.rank(1) != 2 || c.rank(2) != 2 || rank < 1 || c.dim(1, 0) % rank != 0 ||
        c.dim(1, 1) != c.dim(0, 1) || c.dim(2, 0) != c.dim(1, 0))
        malformed("the weights do not fit the input and the rank");
    c.set_output(0, c.type(0), {c.dim(0, 0), c.dim(1, 0) / rank});
}

static void work_svdf(NodeContext& c) {
    const auto batch = extent(c, 0, 0), filters = extent(c, 1, 0);
    const Contraction features{
        .m = batch, .n = filters, .k = extent(c, 1, 1), .weights_constant = c.is_constant(1)};
    const Contraction time{
        .groups = filters, .m = batch, .k = extent(c, 2, 1), .weights_constant = c.is_constant(2)};
    c.work().contractions = {features, time};
    c.work().macs = features.macs() + time.macs();
    c.work().vector_ops = batch * filters; // sums of the filters of a unit, and its bias
    mark_learned(c, {1u, 2u, 3u});
}

// --- What is left

static void infer_detections(NodeContext& c) {
    const std::int64_t kept = c.integer("detections", 0), batch = c.dim(0, 0);
    if (kept <= 0)
        malformed("nothing says how many boxes are kept");
    c.set_output(0, DataType::float32, {batch, kept, 4});
    c.set_output(1, DataType::float32, {batch, kept});
    c.set_output(2, DataType::float32, {batch, kept});
    c.set_output(3, DataType::float32, {batch});
}

/// Every box is decoded (4 operations and half an exponential a coordinate) and its best class found; then a
/// sort, and each kept box meets every other: 12 operations and a division. The regular way does the last two
/// for every class.
static void work_detections(NodeContext& c) {
    const double boxes = c.elements(0) / 4;
    const double classes = c.elements(1) / std::max(boxes, 1.0);
    const bool regular = c.integer("regular", 0) != 0;
    const double lists = regular ? classes : 1;
    const double kept =
        std::min(boxes, static_cast<double>(c.integer(regular ? "per_class" : "detections", 0)));
    const double pairs = lists * std::min(kept * boxes, boxes * (boxes - 1) / 2);
    c.work().vector_ops = 16 * boxes + boxes * classes;
    c.work().special_ops = 2 * boxes;
    suppression_work(c, lists, boxes, pairs);
    c.mark_learned(2, false);
}

/// Input `Part` is written; the rest of the first operand stays where it is.
template <std::size_t Part>
static void work_update(NodeContext& c) {
    read_part(c, 0, 0.0);
    c.work().partial_write = c.elements(Part);
}

static void infer_read_variable(NodeContext& c) {
    const auto* shape = c.integers("shape");
    c.set_output(0, data_type_attribute(c, "type", DataType::float32), shape ? *shape : Shape{});
}

/// Shape of an element, then their number.
static void infer_list(NodeContext& c) {
    Shape shape = c.ints(0);
    shape.insert(shape.begin(), c.scalar_int(1));
    c.set_output(0, DataType::float32, std::move(shape));
}

/// list, index, element
static void infer_list_item(NodeContext& c) {
    Shape shape = c.shape(2);
    shape.insert(shape.begin(), c.rank(0) > 0 ? c.dim(0, 0) : 1);
    c.set_output(0, c.type(2), std::move(shape));
}

constexpr RowKinds kTflite{kTfliteDomain};

constexpr OperatorRow kTfliteRows[] = {
    kTflite.movement("SPACE_TO_BATCH_ND", 1, infer_space_to_batch, work_movement,
                     "blocks of pixels to the batch, with padding"),
    kTflite.movement("BATCH_TO_SPACE_ND", 1, infer_batch_to_space, work_movement,
                     "the batch to blocks of pixels, cropped"),
    kTflite.recurrent("UNIDIRECTIONAL_SEQUENCE_LSTM", 1, infer_sequence_lstm, work_sequence_lstm,
                      "LSTM gate by gate: coupled gates, peepholes, a projection of the state"),
    kTflite.recurrent("UNIDIRECTIONAL_SEQUENCE_RNN", 1, infer_sequence_rnn, work_sequence_rnn,
                      "plain recurrence: one input projection, then dependent steps"),
    kTflite.recurrent("BASIC_LSTM", 1, infer_basic_lstm, work_basic_lstm,
                      "one step of an LSTM with one matrix for all gates"),
    kTflite.product("SVDF", 1, infer_svdf, work_svdf,
                    "a layer of rank-1 filters: features of this step, then weights over the last ones"),
    kTflite.sorting("TFLite_Detection_PostProcess", 1, infer_detections, work_detections,
                    "boxes from anchors, then greedy suppression of overlapping ones"),
    kTflite.movement("DYNAMIC_UPDATE_SLICE", 1, infer_same, work_update<1>,
                     "writes a part of a tensor, in place"),
    of_run(kTflite.movement("READ_VARIABLE", 1, infer_read_variable, work_movement,
                            "state that the last inference left")),
    of_run(kTflite.movement("ASSIGN_VARIABLE", 1, infer_same, work_movement, "state for the next inference")),
    kTflite.transparent("TENSOR_LIST_RESERVE", 1, infer_list, work_free,
                        "a list of tensors as one tensor, to be filled"),
    kTflite.movement("TENSOR_LIST_SET_ITEM", 1, infer_list_item, work_update<2>,
                     "writes an element of a list, in place"),
};

constinit const std::span<const OperatorRow> tflite_rows = kTfliteRows;

} // namespace archsim
