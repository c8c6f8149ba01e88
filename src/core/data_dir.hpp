#pragma once
// Where the hardware database and the model catalogue lie.

#include <filesystem>
#include <string_view>
#include <vector>

namespace archsim {

/// The folder with `hardware_db/` and `models/`: the environment variable ARCHSIM_DATA_DIR when it is set,
/// else share/archsim beside the folder of the shared library or of the running program (up to four folders
/// above: lib/x86_64-linux-gnu/libarchsim.so). Where there is none it is the name `<built in>`, below which
/// everything that reads the database finds the `hardware_db/` that is part of the library itself. Throws
/// InputError when ARCHSIM_DATA_DIR names a folder without hardware_db/.
std::filesystem::path data_dir();

/// Where the graphs of the model catalogue are looked for, best first: data_dir()/models when that is a
/// folder; else archsim/models in the folders of XDG_DATA_DIRS (/usr/local/share and /usr/share when it is
/// not set), and where the library was to be installed, for the graphs are not part of the library.
std::vector<std::filesystem::path> model_dirs();

/// A table of hardware_db/, such as "grid_intensities.json": that of data_dir(), or, where a folder of one's
/// own has no such file, the one that is part of the library.
std::filesystem::path data_table(std::string_view name);

} // namespace archsim
