#include "import/flat_buffer.hpp"

#include <algorithm>

namespace archsim::import {

void FlatBuffer::read(std::uint64_t position, std::uint8_t* into, std::size_t count) const {
    if (count > size() || position > size() - count)
        throw FlatError("it ends before what it refers to");
    const auto bytes = bytes_.view(first_ + position, count);
    std::copy(bytes.begin(), bytes.end(), into);
}

std::uint64_t FlatBuffer::follow(std::uint64_t position) const {
    const auto offset = number<std::uint32_t>(position);
    if (offset == 0 || offset >= size() - position)
        throw FlatError("an offset leads out of it");
    return position + offset;
}

FlatTable FlatBuffer::root() const {
    return {*this, follow(0)};
}

FlatTable::FlatTable(const FlatBuffer& buffer, std::uint64_t position)
    : buffer_(&buffer), position_(position) {
    // The offset to the vtable is signed, and counts backwards.
    const auto offset = static_cast<std::int32_t>(buffer.number<std::uint32_t>(position));
    const std::int64_t vtable = static_cast<std::int64_t>(position) - offset;
    if (vtable < 0 || static_cast<std::uint64_t>(vtable) >= buffer.size())
        throw FlatError("a table has its fields outside of it");
    vtable_ = static_cast<std::uint64_t>(vtable);
    vtable_bytes_ = buffer.number<std::uint16_t>(vtable_);
}

std::uint64_t FlatTable::place(unsigned field) const {
    const std::uint64_t entry = 4 + 2ull * field;
    if (entry + 2 > vtable_bytes_)
        return 0;
    const auto offset = buffer_->number<std::uint16_t>(vtable_ + entry);
    return offset == 0 ? 0 : position_ + offset;
}

std::optional<FlatTable> FlatTable::table(unsigned field) const {
    const std::uint64_t at = place(field);
    if (at == 0)
        return std::nullopt;
    return FlatTable(*buffer_, buffer_->follow(at));
}

FlatVector FlatTable::vector(unsigned field, std::size_t width) const {
    const std::uint64_t at = place(field);
    if (at == 0)
        return {};
    const std::uint64_t begin = buffer_->follow(at);
    const auto count = buffer_->number<std::uint32_t>(begin);
    constexpr std::uint64_t kLength = 4;
    if (count > (buffer_->size() - begin - kLength) / width)
        throw FlatError("a vector is longer than it");
    return {begin + kLength, count};
}

std::string FlatTable::text(unsigned field, std::size_t longest) const {
    const FlatVector v = vector(field, 1);
    if (v.count > longest)
        throw FlatError("a name is longer than any has");
    std::string text(v.count, '\0');
    if (v.count > 0)
        buffer_->read(v.first, reinterpret_cast<std::uint8_t*>(text.data()), v.count);
    return text;
}

std::vector<FlatTable> FlatTable::tables(unsigned field) const {
    constexpr std::size_t kOffset = 4;
    const FlatVector v = vector(field, kOffset);
    std::vector<FlatTable> tables;
    tables.reserve(v.count);
    for (std::size_t i = 0; i < v.count; ++i)
        tables.emplace_back(*buffer_, buffer_->follow(v.first + kOffset * i));
    return tables;
}

} // namespace archsim::import
