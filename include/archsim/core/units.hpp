#pragma once
// Strong types for physical quantities: SI doubles whose dimension is part of the type, so that
// `Bytes / BytesPerSecond` is `Seconds` and `Bytes + Seconds` does not compile.

#include <compare>

namespace archsim {

/// A double with dimension time^T * energy^E * bytes^B * operations^O. Values are SI: seconds, joules,
/// bytes, operations (1 multiply-accumulate = 2 operations).
template <int T, int E, int B, int O>
struct Quantity {
    double value = 0.0;

    constexpr Quantity() = default;
    /// From a plain number in the SI unit.
    constexpr explicit Quantity(double v) : value(v) {}

    /// Adds a quantity of the same kind.
    constexpr Quantity& operator+=(Quantity other) {
        value += other.value;
        return *this;
    }
    /// Subtracts a quantity of the same kind.
    constexpr Quantity& operator-=(Quantity other) {
        value -= other.value;
        return *this;
    }
    /// Scales.
    constexpr Quantity& operator*=(double factor) {
        value *= factor;
        return *this;
    }
    /// Sum of two of the same kind.
    friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value + b.value); }
    /// Difference of two of the same kind.
    friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value - b.value); }
    /// Scaled.
    friend constexpr Quantity operator*(Quantity a, double f) { return Quantity(a.value * f); }
    /// Scaled.
    friend constexpr Quantity operator*(double f, Quantity a) { return Quantity(a.value * f); }
    /// Scaled.
    friend constexpr Quantity operator/(Quantity a, double f) { return Quantity(a.value / f); }
    /// Order of two of the same kind.
    friend constexpr auto operator<=>(Quantity, Quantity) = default;
};

template <int T1, int E1, int B1, int O1, int T2, int E2, int B2, int O2>
constexpr auto operator*(Quantity<T1, E1, B1, O1> a, Quantity<T2, E2, B2, O2> b) {
    if constexpr (T1 + T2 == 0 && E1 + E2 == 0 && B1 + B2 == 0 && O1 + O2 == 0)
        return a.value * b.value;
    else
        return Quantity<T1 + T2, E1 + E2, B1 + B2, O1 + O2>(a.value * b.value);
}

template <int T1, int E1, int B1, int O1, int T2, int E2, int B2, int O2>
constexpr auto operator/(Quantity<T1, E1, B1, O1> a, Quantity<T2, E2, B2, O2> b) {
    if constexpr (T1 == T2 && E1 == E2 && B1 == B2 && O1 == O2)
        return a.value / b.value;
    else
        return Quantity<T1 - T2, E1 - E2, B1 - B2, O1 - O2>(a.value / b.value);
}

using Seconds = Quantity<1, 0, 0, 0>;
using Hertz = Quantity<-1, 0, 0, 0>;
using Joules = Quantity<0, 1, 0, 0>;
using Watts = Quantity<-1, 1, 0, 0>;
using Bytes = Quantity<0, 0, 1, 0>;
using BytesPerSecond = Quantity<-1, 0, 1, 0>;
using Ops = Quantity<0, 0, 0, 1>;
using OpsPerSecond = Quantity<-1, 0, 0, 1>;
using OpsPerByte = Quantity<0, 0, -1, 1>;

} // namespace archsim
