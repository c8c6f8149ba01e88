#pragma once
// Text from files on its way out: names of nodes, tensors and dimensions may hold anything.

#include "archsim/core/export.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace archsim {

/// Whether colours of a terminal (ESC [ digits m) may stay.
enum class Colours : std::uint8_t { none, kept };

/// The same text in valid UTF-8 and without control characters but newline and tab: every other one, every
/// byte that is no UTF-8, and marks that reverse the reading direction are shown as "\x1b" or "\u202e".
ARCHSIM_API std::string printable(std::string text, Colours colours = Colours::none);

/// A text as a part of one line: line ends and tabs are shown as well ("\x0a"), and of more than `most` bytes
/// the middle is left out, which the line says.
ARCHSIM_API std::string one_line(std::string text, std::size_t most = 8192);

/// The same lines, none of which a log of GitHub takes for a command: what begins one ("::error::", behind
/// blanks too, and "##[error]" anywhere) has its first sign shown as "\x3a" or "\x23".
ARCHSIM_API std::string without_commands(std::string lines);

/// A JSON document in valid UTF-8 whose strings hold none of those characters either: JSON's own escapes
/// ("\u009b") stand for them, so that its meaning stays.
ARCHSIM_API std::string printable_json(std::string document);

} // namespace archsim
