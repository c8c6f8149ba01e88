#pragma once
// The limits on one model file before it is refused, so that a program that takes files from others is not
// taken down by one.

namespace archsim {

/// Limits for reading a file, binding its sizes and cutting it into kernels. The defaults are several times
/// what the largest published models need.
struct Budget {
    double bytes = 256.0 * (1 << 20); ///< unpacked, and of what is kept of it
    double steps = 250e3; ///< nodes read or walked; the body of a loop counts each time it is walked
    double seconds = 30;  ///< of reading, and of binding
};

} // namespace archsim
