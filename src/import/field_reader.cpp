#include "import/field_reader.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <protozero/exception.hpp>
#include <protozero/varint.hpp>

namespace archsim::import {

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

} // namespace archsim::import
