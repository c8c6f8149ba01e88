// Operators by their names, and the integers of constants.

#include "import/tflite_operator.hpp"

#include <fmt/format.h>

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
            if (row.add == nullptr)
                return row.try_to_add(c);
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

} // namespace archsim::import
