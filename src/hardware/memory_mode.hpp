#pragma once
// Sizes of memory as modes: "Apple-M4-Pro-GPU@24GB".

#include "archsim/hardware/device.hpp"

#include "hardware/loose_names.hpp"

#include <memory>

namespace archsim {

/// The device with that much memory, where it is sold with different amounts: chips that share the memory of
/// their computer, described with the largest. The size is its one mode, so that answers name it. Null where
/// the size says nothing new: that of the device, or of the computer around a card. Throws InputError where
/// the device cannot have it.
std::shared_ptr<const Device> with_memory(const Device& device, const StatedMemory& memory);

} // namespace archsim
