// Recurrent layers. The input projection of all steps is one matrix product; the recurrence is one small
// product per step, each waiting for the one before (Appleyard et al., arXiv:1604.01946).

#include "ops/common.hpp"
#include "ops/families.hpp"

namespace archsim {

namespace {

struct Recurrence {
    std::int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 1;
    bool batch_first = false;
};

/// `hidden`: the axis of the recurrence weights that is one unit wide.
Recurrence sizes_of(const NodeContext& c, bool batch_first, std::int64_t hidden) {
    return {c.dim(0, batch_first ? 1 : 0),
            c.dim(0, batch_first ? 0 : 1),
            c.dim(0, 2),
            c.dim(2, hidden),
            c.dim(1, 0),
            batch_first};
}

Recurrence recurrence_of(const NodeContext& c) {
    if (c.rank(0) != 3 || c.rank(1) != 3 || c.rank(2) != 3)
        malformed("input, weights and recurrence weights need rank 3");
    return sizes_of(c, c.integer("layout", 0) != 0, 2);
}

/// Weights are [directions, inputs, gates x hidden] in 8 bits, inputs quantised on the fly.
Recurrence dynamic_recurrence(const NodeContext& c) {
    return sizes_of(c, false, 1);
}

template <Recurrence (*Sizes)(const NodeContext&)>
void infer_recurrent(NodeContext& c) {
    const Recurrence r = Sizes(c);
    if (r.batch_first)
        c.set_output(0, c.type(0), {r.batch, r.steps, r.directions, r.hidden});
    else
        c.set_output(0, c.type(0), {r.steps, r.directions, r.batch, r.hidden});
    const Shape last =
        r.batch_first ? Shape{r.batch, r.directions, r.hidden} : Shape{r.directions, r.batch, r.hidden};
    c.set_output(1, c.type(0), last);
    c.set_output(2, c.type(0), last);
}

/// Gates per hidden unit, and what one unit takes per step outside the products.
void count(NodeContext& c, double gates, ElementCost per_unit, bool peepholes) {
    const Recurrence r = recurrence_of(c);
    const auto directions = static_cast<double>(r.directions), steps = static_cast<double>(r.steps);
    const auto batch = static_cast<double>(r.batch), hidden = static_cast<double>(r.hidden);
    recurrent_work(c, {directions, steps, batch, static_cast<double>(r.inputs), hidden, gates * hidden,
                       c.is_constant(1), c.is_constant(2)});
    OperatorWork& work = c.work();
    const double units = directions * steps * batch * hidden;
    // Summing both products, and the two biases where they are given.
    const double sums = gates * (c.has_input(3) ? 3 : 1);
    work.vector_ops = units * (per_unit.vector + sums + (peepholes ? 6 : 0));
    work.special_ops = units * per_unit.special;
    mark_learned(c, {1u, 2u, 3u});
    if (peepholes)
        c.mark_learned(7);
}

/// Three sigmoids (2 special, 2 vector each), two tanh, and c = f c + i g, h = o tanh(c).
void work_lstm(NodeContext& c) {
    count(c, 4, {10, 8}, c.has_input(7));
}

/// Two sigmoids, one tanh, and h = (1 - z) n + z h with the reset product.
void work_gru(NodeContext& c) {
    count(c, 3, {9, 5}, false);
}

void work_rnn(NodeContext& c) {
    count(c, 1, {0, 1}, false);
}

void work_dynamic_lstm(NodeContext& c) {
    const Recurrence r = dynamic_recurrence(c);
    recurrent_work(c, {static_cast<double>(r.directions), static_cast<double>(r.steps),
                       static_cast<double>(r.batch), static_cast<double>(r.inputs),
                       static_cast<double>(r.hidden), 4 * static_cast<double>(r.hidden)});
    const double units = c.output(0).elements();
    c.work().vector_ops = 26 * units + 6 * c.elements(0);
    c.work().special_ops = 8 * units;
    run_int8(c);
    mark_learned(c, {1u, 2u, 3u});
    mark_learned_from(c, 8, false);
}

constexpr OperatorRow kRecurrentRows[] = {
    kOnnx.recurrent("LSTM", 1, infer_recurrent<recurrence_of>, work_lstm,
                    "long short-term memory: 4 gates; one input projection, then dependent steps"),
    kOnnx.recurrent("GRU", 1, infer_recurrent<recurrence_of>, work_gru,
                    "gated recurrent unit: 3 gates; one input projection, then dependent steps"),
    kOnnx.recurrent("RNN", 1, infer_recurrent<recurrence_of>, work_rnn,
                    "plain recurrence: one input projection, then dependent steps"),
    kMicrosoft.recurrent("DynamicQuantizeLSTM", 1, infer_recurrent<dynamic_recurrence>, work_dynamic_lstm,
                         "LSTM with 8-bit weights, inputs quantised on the fly"),
};

} // namespace

constinit const std::span<const OperatorRow> recurrent_rows = kRecurrentRows;

} // namespace archsim
