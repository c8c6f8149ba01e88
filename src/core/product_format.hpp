#pragma once
// The formats that weights of some width are multiplied in, where activations are quantised to meet them.

#include "archsim/core/precision.hpp"

namespace archsim {

/// Whether weights of so many bits, scales among them, have a 4-bit format: scales take less than a bit of
/// each (OCP Microscaling 0.25, NVFP4 0.5), and the next wider formats have six.
constexpr bool is_four_bit(double bits) {
    constexpr double kNextWider = 6;
    return bits < kNextWider;
}

/// The format of a product with weights of so many bits, where others take `products`: no product is narrower
/// than they are. Worked: 8.002 bits (fp8 in blocks) beside products in fp4 are multiplied in fp8.
inline Precision product_format(double bits, Precision products) {
    if (is_four_bit(bits) || bits_of(products) >= bits_of(Precision::fp8))
        return products;
    return is_integer(products) ? Precision::int8 : Precision::fp8;
}

} // namespace archsim
