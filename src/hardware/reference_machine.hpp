#pragma once
// The processors beside which stacks state the time of code that starts work:
// hardware_db/reference_machines.json.

#include <string_view>

namespace archsim {

/// Instructions that the processor decodes per second beside which stacks of a family state such times.
/// Throws InputError where the table has none.
double reference_decode_rate(std::string_view family);

} // namespace archsim
