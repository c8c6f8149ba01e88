#include "core/parse_number.hpp"
#include "import/topological_order.hpp"

#include "import/tensor_value.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <protozero/pbf_reader.hpp>

namespace archsim::import {

namespace {

/// -1 is how some exporters write a dimension they do not know.
constexpr std::int64_t kUnknownDimension = -1;

// Keys of the fields of TypeProto and what it contains, in onnx.proto.
constexpr auto message_field(std::uint32_t number) {
    return protozero::tag_and_type(number, protozero::pbf_wire_type::length_delimited);
}
constexpr auto integer_field(std::uint32_t number) {
    return protozero::tag_and_type(number, protozero::pbf_wire_type::varint);
}
constexpr auto kDimension = message_field(1);

/// dim_value or dim_param, whichever the file wrote last.
void read_dimension(protozero::pbf_reader message, std::int64_t& value, std::string& symbol) {
    constexpr auto kValue = integer_field(1), kSymbol = message_field(2);
    while (message.next())
        switch (message.tag_and_type()) {
        case kValue:
            value = message.get_int64();
            symbol.clear();
            break;
        case kSymbol:
            value = kUnknownDimension;
            symbol = message.get_string();
            break;
        default:
            message.skip();
        }
}

std::vector<Dimension> read_shape(protozero::pbf_reader message, const std::string& name,
                                  Findings& findings) {
    std::vector<Dimension> shape;
    std::int64_t elements = 1;
    while (message.next()) {
        if (message.tag_and_type() != kDimension) {
            message.skip();
            continue;
        }
        Dimension& dimension = shape.emplace_back();
        std::int64_t value = kUnknownDimension;
        read_dimension(message.get_message(), value, dimension.symbol);
        // Some exporters write numbers as names.
        if (value == kUnknownDimension && !dimension.symbol.empty() &&
            std::ranges::all_of(dimension.symbol, [](char c) { return c >= '0' && c <= '9'; })) {
            value = plain_number<std::int64_t>(dimension.symbol).value_or(kMaxElements + 1); // reported below
            dimension.symbol.clear();
        }
        if (value != kUnknownDimension) {
            if (value < 0) {
                findings.add(FindingKind::malformed_file, Severity::error, name,
                             fmt::format("it is declared with the negative dimension {}", value));
            } else if (value > kMaxElements || (value > 0 && elements > kMaxElements / value)) {
                findings.add(
                    FindingKind::too_large, Severity::error, name,
                    fmt::format("it is declared with the dimension {}, which cannot be real", value));
            } else {
                dimension.value = value;
                elements *= value > 0 ? value : 1;
            }
        }
    }
    return shape;
}

/// Tensor or SparseTensor: the element type and, where it is declared, the shape.
void read_tensor_type(protozero::pbf_reader message, Tensor& tensor, Findings& findings) {
    constexpr auto kElementType = integer_field(1), kShape = message_field(2);
    tensor.type = DataType::undefined;
    while (message.next())
        switch (message.tag_and_type()) {
        case kElementType:
            tensor.type = data_type(message.get_int32());
            break;
        case kShape:
            tensor.shape = read_shape(message.get_message(), tensor.name, findings);
            break;
        default:
            message.skip();
        }
}

/// The TypeProto that a Sequence, an Optional (field 1) or a Map (field 2) contains.
protozero::data_view contained_type(protozero::pbf_reader message, std::uint32_t number) {
    protozero::data_view type;
    while (message.next())
        if (message.tag_and_type() == message_field(number))
            type = message.get_view();
        else
            message.skip();
    return type;
}

} // namespace

void read_type(std::string_view type, Tensor& tensor, Findings& findings) {
    constexpr auto kTensor = message_field(1), kSequence = message_field(4), kMap = message_field(5),
                   kSparseTensor = message_field(8), kOptional = message_field(9);
    ValueKind kind = ValueKind::tensor;
    for (protozero::data_view declared(type.data(), type.size());;) {
        // Of the alternatives the last one counts.
        std::uint32_t which = 0;
        protozero::data_view content;
        for (protozero::pbf_reader message(declared); message.next();)
            switch (message.tag_and_type()) {
            case kTensor:
            case kSequence:
            case kMap:
            case kSparseTensor:
            case kOptional:
                which = message.tag_and_type();
                content = message.get_view();
                break;
            default:
                message.skip();
            }
        const auto enter = [&](ValueKind container, std::uint32_t number) {
            if (kind == ValueKind::tensor)
                kind = container;
            declared = contained_type(protozero::pbf_reader(content), number);
        };
        switch (which) {
        case kTensor:
        case kSparseTensor:
            tensor.kind = kind;
            return read_tensor_type(protozero::pbf_reader(content), tensor, findings);
        case kSequence:
            enter(ValueKind::sequence, 1);
            break;
        case kOptional:
            enter(ValueKind::optional, 1);
            break;
        case kMap:
            enter(ValueKind::map, 2);
            break;
        default:
            return; // nothing is declared
        }
    }
}

} // namespace archsim::import
