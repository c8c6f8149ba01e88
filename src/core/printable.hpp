#pragma once
// Text from files on its way out: names of nodes, tensors and dimensions may hold anything.

#include <cstdint>
#include <string>

namespace archsim {

/// Whether colours of a terminal (ESC [ digits m) may stay.
enum class Colours : std::uint8_t { none, kept };

/// The same text in valid UTF-8 and without control characters but newline and tab: every other one, every
/// byte that is no UTF-8, and marks that reverse the reading direction are shown as "\x1b" or "\u202e".
std::string printable(std::string text, Colours colours = Colours::none);

/// A JSON document in valid UTF-8 whose strings hold none of those characters either: JSON's own escapes
/// ("\u009b") stand for them, so that its meaning stays.
std::string printable_json(std::string document);

} // namespace archsim
