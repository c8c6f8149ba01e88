#pragma once
// Many short lists in one piece of memory.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace archsim {

class FlatLists {
  public:
    /// (list, value): the values of a list keep their order.
    using Entry = std::pair<std::uint32_t, std::uint32_t>;

    FlatLists() = default;
    FlatLists(std::size_t lists, std::span<const Entry> entries)
        : begin_(lists + 1, 0), values_(entries.size()) {
        for (const auto& [list, value] : entries)
            ++begin_[list + 1];
        for (std::size_t list = 0; list < lists; ++list)
            begin_[list + 1] += begin_[list];
        std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
        for (const auto& [list, value] : entries)
            values_[next[list]++] = value;
    }

    std::span<const std::uint32_t> operator[](std::size_t list) const {
        return {values_.data() + begin_[list], values_.data() + begin_[list + 1]};
    }

  private:
    std::vector<std::uint32_t> begin_; ///< of each list, and the end of the last
    std::vector<std::uint32_t> values_;
};

} // namespace archsim
