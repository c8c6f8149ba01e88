#include "import/wire_filter.hpp"

#include "archsim/graph/graph.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace archsim::import {

namespace {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, delimited = 2, fixed32 = 5 };

/// Part of the model, from byte to byte.
struct Range {
    std::uint64_t begin = 0, end = 0;
    std::uint64_t size() const { return end - begin; }
};

struct Field {
    std::uint32_t number = 0;
    WireType wire_type = WireType::varint;
    std::uint64_t value = 0; ///< of a varint
    Range encoded;           ///< tag and content
    Range content;           ///< of a delimited field
};

/// Reads the fields of one message in order.
class FieldReader {
  public:
    FieldReader(ByteSource& source, Range message) : source_(source), at_(message.begin), end_(message.end) {}

    bool next(Field& field) {
        if (at_ == end_)
            return false;
        field.encoded.begin = at_;
        const std::uint64_t tag = varint();
        if (tag >> 3 == 0 || tag >> 3 > kMaxFieldNumber)
            fail(field.encoded.begin, "holds no valid field");
        field.number = static_cast<std::uint32_t>(tag >> 3);
        field.content = {};
        switch (tag & 7) {
        case 0:
            field.value = varint();
            break;
        case 1:
            skip(8);
            break;
        case 2: {
            const std::uint64_t length = varint();
            field.content.begin = at_;
            skip(length);
            field.content.end = at_;
            break;
        }
        case 5:
            skip(4);
            break;
        default:
            fail(field.encoded.begin, "holds no valid field");
        }
        field.wire_type = static_cast<WireType>(tag & 7);
        field.encoded.end = at_;
        return true;
    }

    /// The next element of a packed list; nothing at its end.
    std::optional<std::uint64_t> next_varint() {
        return at_ == end_ ? std::nullopt : std::optional(varint());
    }

  private:
    static constexpr std::uint64_t kMaxFieldNumber = (1u << 29) - 1;
    static constexpr std::size_t kMaxVarint = 10;

    std::uint64_t varint() {
        const auto bytes = source_.view(at_, std::min<std::uint64_t>(kMaxVarint, end_ - at_));
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            value |= std::uint64_t{bytes[i] & 0x7fu} << (7 * i);
            if (bytes[i] < 0x80) {
                at_ += i + 1;
                return value;
            }
        }
        fail(at_,
             bytes.size() < kMaxVarint ? "ends inside a number" : "holds a number of more than ten bytes");
    }

    void skip(std::uint64_t length) {
        const std::uint64_t left = end_ - at_;
        if (length > left)
            fail(at_, fmt::format("promises {} bytes where {} are left", length, left));
        at_ += length;
    }

    [[noreturn]] static void fail(std::uint64_t place, const std::string& what) {
        throw WireError(fmt::format("byte {} {}", place, what));
    }

    ByteSource& source_;
    std::uint64_t at_;
    std::uint64_t end_;
};

enum class Message : std::uint8_t {
    model,
    graph,
    node,
    attribute,
    tensor,
    sparse_tensor,
    value_info,
    function
};

enum class Treatment : std::uint8_t { drop, copy, copy_small, payload, descend };

struct Rule {
    Treatment treatment = Treatment::drop;
    Message message = Message::model; ///< what to descend into
};

/// What happens to a field; numbers are those of onnx.proto (IR version 13). What is not listed is dropped.
Rule rule(Message message, std::uint32_t field) {
    constexpr Rule copy{Treatment::copy};
    constexpr Rule payload{Treatment::payload};
    constexpr auto into = [](Message inner) { return Rule{Treatment::descend, inner}; };
    switch (message) {
    case Message::model:
        switch (field) {
        case 1: // ir_version
        case 8: // opset_import
            return copy;
        case 7:
            return into(Message::graph);
        case 25:
            return into(Message::function);
        default:
            return {};
        }
    case Message::graph:
        switch (field) {
        case 1:
            return into(Message::node);
        case 2: // name
            return copy;
        case 5:
            return into(Message::tensor);
        case 15:
            return into(Message::sparse_tensor);
        case 11: // input
        case 12: // output
        case 13: // value_info
            return into(Message::value_info);
        default:
            return {};
        }
    case Message::node:
        switch (field) {
        case 5:
            return into(Message::attribute);
        case 1: // input
        case 2: // output
        case 3: // name
        case 4: // op_type
        case 7: // domain
        case 8: // overload
            return copy;
        default:
            return {};
        }
    case Message::attribute:
        switch (field) {
        case 1:  // name
        case 2:  // f
        case 3:  // i
        case 7:  // floats
        case 8:  // ints
        case 9:  // strings
        case 20: // type
        case 21: // ref_attr_name
            return copy;
        case 4: // s, which some runtimes use for a compiled program
            return {Treatment::copy_small};
        case 5:
            return into(Message::tensor);
        case 6:
            return into(Message::graph);
        case 22:
            return into(Message::sparse_tensor);
        default:
            return {};
        }
    case Message::tensor:
        switch (field) {
        case 1:  // dims
        case 2:  // data_type
        case 8:  // name
        case 13: // external_data
        case 14: // data_location
            return copy;
        case 4:  // float_data
        case 5:  // int32_data
        case 6:  // string_data
        case 7:  // int64_data
        case 9:  // raw_data
        case 10: // double_data
        case 11: // uint64_data
            return payload;
        default:
            return {};
        }
    case Message::sparse_tensor:
        if (field == 1) // values
            return into(Message::tensor);
        return field == 3 ? copy : Rule{}; // dims
    case Message::value_info:
        return field == 1 || field == 2 ? copy : Rule{}; // name, type
    case Message::function:
        switch (field) {
        case 7:
            return into(Message::node);
        case 11:
            return into(Message::attribute);
        case 1:  // name
        case 4:  // input
        case 5:  // output
        case 6:  // attribute
        case 9:  // opset_import
        case 10: // domain
        case 13: // overload
            return copy;
        default:
            return {};
        }
    }
    return {};
}

