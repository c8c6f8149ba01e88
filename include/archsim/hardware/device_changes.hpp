#pragma once
// A device with its structure changed: more units, a larger array, a bigger scratchpad, another clock. What
// design-space sweeps vary besides the rates of MachineChanges.

#include "archsim/core/export.hpp"
#include "archsim/hardware/device.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string_view>

namespace archsim {

/// A part of the structure. Each is a factor on the device's own value.
enum class Structure : std::uint8_t {
    units,          ///< multiprocessors, cores, arrays, tiles: rounded to whole ones, at least one
    array,          ///< rows and columns of each systolic array, tile or multiply-accumulate array
    on_chip_memory, ///< capacity of caches, scratchpads and buffers
    clock,          ///< of the compute engines; energy per event stays as it is at the device's own voltage
    count_
};
inline constexpr std::size_t kStructureCount = static_cast<std::size_t>(Structure::count_);
ARCHSIM_API std::string_view name_of(Structure structure); ///< "on_chip_memory"
ARCHSIM_API std::optional<Structure> parse_structure(std::string_view text);

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
