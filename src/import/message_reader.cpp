#include "import/message_reader.hpp"

#include "import/tensor_value.hpp"

#include <bit>
#include <fmt/format.h>
#include <new>
#include <protozero/exception.hpp>
#include <protozero/varint.hpp>

namespace archsim::import {

/// Messages within each other. Exporters stay below thirty; the stack holds some thousands.
constexpr int kMaxDepth = 90;
/// Strings that are kept: some runtimes keep a compiled program in an attribute.
constexpr std::uint64_t kSmallString = 64u << 10;
constexpr std::uint64_t kChunk = 16u << 10;

static void check_depth(int depth) {
    if (depth > kMaxDepth)
        throw WireError("subgraphs are nested more deeply than any exporter does");
}

/// The field of TensorProto that holds the values of this type, where they are not in raw_data; 0 for types
/// whose values no shape depends on.
static std::uint32_t typed_field(DataType type) {
    constexpr std::uint32_t kFloat = 4, kInt32 = 5, kString = 6, kInt64 = 7, kDouble = 10, kUint64 = 11;
    switch (type) {
    case DataType::float32:
        return kFloat;
    case DataType::float64:
        return kDouble;
    case DataType::float16: // the bits
    case DataType::bfloat16:
        return kInt32;
    case DataType::int64:
        return kInt64;
    case DataType::uint32:
    case DataType::uint64:
        return kUint64;
    case DataType::string:
        return kString;
    default:
        return is_floating(type) ? 0 : kInt32;
    }
}

/// Whether the payload, of `bytes` bytes, is small enough to be kept.
static bool is_small(const TensorMessage& tensor, std::uint64_t bytes) {
    const DataType type = data_type(tensor.data_type);
    std::uint64_t elements = 1;
    for (const std::int64_t dim : tensor.dims) {
        const auto size = static_cast<std::uint64_t>(dim); // a negative one is far too large
        elements = size <= kMaxConstantElements ? elements * size : kMaxConstantElements + 1;
        elements = std::min<std::uint64_t>(elements, kMaxConstantElements + 1);
    }
    // A varint takes at most ten bytes; strings have a budget of their own.
    const std::uint64_t allowed = type == DataType::string ? kSmallString : 16 * elements + 16;
    return elements <= kept_elements(type) && bytes <= allowed;
}

template <class To>
void MessageReader::take(const FieldReader& field, int depth, To& to) {
    if constexpr (std::is_invocable_v<To&, const FieldReader&>)
        to(field);
    else
        read(field.content(), depth + 1, to);
}

template <class Item>
void MessageReader::take(const FieldReader& field, int depth, ArenaList<Item>& list) {
    Item item{};
    take(field, depth, item);
    list.push_back(arena_, item);
}

template <class Message>
void MessageReader::take(const FieldReader& field, int depth, const Message*& to) {
    Message& made = arena_.make<Message>();
    take(field, depth, made);
    to = &made;
}

template <class... To>
void MessageReader::each_field(Range message, int depth, Others others, On<To>... cases) {
    const auto taken = [&](const FieldReader& field, const auto& one) {
        if (field.key() == one.key)
            take(field, depth, one.to);
        return field.key() == one.key;
    };
    for (FieldReader field(source_, message); field.next();)
        if (!(taken(field, cases) || ...) && others == Others::dropped)
            dropped_ += field.size();
}

ModelMessage MessageReader::read() {
    ModelMessage model;
    read({0, source_.size()}, 0, model);
    return model;
}

// Numbers of fields are those of onnx.proto (IR version 13). A message field that comes twice is read into
// the same message, as protobuf does, where what it holds are lists.

void MessageReader::read(Range message, int depth, ModelMessage& model) {
    const auto graph = [&](const FieldReader& field) {
        if (!model.graph)
            model.graph.emplace();
        read(field.content(), depth + 1, *model.graph);
    };
    each_field(message, depth, Others::counted, On{varint(1), model.ir_version}, On{delimited(7), graph},
               On{delimited(8), model.opset_import}, On{delimited(25), model.functions});
}

void MessageReader::read(Range message, int depth, GraphMessage& graph) {
    check_depth(depth);
    each_field(message, depth, Others::dropped, On{delimited(1), graph.node}, On{delimited(2), graph.name},
               On{delimited(5), graph.initializer}, On{delimited(11), graph.input},
               On{delimited(12), graph.output}, On{delimited(13), graph.value_info},
               On{delimited(15), graph.sparse_initializer});
}

void MessageReader::read(Range message, int depth, FunctionMessage& function) {
    each_field(message, depth, Others::counted, On{delimited(1), function.name},
               On{delimited(4), function.input}, On{delimited(5), function.output},
               On{delimited(7), function.node}, On{delimited(9), function.opset_import},
               On{delimited(10), function.domain}, On{delimited(11), function.attribute_proto},
               On{delimited(13), function.overload});
}

void MessageReader::read(Range message, int depth, NodeMessage& node) {
    check_depth(depth);
    const std::uint64_t dropped_before = dropped_;
    each_field(message, depth, Others::dropped, On{delimited(1), node.input}, On{delimited(2), node.output},
               On{delimited(3), node.name}, On{delimited(4), node.op_type}, On{delimited(5), node.attribute},
               On{delimited(7), node.domain}, On{delimited(8), node.overload});
    node.size = message.size() - (dropped_ - dropped_before);
}

void MessageReader::read(Range message, int depth, AttributeMessage& attribute) {
    check_depth(depth);
    GraphMessage* graph = nullptr;
    const auto body = [&](const FieldReader& field) {
        if (graph == nullptr)
            attribute.g = graph = &arena_.make<GraphMessage>();
        read(field.content(), depth + 1, *graph);
    };
    const auto string = [&](const FieldReader& field) {
        if (field.size() <= kSmallString)
            attribute.s = text(field);
        else
            dropped_ += field.size();
    };
    const auto type = [&](const FieldReader& field) {
        if (field.value() <= static_cast<std::uint64_t>(AttributeType::types))
            attribute.type = static_cast<AttributeType>(field.value());
    };
    const auto real = [&](const FieldReader& field) {
        attribute.f = FieldReader(source_, field.content()).next_real<float>();
    };
    each_field(message, depth, Others::dropped, On{delimited(1), attribute.name}, On{fixed32(2), real},
               On{varint(3), attribute.i}, On{delimited(4), string}, On{delimited(5), attribute.t},
               On{delimited(6), body}, On{fixed32(7), attribute.floats}, On{delimited(7), attribute.floats},
               On{varint(8), attribute.ints}, On{delimited(8), attribute.ints},
               On{delimited(9), attribute.strings}, On{varint(20), type},
               On{delimited(21), attribute.ref_attr_name}, On{delimited(22), attribute.sparse_tensor});
}

void MessageReader::read(Range message, int depth, TensorMessage& tensor) {
    std::uint64_t payload = 0;
    for (FieldReader field(source_, message); field.next();)
        switch (field.key()) {
        case varint(1):
        case delimited(1):
            append_integers(field, tensor.dims);
            break;
        case varint(2):
            tensor.data_type = static_cast<std::int32_t>(field.value());
            break;
        case fixed32(4): // float_data
        case delimited(4):
        case varint(5): // int32_data
        case delimited(5):
        case delimited(6): // string_data
        case varint(7):    // int64_data
        case delimited(7):
        case delimited(9): // raw_data
        case fixed64(10):  // double_data
        case delimited(10):
        case varint(11): // uint64_data
        case delimited(11):
            payload += field.size();
            break;
        case delimited(8):
            tensor.name = text(field);
            break;
        case delimited(13):
            take(field, depth, tensor.external_data);
            break;
        case varint(14):
            if (field.value() <= 1) // DEFAULT, EXTERNAL
                tensor.external = field.value() == 1;
            break;
        default:
            dropped_ += field.size();
        }
    if (payload > 0 && is_small(tensor, payload))
        read_payload(message, tensor);
    else
        dropped_ += payload;
}

void MessageReader::read_payload(Range message, TensorMessage& tensor) {
    const DataType type = data_type(tensor.data_type);
    const std::uint32_t values = typed_field(type);
    for (FieldReader field(source_, message); field.next();) {
        if (field.key() == delimited(9)) {
            tensor.raw_data = text(field);
        } else if (values == 0) {
            continue;
        } else if (type == DataType::string) {
            if (field.key() == delimited(values))
                tensor.strings.push_back(arena_, text(field));
        } else if (type == DataType::float32) {
            if (field.key() == fixed32(values) || field.key() == delimited(values))
                append_reals<float>(field, tensor.reals);
        } else if (type == DataType::float64) {
            if (field.key() == fixed64(values) || field.key() == delimited(values))
                append_reals<double>(field, tensor.reals);
        } else if (field.key() == varint(values) || field.key() == delimited(values)) {
            append_integers(field, tensor.ints);
        }
    }
}

void MessageReader::read(Range message, int depth, SparseTensorMessage& tensor) {
    each_field(message, depth, Others::dropped, On{delimited(1), tensor.values}, On{varint(3), tensor.dims},
               On{delimited(3), tensor.dims});
}

void MessageReader::read(Range message, int depth, ValueInfoMessage& value) {
    each_field(message, depth, Others::counted, On{delimited(1), value.name}, On{delimited(2), value.type});
}

void MessageReader::read(Range message, int depth, Opset& opset) {
    each_field(message, depth, Others::counted, On{delimited(1), opset.domain}, On{varint(2), opset.version});
}

void MessageReader::read(Range message, int depth, ExternalEntry& entry) {
    each_field(message, depth, Others::counted, On{delimited(1), entry.key}, On{delimited(2), entry.value});
}

std::string_view MessageReader::text(const FieldReader& field) {
    Range bytes = field.content();
    const auto size = static_cast<std::size_t>(bytes.size());
    if (size != bytes.size()) // more than the machine can address
        throw std::bad_alloc();
    if (size == 0)
        return {};
    if (source_.in_memory())
        return {reinterpret_cast<const char*>(source_.view(bytes.begin, size).data()), size};
    char* const copy = static_cast<char*>(arena_.allocate(size, 1));
    for (char* to = copy; bytes.size() > 0;) {
        const auto chunk =
            source_.view(bytes.begin, static_cast<std::size_t>(std::min(bytes.size(), kChunk)));
        std::memcpy(to, chunk.data(), chunk.size());
        to += chunk.size();
        bytes.begin += chunk.size();
    }
    return {copy, size};
}

void MessageReader::append_integers(const FieldReader& field, ArenaList<std::int64_t>& list) {
    using Wire = protozero::pbf_wire_type;
    if (static_cast<Wire>(field.key() & 7) == Wire::varint) {
        list.push_back(arena_, static_cast<std::int64_t>(field.value()));
        return;
    }
    for (FieldReader numbers(source_, field.content()); const auto number = numbers.next_varint();)
        list.push_back(arena_, static_cast<std::int64_t>(*number));
}

template <typename Real, typename Kept>
void MessageReader::append_reals(const FieldReader& field, ArenaList<Kept>& list) {
    for (FieldReader numbers(source_, field.content()); const auto number = numbers.next_real<Real>();)
        list.push_back(arena_, static_cast<Kept>(*number));
}

static_assert(std::endian::native == std::endian::little, "protobuf's floats are little-endian");

bool FieldReader::next() {
    constexpr std::uint64_t kMaxKey = (std::uint64_t{1} << 32) - 1; // 29 bits of number, 3 of wire type
    using Wire = protozero::pbf_wire_type;
    if (at_ == end_)
        return false;
    begin_ = at_;
    const std::uint64_t key = decode_varint();
    if (key >> 3 == 0 || key > kMaxKey)
        fail(begin_, "holds no valid field");
    key_ = static_cast<std::uint32_t>(key);
    content_.begin = at_;
    switch (static_cast<Wire>(key & 7)) {
    case Wire::varint:
        value_ = decode_varint();
        break;
    case Wire::fixed64:
        skip(8);
        break;
    case Wire::length_delimited: {
        const std::uint64_t length = decode_varint();
        content_.begin = at_;
        skip(length);
        break;
    }
    case Wire::fixed32:
        skip(4);
        break;
    default:
        fail(begin_, "holds no valid field");
    }
    content_.end = at_;
    return true;
}

std::uint64_t FieldReader::decode_varint() {
    const auto bytes = source_.view(
        at_, static_cast<std::size_t>(std::min<std::uint64_t>(protozero::max_varint_length, end_ - at_)));
    const auto* const begin = reinterpret_cast<const char*>(bytes.data());
    const char* after = begin;
    try {
        const std::uint64_t value = protozero::decode_varint(&after, begin + bytes.size());
        at_ += static_cast<std::uint64_t>(after - begin);
        return value;
    } catch (const protozero::end_of_buffer_exception&) {
        fail(at_, "ends inside a number");
    } catch (const protozero::varint_too_long_exception&) {
        fail(at_, "holds a number of more than ten bytes");
    }
}

void FieldReader::skip(std::uint64_t length) {
    const std::uint64_t left = end_ - at_;
    if (length > left)
        fail(at_, fmt::format("promises {} bytes where {} are left", length, left));
    at_ += length;
}

void FieldReader::fail(std::uint64_t place, const std::string& what) {
    throw WireError(fmt::format("byte {} {}", place, what));
}

void Findings::add(Finding finding) {
    if (listed_.size() >= kMaxListed) {
        ++unlisted_;
        worst_unlisted_ = std::max(worst_unlisted_, finding.severity);
        return;
    }
    finding.file = file_;
    listed_.push_back(std::move(finding));
}

void Findings::add(FindingKind kind, Severity severity, std::string where, std::string message,
                   std::string hint) {
    add(Finding{.kind = kind,
                .severity = severity,
                .message = std::move(message),
                .where = std::move(where),
                .hint = std::move(hint)});
}

std::vector<Finding> Findings::take() {
    if (unlisted_ > 0)
        listed_.push_back(Finding{.kind = FindingKind::malformed_file,
                                  .severity = worst_unlisted_,
                                  .message = fmt::format("{} more findings are not listed", unlisted_),
                                  .file = file_,
                                  .hint = "fix the listed ones first"});
    unlisted_ = 0;
    return std::move(listed_);
}

void* Arena::allocate_block(std::size_t bytes) {
    const std::size_t doubled = blocks_.empty() ? kFirstBlock : std::min(2 * capacity_, kLargestBlock);
    const std::size_t size = std::max(bytes, doubled);
    if (bytes > kMostBytes || total_ + size > kMostBytes)
        throw WireError("the model without its weights takes more than 1 GiB");
    // Not make_unique, which would fill it with zeros.
    std::unique_ptr<std::byte[]> block(new std::byte[size]);
    std::byte* const begin = block.get();
    blocks_.push_back(std::move(block));
    total_ += size;
    // A large piece has a block of its own; the one in use keeps what is left of it.
    if (block_ != nullptr && size > kLargestBlock)
        return begin;
    block_ = begin;
    capacity_ = size;
    used_ = bytes;
    return begin;
}

} // namespace archsim::import
