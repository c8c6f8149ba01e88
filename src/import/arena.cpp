#include "import/arena.hpp"

#include "import/field_reader.hpp"

#include <algorithm>

namespace archsim::import {

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
