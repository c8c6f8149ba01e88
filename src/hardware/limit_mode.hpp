#pragma once
// Power limits, sizes of memory and slices as modes: "H100@350W", "H100@1g.10gb".

#include "archsim/hardware/device.hpp"
#include "hardware/loose_names.hpp"

namespace archsim {

/// Watts of a mode that sets a power limit, as `nvidia-smi --power-limit` does: "350W" is 350.
std::optional<double> limit_of_mode(std::string_view mode);

/// The device with that limit as its one mode; null where it has modes of its own or `mode` is no limit.
/// Throws InputError for a limit above its thermal design power.
std::shared_ptr<const Device> held_to(const Device& device, std::string_view mode);

/// The device with that much memory, where it is sold with different amounts: processors, and chips that
/// share the memory of their computer, described with the largest. The size is its one mode, so that answers
/// name it. Null where the size says nothing new: that of the device, or of the computer around a card.
/// Throws InputError where the device cannot have it.
std::shared_ptr<const Device> with_memory(const Device& device, const StatedMemory& memory);

/// The slice of that name of a device, as its one mode: its units, its part of cache, memory and power,
/// without price and links. Null where the device has none of that name.
std::shared_ptr<const Device> slice_of(const Device& device, std::string_view name);

} // namespace archsim
