#pragma once
// Names of an input as data: parts of a line, and no line of their own.

#include <cstddef>
#include <string>

namespace archsim {

/// A text as a part of one line, printable() with line ends and tabs shown as well ("\x0a"); of more than
/// `most` bytes the middle is left out, which the line says.
std::string one_line(std::string text, std::size_t most = 8192);

/// The same lines, none of which a log of GitHub takes for a command: what begins one ("::error::", behind
/// blanks too, and "##[error]" anywhere) has its first sign shown as "\x3a" or "\x23".
std::string without_commands(std::string lines);

} // namespace archsim
