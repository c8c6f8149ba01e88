#include "import/tflite_integers.hpp"

#include "import/tflite_operator.hpp"

#include <algorithm>
#include <limits>

namespace archsim::import {

using Integers = std::vector<std::int64_t>;
constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::min();

static std::optional<std::int64_t> binary(std::int32_t code, std::int64_t a, std::int64_t b) {
    // Wraps as the file's integers do, and never overflows here.
    const auto wrap = [](std::uint64_t v) { return static_cast<std::int64_t>(v); };
    const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
    switch (code) {
    case builtin("ADD"):
        return wrap(ua + ub);
    case builtin("SUB"):
        return wrap(ua - ub);
    case builtin("MUL"):
        return wrap(ua * ub);
    case builtin("MAXIMUM"):
        return std::max(a, b);
    case builtin("MINIMUM"):
        return std::min(a, b);
    case builtin("LESS"):
        return a < b;
    case builtin("LESS_EQUAL"):
        return a <= b;
    case builtin("GREATER"):
        return a > b;
    case builtin("GREATER_EQUAL"):
        return a >= b;
    case builtin("EQUAL"):
        return a == b;
    case builtin("NOT_EQUAL"):
        return a != b;
    case builtin("LOGICAL_AND"):
        return a != 0 && b != 0;
    case builtin("LOGICAL_OR"):
        return a != 0 || b != 0;
    default:
        return std::nullopt;
    }
}

Integers counting_integers(const TfliteTensor& t, const FlatBuffer& buffer) {
    constexpr std::uint64_t kMostBytes = 64;
    return t.data_bytes <= kMostBytes ? small_integers(t, buffer).value_or(Integers{}) : Integers{};
}

std::vector<Integers> TfliteIntegers::run(const std::vector<Integers>& inputs) {
    known_.clear();
    for (std::size_t i = 0; i < graph_.inputs.size() && i < inputs.size(); ++i)
        if (!inputs[i].empty())
            known_[graph_.inputs[i]] = inputs[i];
    for (const TfliteOperator& op : graph_.operators)
        step(op);
    std::vector<Integers> out;
    for (const std::int64_t i : graph_.outputs)
        out.push_back(of(i));
    return out;
}

Integers TfliteIntegers::partly(std::int64_t index) {
    if (index < 0)
        return {};
    if (const auto it = known_.find(index); it != known_.end())
        return it->second;
    const auto [constant, fresh] = constants_.try_emplace(index);
    if (fresh)
        constant->second = counting_integers(tensor(index), buffer_);
    return constant->second;
}

Integers TfliteIntegers::of(std::int64_t index) {
    Integers known = partly(index);
    return std::ranges::find(known, kUnknown) == known.end() ? known : Integers{};
}

bool TfliteIntegers::is_integer(std::int64_t index) const {
    const DataType type = tensor(index).type;
    return type == DataType::int32 || type == DataType::int64 || type == DataType::boolean;
}

/// Shapes, and what puts integers together or takes some of them. Only a run knows a size that may be
/// resized.
bool TfliteIntegers::arrange(const TfliteOperator& op) {
    const auto code = op.code;
    Integers y;
    switch (code) {
    case builtin("SHAPE"):
        y = tensor(op.inputs[0]).shape;
        for (std::size_t i = 0; i < tensor(op.inputs[0]).signature.size() && i < y.size(); ++i)
            if (tensor(op.inputs[0]).signature[i] < 0)
                y[i] = kUnknown;
        break;
    case builtin("PACK"):
    case builtin("CONCATENATION"):
        for (const std::int64_t i : op.inputs) {
            const Integers part = partly(i);
            if (constexpr std::size_t kMost = 64; part.empty() || y.size() + part.size() > kMost)
                return true;
            y.insert(y.end(), part.begin(), part.end());
        }
        break;
    case builtin("STRIDED_SLICE"): {
        if (op.inputs.size() < 4)
            return true;
        const Integers x = partly(op.inputs[0]), begin = of(op.inputs[1]), end = of(op.inputs[2]),
                       stride = of(op.inputs[3]);
        if (x.empty() || begin.size() != 1 || end.size() != 1 || stride != Integers{1})
            return true;
        const auto size = static_cast<std::int64_t>(x.size());
        const auto place = [&](std::int64_t at) {
            return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
        };
        const auto mask = [&](unsigned field) {
            return op.options && (op.options->number<std::int32_t>(field, 0) & 1) != 0;
        };
        const std::int64_t first = mask(0) ? 0 : place(begin.front());
        const std::int64_t last = mask(4) ? first + 1 : mask(1) ? size : place(end.front());
        for (std::int64_t i = first; i < std::min(last, size); ++i)
            y.push_back(x[static_cast<std::size_t>(i)]);
        break;
    }
    default:
        return false;
    }
    if (!y.empty() && is_integer(op.outputs[0]))
        known_[op.outputs[0]] = std::move(y);
    return true;
}

void TfliteIntegers::step(const TfliteOperator& op) {
    if (op.inputs.empty() || op.outputs.empty())
        return;
    const auto code = op.code;
    if (arrange(op))
        return;
    const Integers a = of(op.inputs[0]);
    switch (code) {
    case builtin("RESHAPE"):
    case builtin("SQUEEZE"):
    case builtin("EXPAND_DIMS"):
    case builtin("CAST"):
        if (!a.empty() && is_integer(op.outputs[0]))
            known_[op.outputs[0]] = a;
        return;
    case builtin("LOGICAL_NOT"):
        if (!a.empty())
            for (const std::int64_t v : a)
                known_[op.outputs[0]].push_back(v == 0);
        return;
    default:
        break;
    }
    if (op.inputs.size() != 2 || !is_integer(op.outputs[0]))
        return;
    const Integers b = of(op.inputs[1]);
    // The conjunction of a limit that is known and one that is not stays below the known one.
    if (code == builtin("LOGICAL_AND") && a.empty() != b.empty()) {
        const Integers& one = a.empty() ? b : a;
        if (one.size() == 1 && one.front() == 0)
            known_[op.outputs[0]] = one;
        return;
    }
    if (a.empty() || b.empty() || (a.size() != b.size() && a.size() != 1 && b.size() != 1))
        return;
    Integers y;
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
        const auto v = binary(code, a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
        if (!v)
            return;
        y.push_back(*v);
    }
    known_[op.outputs[0]] = std::move(y);
}

} // namespace archsim::import
