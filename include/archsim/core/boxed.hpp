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
    Boxed(std::nullopt_t) {}
    Boxed(T value) : value_(std::make_unique<T>(std::move(value))) {}
    Boxed(const Boxed& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
    Boxed(Boxed&&) noexcept = default;
    ~Boxed() = default;
    Boxed& operator=(const Boxed& other) {
        if (this != &other)
            value_ = other ? std::make_unique<T>(*other) : nullptr;
        return *this;
    }
    Boxed& operator=(Boxed&&) noexcept = default;

    bool has_value() const { return value_ != nullptr; }
    explicit operator bool() const { return has_value(); }
    T& operator*() { return *value_; }
    const T& operator*() const { return *value_; }
    T* operator->() { return value_.get(); }
    const T* operator->() const { return value_.get(); }
    void reset() { value_.reset(); }

    friend bool operator==(const Boxed& a, const Boxed& b) {
        return a && b ? *a == *b : a.has_value() == b.has_value();
    }

  private:
    std::unique_ptr<T> value_;
};

} // namespace archsim
