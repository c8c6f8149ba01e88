#pragma once
// Parts of a device that a question changes by a factor: rates, costs and limits (Lever), and the structure.

#include "archsim/hardware/family.hpp"
#include "archsim/run/session.hpp"
#include "hardware/units.hpp"

#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace archsim {

struct VariedPart {
    std::variant<Lever, Structure> part;

    std::string_view name() const;  ///< flag value and JSON key: "bandwidth"
    std::string_view title() const; ///< for sentences: "memory bandwidth"
    /// Its factor among these.
    double& of(MachineChanges& changes, DeviceChanges& structure) const;
    double& of(Conditions& conditions) const { return of(conditions.changes, conditions.structure); }
};

/// Every part, rates first.
std::vector<VariedPart> varied_parts();
/// The part of that name, or of another word for it ("sram", "tdp"). Throws UsageError that names the part of
/// a word which means another amount ("macs"), else all of them; `where` begins it.
VariedPart varied_part(std::string_view name, std::string_view where = "");

/// The amount of a part that a text asks for.
struct PartAmount {
    double value = 1;
    bool absolute = false; ///< in the library's unit of the part, not a factor on the device's own
};
/// "2x", "150%" or, but of the structure, "0.5" as a factor, "102.4GB/s" or "32x32" as a value. Throws
/// UsageError that begins with `where` and names what the part takes.
PartAmount part_amount(VariedPart part, std::string_view text, std::string_view where);

/// The dimension of a value with a unit; a plain number where a part has none.
PhysicalDimension dimension_of(VariedPart part);

/// The machine's amount of a part, in the library's unit. Throws InputError where its device does not state
/// it.
double own_amount(VariedPart part, const Machine& machine);

} // namespace archsim
