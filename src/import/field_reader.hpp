#pragma once
// The fields of one protobuf message, in order, wherever its bytes lie: protozero decodes them, ByteSource
// fetches them, and what nobody asks for is jumped over.

#include "import/byte_source.hpp"

#include <cstring>
#include <protozero/types.hpp>
#include <stdexcept>

namespace archsim::import {

/// The bytes are not the encoding of an ONNX model; the message says where and why.
class WireError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Part of the model, from byte to byte.
struct Range {
    std::uint64_t begin = 0, end = 0;
    std::uint64_t size() const { return end - begin; }
};

// Keys of fields in the switch of a reader: a field of another wire type than its own is unknown, as for
// protobuf.

/// An integer, boolean or enumerator.
constexpr std::uint32_t varint(std::uint32_t field) {
    return protozero::tag_and_type(field, protozero::pbf_wire_type::varint);
}
/// A string, a message or a packed list.
constexpr std::uint32_t delimited(std::uint32_t field) {
    return protozero::tag_and_type(field, protozero::pbf_wire_type::length_delimited);
}
/// A float.
constexpr std::uint32_t fixed32(std::uint32_t field) {
    return protozero::tag_and_type(field, protozero::pbf_wire_type::fixed32);
}
/// A double.
constexpr std::uint32_t fixed64(std::uint32_t field) {
    return protozero::tag_and_type(field, protozero::pbf_wire_type::fixed64);
}

class FieldReader {
  public:
    FieldReader(ByteSource& source, Range message) : source_(source), at_(message.begin), end_(message.end) {}

    /// Goes to the next field; false at the end of the message. Throws WireError where the bytes hold none.
    bool next();

    // The present field:
    std::uint32_t key() const { return key_; }
    /// For a varint.
    std::uint64_t value() const { return value_; }
    /// For every other one.
    Range content() const { return content_; }
    /// Bytes that it takes, its tag included.
    std::uint64_t size() const { return at_ - begin_; }

    /// The next number of a packed list of varints, as which the range is read instead of a message; nothing
    /// at its end.
    std::optional<std::uint64_t> next_varint() {
        return at_ == end_ ? std::nullopt : std::optional(decode_varint());
    }
    /// The same of a list of `float` or `double`.
    template <typename Real>
    std::optional<Real> next_real() {
        if (at_ == end_)
            return std::nullopt;
        if (end_ - at_ < sizeof(Real))
            fail(at_, "ends inside a number");
        Real real;
        std::memcpy(&real, source_.view(at_, sizeof(Real)).data(), sizeof(Real));
        at_ += sizeof(Real);
        return real;
    }

  private:
    std::uint64_t decode_varint();
    void skip(std::uint64_t length);
    [[noreturn]] static void fail(std::uint64_t place, const std::string& what);

    ByteSource& source_;
    std::uint64_t at_;
    std::uint64_t end_;
    std::uint64_t begin_ = 0;
    std::uint32_t key_ = 0;
    std::uint64_t value_ = 0;
    Range content_;
};

} // namespace archsim::import
