#pragma once
#include "answers/difference/estimate_record.hpp"

namespace archsim {

/// Names kernels and their operator classes, and lists the operators with work.
void add_operators(const Result& leaf, GraphRecord& out);

} // namespace archsim
