#pragma once
// The imported graph: operators, tensors and symbolic dimensions exactly as the file states them. Weights are
// never loaded; only small constants that can decide a shape keep their values.

#include "archsim/core/export.hpp"
#include "archsim/core/finding.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace archsim {

/// Element types; values equal ONNX TensorProto.DataType.
enum class DataType : std::uint8_t {
    undefined = 0,
    float32 = 1,
    uint8 = 2,
    int8 = 3,
    uint16 = 4,
    int16 = 5,
    int32 = 6,
    int64 = 7,
    string = 8,
    boolean = 9,
    float16 = 10,
    float64 = 11,
    uint32 = 12,
    uint64 = 13,
    complex64 = 14,
    complex128 = 15,
    bfloat16 = 16,
    float8e4m3fn = 17,
    float8e4m3fnuz = 18,
    float8e5m2 = 19,
    float8e5m2fnuz = 20,
    uint4 = 21,
    int4 = 22,
    float4e2m1 = 23,
    float8e8m0 = 24,
    uint2 = 25,
    int2 = 26,
};
/// The properties of an element type.
struct DataTypeRow {
    std::string_view name;
    int bits; ///< per element as stored: packed as onnx.proto says; a string counts as one 64-bit reference
    bool floating;
};
/// Indexed by DataType.
inline constexpr std::array<DataTypeRow, 27> kDataTypes = {{
    {"undefined", 0, false},     {"float32", 32, true},   {"uint8", 8, false},
    {"int8", 8, false},          {"uint16", 16, false},   {"int16", 16, false},
    {"int32", 32, false},        {"int64", 64, false},    {"string", 64, false},
    {"bool", 8, false},          {"float16", 16, true},   {"float64", 64, true},
    {"uint32", 32, false},       {"uint64", 64, false},   {"complex64", 64, true},
    {"complex128", 128, true},   {"bfloat16", 16, true},  {"float8e4m3fn", 8, true},
    {"float8e4m3fnuz", 8, true}, {"float8e5m2", 8, true}, {"float8e5m2fnuz", 8, true},
    {"uint4", 4, false},         {"int4", 4, false},      {"float4e2m1", 4, true},
    {"float8e8m0", 8, true},     {"uint2", 2, false},     {"int2", 2, false},
}};
/// Its row; that of `undefined` for what is no element type.
constexpr const DataTypeRow& row_of(DataType type) {
    const auto index = static_cast<std::size_t>(type);
    return kDataTypes[index < kDataTypes.size() ? index : 0];
}
constexpr std::string_view name_of(DataType type) {
    return row_of(type).name;
}
/// Bits per element as stored; strings count 64.
constexpr int bits_of(DataType type) {
    return row_of(type).bits;
}
constexpr bool is_floating(DataType type) {
    return row_of(type).floating;
}

using TensorId = std::uint32_t;
inline constexpr TensorId kNoTensor = 0xFFFFFFFFu;
/// Tensors of one operator.
using TensorList = std::vector<TensorId>;
/// Sizes of the axes, outermost first.
using Shape = std::vector<std::int64_t>;

/// A declared dimension: fixed (`value` >= 0), named (`symbol`), or neither.
struct Dimension {
    std::int64_t value = -1;
    std::string symbol;
};

/// Value of a small constant (at most kMaxConstantElements elements). Integers and booleans in `ints`,
/// floating types in `reals`, strings in `strings`.
struct Constant {
    DataType type = DataType::undefined;
    Shape shape;
    std::vector<std::int64_t> ints;
    std::vector<double> reals;
    std::vector<std::string> strings;
};
inline constexpr std::size_t kMaxConstantElements = 4096;

enum class TensorRole : std::uint8_t { intermediate, input, initializer };
/// Values that are not plain tensors: their element shape is that of the contained tensor.
enum class ValueKind : std::uint8_t { tensor, sequence, optional, map };

/// A named value of the graph; its payload stays in the file.
struct Tensor {
    std::string name;
    DataType type = DataType::undefined;
    ValueKind kind = ValueKind::tensor;
    TensorRole role = TensorRole::intermediate;
    std::optional<std::vector<Dimension>> shape; ///< nullopt: rank not declared
    std::shared_ptr<const Constant> value;       ///< small constants only
    bool external = false;                       ///< payload lives in a side file
    bool replaceable = false; ///< initializer that callers may replace, as it is an input of the graph too
    bool buffer = false;      ///< initializer that training does not learn (running statistics, index tables)
};

struct Graph;
using AttributeAlternatives =
    std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
                 std::vector<std::string>, std::shared_ptr<const Constant>, std::shared_ptr<const Graph>>;

/// Value of an attribute. Its copy is emplaced: where the copy of a std::variant itself throws for want of
/// memory, libstdc++ 12 ends the program.
struct AttributeValue : AttributeAlternatives {
    using AttributeAlternatives::AttributeAlternatives;
    using AttributeAlternatives::operator=;
    AttributeValue() = default;
    AttributeValue(AttributeValue&&) noexcept = default;            ///< leaves the other without a value
    AttributeValue& operator=(AttributeValue&&) noexcept = default; ///< the same
    ~AttributeValue() = default;
    AttributeValue(const AttributeValue& other) : AttributeAlternatives() { ///< or std::bad_alloc
        std::visit([this](const auto& held) { emplace<std::decay_t<decltype(held)>>(held); },
                   static_cast<const AttributeAlternatives&>(other));
    }
    AttributeValue& operator=(const AttributeValue& other) {
        return *this = AttributeValue(other);
    } ///< the same
};

/// One operator call as the file has it.
struct Node {
    std::string name; ///< never empty: "<op_type>_<index>" when the file gives none
    std::string op_type;
    std::string domain; ///< "" is ai.onnx
    int opset = 0;      ///< version of the domain that applies to this node
    TensorList inputs;  ///< kNoTensor for an absent optional input
    TensorList outputs; ///< likewise
    std::vector<std::pair<std::string, AttributeValue>> attributes;

    /// The attribute of that name, or null.
    const AttributeValue* attribute(std::string_view key) const {
        for (const auto& [name_, value] : attributes)
            if (name_ == key)
                return &value;
        return nullptr;
    }
    /// The whole number of that name; `otherwise` where there is none.
    std::int64_t integer(std::string_view key, std::int64_t otherwise) const {
        const AttributeValue* value = attribute(key);
        const auto* found = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
        return found == nullptr ? otherwise : *found;
    }
};

/// One graph or subgraph. Names of an enclosing scope appear in `captured`: local tensor id -> outer name.
struct Graph {
    std::string name;
    std::vector<Tensor> tensors;
    std::vector<Node> nodes; ///< topological order; functions are already inlined
    std::vector<TensorId> inputs;
    std::vector<TensorId> outputs;
    std::vector<std::pair<TensorId, std::string>> captured;
    std::vector<std::pair<std::string, int>> opset_imports;
    std::vector<Finding> findings; ///< problems seen while importing
};

} // namespace archsim
