#pragma once
// A device with its structure changed: more units, a larger array, a bigger scratchpad, another clock. What
// design-space sweeps vary besides the rates of MachineChanges.

#include "archsim/core/export.hpp"
#include "archsim/hardware/device.hpp"
#include "archsim/hardware/family.hpp"

#include <array>
#include <memory>

namespace archsim {

/// Factors on a device's structure; 1 everywhere is the device itself.
struct DeviceChanges {
    std::array<double, kStructureCount> factors;

    DeviceChanges() { factors.fill(1); }
    /// Factor on one part.
    double operator[](Structure s) const { return factors[static_cast<std::size_t>(s)]; }
    /// Factor on one part.
    double& operator[](Structure s) { return factors[static_cast<std::size_t>(s)]; }
    /// Lexicographic order, for use as a key.
    auto operator<=>(const DeviceChanges&) const = default;
};

/// A copy of the device with the changes applied. Peaks follow: twice the units or the clock is twice the
/// peak, twice the rows and columns of its arrays four times. A TPU of 2 arrays of 128 x 128 with `array` = 2
/// has 2 arrays of 256 x 256 and 4 times the operations per clock.
ARCHSIM_API std::shared_ptr<const Device> changed(const Device& device, const DeviceChanges& changes);

} // namespace archsim
