#pragma once
// Memory that engines logged, beside what is estimated:
//
//   Memory by quantity
//   Quantity           Rows   Median error   Largest
//                             (%)            (%)
//   weights              28   0.3            2.4

#include "archsim/extend/renderer.hpp"
#include "fit/errors/memory_logs.hpp"

#include <vector>

namespace archsim {

/// Errors by quantity, whether what ran out fits by the estimate, and below them every row.
Report describe_memory_logs(const std::vector<MemoryLogRow>& rows);

} // namespace archsim