/// Elements whose values are worth keeping for this type.
std::size_t kept_elements(std::uint64_t type) {
    switch (static_cast<DataType>(type < 256 ? type : 0)) {
    case DataType::undefined:
        return 0;
    case DataType::float32:
    case DataType::float64:
    case DataType::float16:
    case DataType::bfloat16:
    case DataType::complex64:
    case DataType::complex128:
    case DataType::float8e4m3fn:
    case DataType::float8e4m3fnuz:
    case DataType::float8e5m2:
    case DataType::float8e5m2fnuz:
    case DataType::float4e2m1:
    case DataType::float8e8m0:
        return kMaxRealElements;
    default:
        return kMaxConstantElements;
    }
}

class Filter {
  public:
    explicit Filter(ByteSource& model) : model_(model) { copy_message(Message::model, {0, model.size()}, 0); }
    std::string take() { return std::move(out_); }

  private:
    /// Below protobuf's own limit of 100, which the copied types still need some of.
    static constexpr int kMaxDepth = 90;
    static constexpr std::size_t kLengthBytes = 5;
    static constexpr std::size_t kSmallString = 64u << 10;
    static constexpr std::uint64_t kChunk = 16u << 10;
    static constexpr std::size_t kMaxOutput = 1u << 30;

    void copy_message(Message kind, Range message, int depth) {
        if (depth > kMaxDepth)
            throw WireError("subgraphs are nested more deeply than any exporter does");
        const bool keep_payload = kind == Message::tensor && small_payload(message);
        FieldReader reader(model_, message);
        Field field;
        while (reader.next(field)) {
            const Rule action = rule(kind, field.number);
            switch (action.treatment) {
            case Treatment::drop:
                break;
            case Treatment::copy:
                append(field.encoded);
                break;
            case Treatment::copy_small:
                if (field.encoded.size() <= kSmallString)
                    append(field.encoded);
                break;
            case Treatment::payload:
                if (keep_payload)
                    append(field.encoded);
                break;
            case Treatment::descend:
                if (field.wire_type == WireType::delimited)
                    copy_nested(action.message, field, depth);
                break;
            }
        }
    }

    /// The length of the copy is known only afterwards, so it takes a fixed number of bytes.
    void copy_nested(Message kind, const Field& field, int depth) {
        append_varint(std::uint64_t{field.number} << 3 | static_cast<std::uint64_t>(WireType::delimited));
        const std::size_t length_at = out_.size();
        out_.append(kLengthBytes, '\0');
        copy_message(kind, field.content, depth + 1);
        std::size_t length = out_.size() - length_at - kLengthBytes;
        for (std::size_t i = 0; i < kLengthBytes; ++i, length >>= 7)
            out_[length_at + i] = static_cast<char>((length & 0x7f) | (i + 1 < kLengthBytes ? 0x80u : 0u));
    }

    /// Whether the values of this tensor are worth keeping; looks at sizes only.
    bool small_payload(Range tensor) {
        std::uint64_t type = 0, elements = 1, payload = 0;
        const auto multiply = [&elements](std::uint64_t dim) {
            elements = dim <= kMaxConstantElements ? elements * dim : kMaxConstantElements + 1;
            elements = std::min<std::uint64_t>(elements, kMaxConstantElements + 1);
        };
        FieldReader reader(model_, tensor);
        Field field;
        while (reader.next(field)) {
            if (field.number == 1 && field.wire_type == WireType::varint)
                multiply(field.value);
            else if (field.number == 1 && field.wire_type == WireType::delimited)
                for (FieldReader dims(model_, field.content); const auto dim = dims.next_varint();)
                    multiply(*dim);
            else if (field.number == 2 && field.wire_type == WireType::varint)
                type = field.value;
            else if (rule(Message::tensor, field.number).treatment == Treatment::payload)
                payload += field.encoded.size();
        }
        // A varint takes at most ten bytes; strings have a budget of their own.
        const std::uint64_t allowed =
            static_cast<DataType>(type & 0xff) == DataType::string ? kSmallString : 16 * elements + 16;
        return elements <= kept_elements(type) && payload <= allowed;
    }

    void append(Range bytes) {
        if (out_.size() + bytes.size() > kMaxOutput)
            throw WireError("the model without its weights is larger than 1 GiB");
        while (bytes.begin < bytes.end) {
            const auto chunk = model_.view(bytes.begin, std::min<std::uint64_t>(bytes.size(), kChunk));
            out_.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
            bytes.begin += chunk.size();
        }
    }

    void append_varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7)
            out_.push_back(static_cast<char>((value & 0x7f) | 0x80u));
        out_.push_back(static_cast<char>(value));
    }

    std::string out_;
    ByteSource& model_;
};

} // namespace

std::string strip_payloads(ByteSource& model) {
    return Filter(model).take();
}

} // namespace archsim::import
