#pragma once
// What one model file may cost before it is refused, so that a program that takes files from others is not
// taken down by one.

#include "archsim/core/export.hpp"

#include <chrono>
#include <cstddef>
#include <string>

namespace archsim {

/// Limits for reading a file, binding its sizes and cutting it into kernels. The defaults are several times
/// what the largest published models need.
struct Budget {
    double bytes = 256.0 * (1 << 20); ///< unpacked, and of what is kept of it
    double steps = 250e3; ///< nodes read or walked; the body of a loop counts each time it is walked
    double seconds = 30;  ///< of reading, and of binding
};

/// What is left of a budget. Its functions throw InputError with a hint where it is spent.
class ARCHSIM_API Spending {
  public:
    /// `what` is named in messages: a file or a graph.
    Spending(const Budget& budget, std::string what);

    /// So many nodes more.
    void step(double count = 1) {
        steps_ += count;
        if (steps_ > budget_.steps)
            refuse("steps");
        if (constexpr unsigned kBetweenLooks = 256; ++looks_ % kBetweenLooks == 0)
            look_at_clock();
    }
    /// So many bytes more.
    void keep(double bytes) {
        bytes_ += bytes;
        if (bytes_ > budget_.bytes)
            refuse("bytes");
    }

  private:
    void look_at_clock() const;
    [[noreturn]] void refuse(const char* which) const;

    Budget budget_;
    std::string what_;
    double steps_ = 0, bytes_ = 0;
    unsigned looks_ = 0;
    std::chrono::steady_clock::time_point begin_;
};

} // namespace archsim
