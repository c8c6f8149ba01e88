#pragma once
// How far estimates can be believed: per family what was measured, what is a projection, and how wide the
// intervals are. Written to docs/limits_of_belief.md.

#include "archsim/core/export.hpp"
#include "archsim/extend/renderer.hpp"
#include "archsim/hardware/database.hpp"
#include "hardware/uncertainty.hpp"

#include <memory>
#include <vector>

namespace archsim {

/// One device under its default stack.
struct BeliefRow {
    std::shared_ptr<const Device> device;
    std::shared_ptr<const Runtime> runtime;
    Evidence evidence = Evidence::none; ///< of the parameters
    bool projected = false;             ///< see UncertaintyTable::measured
    Spread latency, energy;             ///< of compute-bound networks
    bool energy_known = false;          ///< static power, or a thermal design power to take a share of
};

/// Every device of the database, by family and id; devices that cannot be read or have no stack are left out.
ARCHSIM_API std::vector<BeliefRow> beliefs(const HardwareDatabase& database, const UncertaintyTable& table);
ARCHSIM_API Report describe(const std::vector<BeliefRow>& rows);

} // namespace archsim
