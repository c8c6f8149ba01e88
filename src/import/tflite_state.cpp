// State that outlives an inference (variables of streaming networks), and lists of tensors, which loops of
// Keras read and fill one element a turn.

#include "import/tflite_operator.hpp"

#include <algorithm>

namespace archsim::import {

namespace {

/// The value is what the last inference, or the initialisation, left there: nothing that is known when the
/// network is built.
void add_read(const TfliteCall& c) {
    TfliteGraph& g = c.graph();
    const TfliteTensor& t = g.tensor(c.out());
    const TensorId id = g.emit_own("READ_VARIABLE", std::vector<TensorId>{},
                                   {{"shape", t.shape}, {"type", static_cast<std::int64_t>(t.type)}});
    g.declare(id, c.out());
    g.set_raw(c.out(), id);
}

void add_assign(const TfliteCall& c) {
    TfliteGraph& g = c.graph();
    g.keep(g.emit_own("ASSIGN_VARIABLE", {g.raw(c.in(1))}, TfliteAttributes{}));
}

/// A list is the tensor of its elements, the first axis counting them. Axes of the elements that the file
/// leaves open are 1 until an element is written.
TensorId reserved(const TfliteCall& c) {
    TfliteGraph& g = c.graph();
    std::vector<std::int64_t> element = g.computed(c.in(0)).value_or(std::vector<std::int64_t>{});
    for (std::int64_t& size : element)
        size = std::max<std::int64_t>(size, 1);
    const auto length = g.computed(c.in(1));
    const TensorId count = length ? g.ints({length->front()}) : g.emit("Reshape", {c.get(1), g.ints({1})});
    return g.emit_own("TENSOR_LIST_RESERVE", {g.ints(std::move(element)), count}, TfliteAttributes{});
}

bool add_list(const TfliteCall& c) {
    TfliteGraph& g = c.graph();
    std::string_view name = c.op().custom;
    if (constexpr std::string_view kFlex = "Flex"; name.starts_with(kFlex))
        name.remove_prefix(kFlex.size());
    const auto set = [&](TensorId id) { g.set(c.out(), id, AxisOrder::file, false); };
    if (name == "TensorListReserve")
        set(reserved(c));
    else if (name == "TensorListFromTensor" || name == "TensorListStack")
        set(g.emit("Identity", {c.get(0)}));
    else if (name == "TensorListGetItem")
        set(g.emit("Gather", {c.get(0), c.get(1)}, {{"axis", std::int64_t{0}}}));
    else if (name == "TensorListSetItem")
        set(g.emit_own("TENSOR_LIST_SET_ITEM", {c.get(0), c.get(1), c.get(2)}, TfliteAttributes{}));
    else if (name == "TensorListLength")
        set(g.emit("Gather", {g.emit("Shape", {c.get(0)}), g.ints({0})}, {{"axis", std::int64_t{0}}}));
    else
        return false;
    return true;
}

constexpr TfliteRow kRowsState[] = {
    {"VAR_HANDLE", [](const TfliteCall&) {}}, // a name, no bytes
    {"READ_VARIABLE", add_read},
    {"ASSIGN_VARIABLE", add_assign},
    {"CUSTOM", nullptr, add_list},
};
static_assert(are_built_in(kRowsState));

} // namespace

bool add_tflite_state(const TfliteCall& c) {
    return add_by_row(kRowsState, c);
}

} // namespace archsim::import
