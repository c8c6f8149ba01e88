#pragma once
// Which changes of a machine leave its counts as they are: searches over rates, prices and limits count once.

#include "archsim/map/machine_changes.hpp"

namespace archsim {

/// What a mapper implements besides Mapper when its counts follow from the structure and the parameters of a
/// machine, and from no other rate than it says. A rate being there or not is structure.
class CountsOfStructure {
  public:
    /// Whether counts depend on the rates that `lever` (peak, bandwidth or on_chip) changes.
    virtual bool counts_depend_on(Lever lever, const Machine& machine) const;

  protected:
    CountsOfStructure() = default;
    CountsOfStructure(const CountsOfStructure&) = default;
    CountsOfStructure& operator=(const CountsOfStructure&) = default;
    ~CountsOfStructure() = default;
};

/// Whether a change of `lever` may change what the machine's mapper counts. Of a mapper that does not say,
/// everything may.
bool counts_depend_on(Lever lever, const Machine& machine);

} // namespace archsim
