#include "import/tensor_value.hpp"

#include "core/parse_number.hpp"
#include "import/field_reader.hpp"

#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <protozero/pbf_reader.hpp>

namespace archsim::import {

static_assert(std::endian::native == std::endian::little, "raw_data is little-endian");

/// IEEE 754 binary16.
static double half_to_real(std::uint16_t bits) {
    const int exponent = bits >> 10 & 0x1f;
    const int fraction = bits & 0x3ff;
    double magnitude = 0;
    if (exponent == 0)
        magnitude = std::ldexp(fraction, -24);
    else if (exponent == 0x1f)
        magnitude = fraction == 0 ? std::numeric_limits<double>::infinity()
                                  : std::numeric_limits<double>::quiet_NaN();
    else
        magnitude = std::ldexp(fraction + 0x400, exponent - 25);
    return bits >> 15 ? -magnitude : magnitude;
}

/// bfloat16 is the upper half of a binary32.
static double brain_to_real(std::uint16_t bits) {
    return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

template <typename Stored, typename Out, typename Convert>
static bool decode_raw(std::string_view raw, std::size_t elements, std::vector<Out>& out, Convert convert) {
    if (raw.size() != elements * sizeof(Stored))
        return false;
    out.reserve(elements);
    for (std::size_t i = 0; i < elements; ++i) {
        Stored stored;
        std::memcpy(&stored, raw.data() + i * sizeof(Stored), sizeof(Stored));
        out.push_back(convert(stored));
    }
    return true;
}

template <typename Stored>
static bool decode_ints(std::string_view raw, std::size_t elements, Constant& constant) {
    return decode_raw<Stored>(raw, elements, constant.ints,
                              [](Stored v) { return static_cast<std::int64_t>(v); });
}

/// Elements narrower than a byte, packed from the low bits up.
static bool decode_packed(std::string_view raw, std::size_t elements, int bits, bool is_signed,
                          Constant& constant) {
    const auto width = static_cast<std::size_t>(bits);
    const std::size_t per_byte = 8 / width;
    if (raw.size() != (elements + per_byte - 1) / per_byte)
        return false;
    const int mask = (1 << bits) - 1;
    constant.ints.reserve(elements);
    for (std::size_t i = 0; i < elements; ++i) {
        int value = static_cast<unsigned char>(raw[i / per_byte]) >> (i % per_byte * width) & mask;
        if (is_signed && value >> (bits - 1))
            value -= 1 << bits;
        constant.ints.push_back(value);
    }
    return true;
}

static bool decode_payload(std::string_view raw, std::size_t elements, Constant& constant) {
    const auto as_real = [](auto v) { return static_cast<double>(v); };
    switch (constant.type) {
    case DataType::float32:
        return decode_raw<float>(raw, elements, constant.reals, as_real);
    case DataType::float64:
        return decode_raw<double>(raw, elements, constant.reals, as_real);
    case DataType::float16:
        return decode_raw<std::uint16_t>(raw, elements, constant.reals, half_to_real);
    case DataType::bfloat16:
        return decode_raw<std::uint16_t>(raw, elements, constant.reals, brain_to_real);
    case DataType::int8:
        return decode_ints<std::int8_t>(raw, elements, constant);
    case DataType::uint8:
    case DataType::boolean:
        return decode_ints<std::uint8_t>(raw, elements, constant);
    case DataType::int16:
        return decode_ints<std::int16_t>(raw, elements, constant);
    case DataType::uint16:
        return decode_ints<std::uint16_t>(raw, elements, constant);
    case DataType::int32:
        return decode_ints<std::int32_t>(raw, elements, constant);
    case DataType::uint32:
        return decode_ints<std::uint32_t>(raw, elements, constant);
    case DataType::int64:
        return decode_ints<std::int64_t>(raw, elements, constant);
    case DataType::uint64:
        return decode_ints<std::uint64_t>(raw, elements, constant);
    case DataType::int4:
    case DataType::int2:
        return decode_packed(raw, elements, bits_of(constant.type), true, constant);
    case DataType::uint4:
    case DataType::uint2:
        return decode_packed(raw, elements, bits_of(constant.type), false, constant);
    default:
        return true; // formats in which no shape is ever computed keep no values
    }
}

/// The values of the typed field that onnx.proto prescribes for the element type.
static void take_typed_values(const TensorMessage& tensor, Constant& constant) {
    constant.strings.assign(tensor.strings.begin(), tensor.strings.end());
    constant.reals.assign(tensor.reals.begin(), tensor.reals.end());
    const auto append = [&tensor](auto& values, auto convert) {
        values.reserve(tensor.ints.size());
        std::transform(tensor.ints.begin(), tensor.ints.end(), std::back_inserter(values), convert);
    };
    switch (constant.type) {
    case DataType::float16: // the bits, in int32_data
        return append(constant.reals,
                      [](std::int64_t v) { return half_to_real(static_cast<std::uint16_t>(v)); });
    case DataType::bfloat16:
        return append(constant.reals,
                      [](std::int64_t v) { return brain_to_real(static_cast<std::uint16_t>(v)); });
    case DataType::int64:
    case DataType::uint32: // in uint64_data
    case DataType::uint64:
        return append(constant.ints, [](std::int64_t v) { return v; });
    default: // in int32_data, of which a varint may hold more bits
        return append(constant.ints,
                      [](std::int64_t v) { return std::int64_t{static_cast<std::int32_t>(v)}; });
    }
}

static bool is_narrow(DataType type) {
    return bits_of(type) > 0 && bits_of(type) < 8;
}

static std::size_t elements_of(const Shape& shape) {
    std::size_t elements = 1;
    for (const auto dim : shape)
        elements *= static_cast<std::size_t>(dim);
    return elements;
}

static std::size_t values_of(const Constant& constant) {
    return constant.ints.size() + constant.reals.size() + constant.strings.size();
}

DataType data_type(int number) {
    return number >= 0 && number <= static_cast<int>(DataType::int2) ? static_cast<DataType>(number)
                                                                     : DataType::undefined;
}

bool holds_value(const Constant& constant) {
    return values_of(constant) == elements_of(constant.shape);
}

std::size_t kept_elements(DataType type) {
    switch (type) {
    case DataType::undefined:
        return 0;
    case DataType::complex64:
    case DataType::complex128:
        return kMaxRealElements;
    default:
        return is_floating(type) ? kMaxRealElements : kMaxConstantElements;
    }
}

std::optional<Shape> TensorReader::read_shape(const ArenaList<std::int64_t>& dims, const std::string& where) {
    std::int64_t elements = 1;
    for (const std::int64_t dim : dims) {
        if (dim < 0) {
            findings_.add(FindingKind::malformed_file, Severity::error, where,
                          fmt::format("a constant has the negative dimension {}", dim));
            return std::nullopt;
        }
        if (dim > kMaxElements || (dim > 0 && elements > kMaxElements / dim)) {
            findings_.add(FindingKind::too_large, Severity::error, where,
                          fmt::format("a constant of {} elements cannot be real", fmt::join(dims, " x ")));
            return std::nullopt;
        }
        elements *= dim;
    }
    return Shape(dims.begin(), dims.end());
}

std::shared_ptr<const Constant> TensorReader::read(const TensorMessage& tensor, const std::string& where) {
    auto shape = read_shape(tensor.dims, where);
    if (!shape)
        return nullptr;
    auto constant = std::make_shared<Constant>();
    constant->type = data_type(tensor.data_type);
    constant->shape = std::move(*shape);
    if (constant->type == DataType::undefined) {
        findings_.add(FindingKind::malformed_file, Severity::error, where,
                      fmt::format("a constant has the unknown element type {}", tensor.data_type));
        return constant;
    }
    const std::size_t elements = elements_of(constant->shape);
    const bool keep = elements <= kept_elements(constant->type);

    std::string side_payload;
    if (tensor.external) {
        const auto bits = static_cast<std::uint64_t>(bits_of(constant->type));
        side_payload = external_.look_up(tensor, (elements * bits + 7) / 8, keep);
    }
    if (!keep)
        return constant;

    const std::string_view raw = tensor.external ? std::string_view(side_payload) : tensor.raw_data;
    bool fits = true;
    if (!raw.empty()) {
        fits = decode_payload(raw, elements, *constant);
    } else {
        take_typed_values(tensor, *constant);
        if (is_narrow(constant->type) && values_of(*constant) > 0) { // several elements in each entry
            const std::string packed(constant->ints.begin(), constant->ints.end());
            constant->ints.clear();
            fits = decode_payload(packed, elements, *constant);
        }
    }
    const std::size_t values = values_of(*constant);
    if (!fits || (values != 0 && values != elements)) {
        constant->ints.clear();
        constant->reals.clear();
        constant->strings.clear();
        findings_.add(FindingKind::inconsistent, Severity::warning, where,
                      fmt::format("the values of a constant do not fill its shape of {} elements", elements));
    }
    return constant;
}

std::shared_ptr<const Constant> TensorReader::read(const SparseTensorMessage& tensor,
                                                   const std::string& where) {
    auto shape = read_shape(tensor.dims, where);
    if (!shape)
        return nullptr;
    auto constant = std::make_shared<Constant>();
    constant->type = data_type(tensor.values.data_type);
    constant->shape = std::move(*shape);
    return constant;
}

/// -1 is how some exporters write a dimension they do not know.
constexpr std::int64_t kUnknownDimension = -1;

// Keys of the fields are those of TypeProto and what it contains, in onnx.proto.
constexpr auto kDimension = delimited(1);

/// dim_value or dim_param, whichever the file wrote last.
static void read_dimension(protozero::pbf_reader message, std::int64_t& value, std::string& symbol) {
    constexpr auto kValue = varint(1), kSymbol = delimited(2);
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

static std::vector<Dimension> read_shape(protozero::pbf_reader message, const std::string& name,
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
static void read_tensor_type(protozero::pbf_reader message, Tensor& tensor, Findings& findings) {
    constexpr auto kElementType = varint(1), kShape = delimited(2);
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
static protozero::data_view contained_type(protozero::pbf_reader message, std::uint32_t number) {
    protozero::data_view type;
    while (message.next())
        if (message.tag_and_type() == delimited(number))
            type = message.get_view();
        else
            message.skip();
    return type;
}

void read_type(std::string_view type, Tensor& tensor, Findings& findings) {
    constexpr auto kTensor = delimited(1), kSequence = delimited(4), kMap = delimited(5),
                   kSparseTensor = delimited(8), kOptional = delimited(9);
    ValueKind kind = ValueKind::tensor;
    for (protozero::data_view declared(type.data(), type.size());;) {
        // The last of the alternatives counts.
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
