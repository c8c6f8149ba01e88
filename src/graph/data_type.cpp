#include "archsim/graph/graph.hpp"

#include <array>

namespace archsim {

namespace {

struct TypeRow {
    std::string_view name;
    int bits;
    bool floating;
};

/// Indexed by DataType. Bits follow the packed storage of onnx.proto (TensorProto.DataType); a string counts
/// as one 64-bit reference.
constexpr std::array<TypeRow, 27> kTypes = {{
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

const TypeRow& row_of(DataType type) {
    const auto index = static_cast<std::size_t>(type);
    return kTypes[index < kTypes.size() ? index : 0];
}

} // namespace

std::string_view name_of(DataType type) {
    return row_of(type).name;
}

int bits_of(DataType type) {
    return row_of(type).bits;
}

bool is_floating(DataType type) {
    return row_of(type).floating;
}

} // namespace archsim
