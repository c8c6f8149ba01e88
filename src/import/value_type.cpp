#include "import/value_type.hpp"

#include "import/tensor_value.hpp"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

namespace archsim::import {

namespace {

/// -1 is how some exporters write a dimension they do not know.
constexpr std::int64_t kUnknownDimension = -1;

std::vector<Dimension> read_shape(const onnx::TensorShapeProto& proto, const std::string& name,
                                  Findings& findings) {
    std::vector<Dimension> shape;
    shape.reserve(static_cast<std::size_t>(proto.dim_size()));
    std::int64_t elements = 1;
    for (const auto& dim : proto.dim()) {
        Dimension& dimension = shape.emplace_back();
        if (dim.has_dim_param()) {
            dimension.symbol = dim.dim_param();
        } else if (dim.has_dim_value() && dim.dim_value() != kUnknownDimension) {
            const std::int64_t value = dim.dim_value();
            if (value < 0) {
                findings.add(FindingKind::malformed_file, Severity::error, name,
                             fmt::format("it is declared with the negative dimension {}", value),
                             "export the model again");
            } else if (value > kMaxElements || (value > 0 && elements > kMaxElements / value)) {
                findings.add(FindingKind::too_large, Severity::error, name,
                             fmt::format("it is declared with the dimension {}, which cannot be real", value),
                             "export the model again");
            } else {
                dimension.value = value;
                elements *= value > 0 ? value : 1;
            }
        }
    }
    return shape;
}

} // namespace

void read_type(const onnx::TypeProto& declared, Tensor& tensor, Findings& findings) {
    const onnx::TypeProto* type = &declared;
    ValueKind kind = ValueKind::tensor;
    const auto enter = [&](ValueKind container, const onnx::TypeProto& element) {
        if (kind == ValueKind::tensor)
            kind = container;
        type = &element;
    };
    while (!type->has_tensor_type() && !type->has_sparse_tensor_type()) {
        if (type->has_sequence_type())
            enter(ValueKind::sequence, type->sequence_type().elem_type());
        else if (type->has_optional_type())
            enter(ValueKind::optional, type->optional_type().elem_type());
        else if (type->has_map_type())
            enter(ValueKind::map, type->map_type().value_type());
        else
            return; // nothing is declared
    }
    const auto read = [&](const auto& contained) {
        tensor.kind = kind;
        tensor.type = data_type(contained.elem_type());
        if (contained.has_shape())
            tensor.shape = read_shape(contained.shape(), tensor.name, findings);
    };
    if (type->has_tensor_type())
        read(type->tensor_type());
    else
        read(type->sparse_tensor_type());
}

} // namespace archsim::import
