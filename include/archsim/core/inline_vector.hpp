#pragma once
// A std::vector for short lists of plain values: the first few elements lie in the object itself. A graph has
// several such lists per operator, and nearly all hold one to four elements.

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace archsim {

/// Like std::vector<T>, with room for `N` elements before memory is allocated. Iterators are invalidated as
/// there, and by moving the vector too.
/// @code
/// InlineVector<int, 4> list{1, 2};
/// list.push_back(3);
/// assert(list.size() == 3 && list.back() == 3);
/// @endcode
template <typename T, std::uint32_t N>
class InlineVector {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T> && N > 0);

  public:
    using value_type = T;                                                 ///< as std::vector
    using size_type = std::size_t;                                        ///< as std::vector
    using difference_type = std::ptrdiff_t;                               ///< as std::vector
    using reference = T&;                                                 ///< as std::vector
    using const_reference = const T&;                                     ///< as std::vector
    using iterator = T*;                                                  ///< as std::vector
    using const_iterator = const T*;                                      ///< as std::vector
    using reverse_iterator = std::reverse_iterator<iterator>;             ///< as std::vector
    using const_reverse_iterator = std::reverse_iterator<const_iterator>; ///< as std::vector

    InlineVector() = default;
    /// `count` copies of a value.
    explicit InlineVector(std::size_t count, const T& value = T{}) { assign(count, value); }
    /// The values listed.
    InlineVector(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
    /// A copy of a range.
    template <std::forward_iterator Iterator>
    InlineVector(Iterator first, Iterator last) {
        assign(first, last);
    }
    /// A copy of a list kept elsewhere.
    InlineVector(const std::vector<T>& values) { assign(values.begin(), values.end()); }
    /// A copy.
    InlineVector(const InlineVector& other) { assign(other.begin(), other.end()); }
    /// Leaves `other` empty.
    InlineVector(InlineVector&& other) noexcept { take(other); }
    ~InlineVector() { release(); }

    /// A copy.
    InlineVector& operator=(const InlineVector& other) {
        if (this != &other)
            assign(other.begin(), other.end());
        return *this;
    }
    /// Leaves `other` empty.
    InlineVector& operator=(InlineVector&& other) noexcept {
        if (this != &other) {
            release();
            take(other);
        }
        return *this;
    }
    /// The values listed.
    InlineVector& operator=(std::initializer_list<T> values) {
        assign(values.begin(), values.end());
        return *this;
    }

    std::size_t size() const { return size_; }                      ///< number of elements
    bool empty() const { return size_ == 0; }                       ///< no elements
    std::size_t capacity() const { return capacity_; }              ///< elements that fit without growing
    T* data() { return on_heap() ? storage_.heap : storage_.here; } ///< the elements in one piece
    const T* data() const { return on_heap() ? storage_.heap : storage_.here; } ///< the elements in one piece

    iterator begin() { return data(); }                           ///< first element
    iterator end() { return data() + size_; }                     ///< behind the last element
    const_iterator begin() const { return data(); }               ///< first element
    const_iterator end() const { return data() + size_; }         ///< behind the last element
    const_iterator cbegin() const { return begin(); }             ///< first element
    const_iterator cend() const { return end(); }                 ///< behind the last element
    reverse_iterator rbegin() { return reverse_iterator(end()); } ///< last element
    reverse_iterator rend() { return reverse_iterator(begin()); } ///< before the first element
    const_reverse_iterator rbegin() const { return const_reverse_iterator(end()); } ///< last element
    const_reverse_iterator rend() const {
        return const_reverse_iterator(begin());
    } ///< before the first element

    T& operator[](std::size_t i) { return data()[i]; }              ///< element `i`, which must exist
    const T& operator[](std::size_t i) const { return data()[i]; }  ///< element `i`, which must exist
    T& at(std::size_t i) { return data()[checked(i)]; }             ///< throws std::out_of_range
    const T& at(std::size_t i) const { return data()[checked(i)]; } ///< throws std::out_of_range
    T& front() { return data()[0]; }                                ///< first element, which must exist
    const T& front() const { return data()[0]; }                    ///< first element, which must exist
    T& back() { return data()[size_ - 1]; }                         ///< last element, which must exist
    const T& back() const { return data()[size_ - 1]; }             ///< last element, which must exist

    /// Makes room for `count` elements.
    void reserve(std::size_t count) {
        if (count > capacity_)
            grow(count);
    }
    /// Removes all elements; the room stays.
    void clear() { size_ = 0; }
    /// Appends a value.
    void push_back(const T& value) {
        const T kept = value; // may lie in the memory that is replaced
        if (size_ == capacity_)
            grow(std::size_t{size_} + 1);
        std::construct_at(data() + size_++, kept);
    }
    /// Appends T(arguments...).
    template <typename... Arguments>
    T& emplace_back(Arguments&&... arguments) {
        push_back(T(std::forward<Arguments>(arguments)...));
        return back();
    }
    /// Removes the last element, which must exist.
    void pop_back() { --size_; }
    /// Removes elements at the end, or appends copies of `value`.
    void resize(std::size_t count, const T& value = T{}) {
        const T kept = value;
        reserve(count);
        if (count > size_)
            std::uninitialized_fill_n(data() + size_, count - size_, kept);
        size_ = static_cast<std::uint32_t>(count);
    }
    /// `count` copies of a value.
    void assign(std::size_t count, const T& value) {
        const T kept = value;
        clear();
        resize(count, kept);
    }
    /// A copy of a range, which must not lie in this list.
    template <std::forward_iterator Iterator>
    void assign(Iterator first, Iterator last) {
        clear();
        append(first, last);
    }
    /// The values listed.
    void assign(std::initializer_list<T> values) { assign(values.begin(), values.end()); }

    /// Inserts a value before `place`; returns its place.
    iterator insert(const_iterator place, const T& value) { return insert(place, 1, value); }
    /// Inserts a range, which must not lie in this list, before `place`; returns its place.
    template <std::forward_iterator Iterator>
    iterator insert(const_iterator place, Iterator first, Iterator last) {
        const auto at = place - begin();
        const auto before = static_cast<std::ptrdiff_t>(size_);
        append(first, last);
        std::rotate(begin() + at, begin() + before, end());
        return begin() + at;
    }
    /// Inserts copies of a value before `place`; returns their place.
    iterator insert(const_iterator place, std::size_t count, const T& value) {
        const auto at = place - begin();
        const auto before = static_cast<std::ptrdiff_t>(size_);
        resize(size_ + count, value);
        std::rotate(begin() + at, begin() + before, end());
        return begin() + at;
    }
    /// Removes an element; returns the place behind it.
    iterator erase(const_iterator place) { return erase(place, place + 1); }
    /// Removes elements; returns the place behind them.
    iterator erase(const_iterator first, const_iterator last) {
        const auto at = first - begin(), after = last - begin();
        std::copy(begin() + after, end(), begin() + at);
        size_ -= static_cast<std::uint32_t>(after - at);
        return begin() + at;
    }

    /// Equal sizes and elements.
    friend bool operator==(const InlineVector& a, const InlineVector& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }
    /// Lexicographical order.
    friend auto operator<=>(const InlineVector& a, const InlineVector& b) {
        return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
    }

  private:
    bool on_heap() const { return capacity_ > N; }

    std::size_t checked(std::size_t i) const {
        if (i >= size_)
            throw std::out_of_range("InlineVector::at");
        return i;
    }

    template <typename Iterator>
    void append(Iterator first, Iterator last) {
        const auto count = static_cast<std::size_t>(std::distance(first, last));
        reserve(size_ + count);
        std::uninitialized_copy(first, last, data() + size_);
        size_ += static_cast<std::uint32_t>(count);
    }

    void grow(std::size_t count) {
        constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
        if (count > kMost)
            throw std::bad_alloc();
        const std::size_t capacity = std::min(std::max(count, std::size_t{capacity_} * 2), kMost);
        T* const grown = std::allocator<T>().allocate(capacity);
        std::uninitialized_copy(begin(), end(), grown);
        release();
        storage_.heap = grown;
        capacity_ = static_cast<std::uint32_t>(capacity);
    }

    /// Gives the memory back; `size_` and the storage are stale then.
    void release() {
        if (on_heap())
            std::allocator<T>().deallocate(storage_.heap, capacity_);
    }

    void take(InlineVector& other) {
        size_ = std::exchange(other.size_, 0);
        capacity_ = std::exchange(other.capacity_, N);
        storage_ = other.storage_;
    }

    union Storage {
        Storage() : heap(nullptr) {}
        T* heap;
        T here[N];
    };

    std::uint32_t size_ = 0;
    std::uint32_t capacity_ = N; ///< more than N: on the heap
    Storage storage_;
};

} // namespace archsim
