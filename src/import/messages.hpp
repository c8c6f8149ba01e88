#pragma once
// The messages of an ONNX model as far as estimating needs them, without the payload of large tensors. Names
// follow onnx.proto. Texts and lists lie in the arena, or in the bytes of a model that is in memory.

#include "import/arena.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace archsim::import {

/// Numbers of AttributeProto.AttributeType.
enum class AttributeType : std::uint8_t {
    undefined = 0,
    real = 1,
    integer = 2,
    string = 3,
    tensor = 4,
    graph = 5,
    reals = 6,
    integers = 7,
    strings = 8,
    tensors = 9,
    graphs = 10,
    sparse_tensor = 11,
    sparse_tensors = 12,
    type = 13,
    types = 14,
};

struct Opset {
    std::string_view domain;
    std::int64_t version = 0;
};

/// "location", "offset" or "length" of a payload in a side file.
struct ExternalEntry {
    std::string_view key, value;
};

struct TensorMessage {
    std::string_view name;
    ArenaList<std::int64_t> dims;
    std::int32_t data_type = 0;
    bool external = false; ///< data_location
    ArenaList<ExternalEntry> external_data;
    // The payload, where it is small: raw_data, or the typed field that onnx.proto prescribes for data_type.
    std::string_view raw_data;
    ArenaList<std::int64_t> ints;
    ArenaList<double> reals;
    ArenaList<std::string_view> strings;
};

/// Its indices are never looked at.
struct SparseTensorMessage {
    TensorMessage values;
    ArenaList<std::int64_t> dims;
};

struct GraphMessage;

struct AttributeMessage {
    std::string_view name, ref_attr_name;
    AttributeType type = AttributeType::undefined;
    std::optional<float> f;
    std::optional<std::int64_t> i;
    std::optional<std::string_view> s;
    const TensorMessage* t = nullptr;
    const SparseTensorMessage* sparse_tensor = nullptr;
    const GraphMessage* g = nullptr;
    ArenaList<float> floats;
    ArenaList<std::int64_t> ints;
    ArenaList<std::string_view> strings;
};

struct NodeMessage {
    std::string_view name, op_type, domain, overload;
    ArenaList<std::string_view> input, output;
    ArenaList<AttributeMessage> attribute;
    std::uint64_t size = 0; ///< bytes of what was kept of it
};

/// The type is a TypeProto still encoded: most are of values whose shape is inferred anyway.
struct ValueInfoMessage {
    std::string_view name, type;
};

struct GraphMessage {
    std::string_view name;
    ArenaList<NodeMessage> node;
    ArenaList<TensorMessage> initializer;
    ArenaList<SparseTensorMessage> sparse_initializer;
    ArenaList<ValueInfoMessage> input, output, value_info;
};

struct FunctionMessage {
    std::string_view name, domain, overload;
    ArenaList<std::string_view> input, output;
    ArenaList<NodeMessage> node;
    ArenaList<AttributeMessage> attribute_proto; ///< attributes that a call may leave out
    ArenaList<Opset> opset_import;
};

struct ModelMessage {
    std::int64_t ir_version = 0;
    ArenaList<Opset> opset_import;
    ArenaList<FunctionMessage> functions;
    std::optional<GraphMessage> graph;
};

} // namespace archsim::import
