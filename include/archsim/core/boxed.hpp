#pragma once
// A std::optional that keeps its value on the heap: for large parts that few of many objects have.

#include <memory>
#include <optional>
#include <utility>

namespace archsim {

/// An optional T of the size of a pointer. Copies are deep; equal where both are empty or hold equal values.
/// @code
/// Boxed<double> share;
/// assert(!share);
/// share = 0.5;
/// const Boxed<double> copy = share;
/// assert(*copy == 0.5);
/// @endcode
template <typename T>
class Boxed {
  public:
    using value_type = T; ///< as std::optional

    Boxed() = default;
    /// No value.
    Boxed(std::nullopt_t) {}
    /// A value of its own.
    Boxed(T value) : value_(std::make_unique<T>(std::move(value))) {}
    /// A copy of the value, if there is one.
    Boxed(const Boxed& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
    /// Leaves `other` without a value.
    Boxed(Boxed&& other) noexcept = default;
    ~Boxed() = default;
    /// A copy of the value, if there is one.
    Boxed& operator=(const Boxed& other) {
        if (this != &other)
            value_ = other ? std::make_unique<T>(*other) : nullptr;
        return *this;
    }
    /// Leaves `other` without a value.
    Boxed& operator=(Boxed&& other) noexcept = default;

    bool has_value() const { return value_ != nullptr; }   ///< whether there is a value
    explicit operator bool() const { return has_value(); } ///< whether there is a value
    T& operator*() { return *value_; }                     ///< the value, which must exist
    const T& operator*() const { return *value_; }         ///< the value, which must exist
    T* operator->() { return value_.get(); }               ///< the value, which must exist
    const T* operator->() const { return value_.get(); }   ///< the value, which must exist
    void reset() { value_.reset(); }                       ///< removes the value

    /// Both without a value, or with equal ones.
    friend bool operator==(const Boxed& a, const Boxed& b) {
        return a && b ? *a == *b : a.has_value() == b.has_value();
    }

  private:
    std::unique_ptr<T> value_;
};

} // namespace archsim
