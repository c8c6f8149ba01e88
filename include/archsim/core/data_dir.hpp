#pragma once
// Where the hardware database and the model catalogue lie.

#include "archsim/core/export.hpp"

#include <filesystem>

namespace archsim {

/// The folder with `hardware_db/` and `models/`: the environment variable ARCHSIM_DATA_DIR when it is set,
/// else share/archsim beside the folder of the shared library or of the running program (up to four folders
/// above: lib/x86_64-linux-gnu/libarchsim.so), else the place chosen when the library was built. Throws
/// InputError, naming the places tried, when none of them has a hardware_db/.
ARCHSIM_API std::filesystem::path data_dir();

} // namespace archsim
