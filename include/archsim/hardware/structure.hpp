#pragma once
// The parts of a device's structure that a design change scales.

#include "archsim/core/export.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace archsim {

/// A part of the structure. A change is a factor on the device's own value.
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

} // namespace archsim
