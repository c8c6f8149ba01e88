// Operators by their names, and the integers of constants and of what is computed of them.

#include "core/lists.hpp"
#include "import/tflite.hpp"

#include <fmt/format.h>
#include <limits>

namespace archsim::import {

std::string name_of_call(const TfliteOperator& op) {
    if (op.code == builtin("CUSTOM"))
        return op.custom.empty() ? "CUSTOM" : op.custom;
    const std::string_view name = builtin_name(op.code);
    return name.empty() ? fmt::format("BuiltinOperator{}", op.code) : std::string(name);
}

bool add_by_row(std::span<const TfliteRow> rows, const TfliteCall& c) {
    for (const TfliteRow& row : rows)
        if (row.name == builtin_name(c.code())) {
            if (row.add == nullptr && !row.try_to_add(c))
                continue;
            if (row.add != nullptr)
                row.add(c);
            return true;
        }
    return false;
}

std::optional<std::vector<std::int64_t>> small_integers(const TfliteTensor& t, const FlatBuffer& buffer) {
    const std::size_t width = t.type == DataType::int64     ? 8
                              : t.type == DataType::int32   ? 4
                              : t.type == DataType::boolean ? 1
                                                            : 0;
    if (!t.constant() || width == 0 || t.data_bytes > width * kMaxConstantElements ||
        t.data_bytes % width != 0)
        return std::nullopt;
    std::uint64_t elements = 1;
    for (const std::int64_t n : t.shape)
        elements = n > static_cast<std::int64_t>(kMaxConstantElements)
                       ? 0
                       : elements * static_cast<std::uint64_t>(n);
    if (elements != t.data_bytes / width)
        return std::nullopt;
    std::vector<std::int64_t> values;
    for (std::uint64_t at = t.data; at < t.data + t.data_bytes; at += width)
        values.push_back(width == 8   ? static_cast<std::int64_t>(buffer.number<std::uint64_t>(at))
                         : width == 4 ? static_cast<std::int32_t>(buffer.number<std::uint32_t>(at))
                                      : buffer.number<std::uint8_t>(at));
    return values;
}

using Integers = std::vector<std::int64_t>;
constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::min();

static std::optional<std::int64_t> binary(std::int32_t code, std::int64_t a, std::int64_t b) {
    // Wraps as the file's integers do, and never overflows here.
    const auto wrap = [](std::uint64_t v) { return static_cast<std::int64_t>(v); };
    const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
    using Value = std::optional<std::int64_t>;
    return code == builtin("ADD")             ? Value(wrap(ua + ub))
           : code == builtin("SUB")           ? Value(wrap(ua - ub))
           : code == builtin("MUL")           ? Value(wrap(ua * ub))
           : code == builtin("MAXIMUM")       ? Value(std::max(a, b))
           : code == builtin("MINIMUM")       ? Value(std::min(a, b))
           : code == builtin("LESS")          ? Value(a < b)
           : code == builtin("LESS_EQUAL")    ? Value(a <= b)
           : code == builtin("GREATER")       ? Value(a > b)
           : code == builtin("GREATER_EQUAL") ? Value(a >= b)
           : code == builtin("EQUAL")         ? Value(a == b)
           : code == builtin("NOT_EQUAL")     ? Value(a != b)
           : code == builtin("LOGICAL_AND")   ? Value(a != 0 && b != 0)
           : code == builtin("LOGICAL_OR")    ? Value(a != 0 || b != 0)
                                              : std::nullopt;
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
    return mapped(graph_.outputs, [&](const std::int64_t i) { return of(i); });
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
