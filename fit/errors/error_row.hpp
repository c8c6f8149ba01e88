#pragma once
// How far one measurement lies from what was predicted of it.

#include "hardware/error_model.hpp"

#include <string>

namespace archsim {

/// log(measured / predicted) of one row; rates are turned so that it is about time.
struct ErrorRow {
    std::string id, family, runtime, device, model, regime, generation;
    SpreadOf metric = SpreadOf::latency;
    double value = 0;
    double predicted = 0; ///< logarithm of the predicted time; of a rate with the sign turned
    std::string workload; ///< sizes, batch, format and protocol
};

} // namespace archsim
