#pragma once
// Files that a tool itself reads.

#include <string>

namespace archsim::cli {

/// All of a file that a flag names, by the library's bounded reader. Throws InputError for what is no file.
std::string text_of_file(const std::string& file);

} // namespace archsim::cli
