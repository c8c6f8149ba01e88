#pragma once
// What an earlier version said of rows before anything was fitted to them.

#include <string>

namespace archsim {

/// A blind prediction of one measured row, in the row's own unit.
struct FirstRun {
    std::string id;
    double predicted = 0, low = 0, high = 0; ///< with its nominal 90 % interval
};

} // namespace archsim
