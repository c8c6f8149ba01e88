#pragma once
// What every later stage relies on: in, a bound graph as the file has it; out, one whose operators have the
// operands that their kind is read by, in an order in which each reads what was made before.

#include "ops/bind_state.hpp"

namespace archsim {

/// Says which operand that its row needs a node does not name; empty: it names all.
std::string missing_operand(const Node& node, const OperatorRow& row);

/// Makes an operator one that reads nothing and does not run.
void leave_out(Operator& op);

/// An operator whose work is not known moves its tensors: kinds with a window or a contraction would be read
/// by those.
void leave_uncounted(Operator& op);

/// Leaves out what reads itself or a later result, or makes a tensor again; reports each.
void check_structure(BindState& state);

} // namespace archsim
