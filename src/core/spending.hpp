#pragma once

#include "archsim/core/budget.hpp"

#include <chrono>
#include <string>

namespace archsim {

/// The rest of a budget. Its functions throw InputError with a hint where it is spent.
class Spending {
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
