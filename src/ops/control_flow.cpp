// Control flow: bodies appear inline in the operator list, with their repeat count.

#include "ops/engine.hpp"
#include "ops/families.hpp"

namespace archsim {

bool Engine::run_control_flow(const Scope&, const Node&, const OperatorRow&) { return false; }

namespace {
constexpr OperatorRow kRows[] = {{"If", kOnnxDomain, 1, nullptr, nullptr, nullptr}};
}
std::span<const OperatorRow> control_flow_rows() { return std::span(kRows).first(0); }

} // namespace archsim
