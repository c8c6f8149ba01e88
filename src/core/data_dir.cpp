#include "archsim/core/data_dir.hpp"

#include "archsim/core/finding.hpp"

#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

namespace archsim {

namespace fs = std::filesystem;

namespace {

bool holds_data(const fs::path& folder) {
    std::error_code ignored; // an unreadable place is simply not the data folder
    return fs::is_directory(folder / "hardware_db", ignored);
}

} // namespace

fs::path data_dir() {
    const auto fail = [](const std::string& tried, const std::string& mend) -> fs::path {
        throw InputError(Finding{.kind = FindingKind::unreadable_file,
                                 .message = "no hardware_db/ folder was found in " + tried,
                                 .mend = mend});
    };
    if (const char* chosen = std::getenv("ARCHSIM_DATA_DIR"); chosen != nullptr && *chosen != '\0')
        return holds_data(chosen)
                   ? fs::path(chosen)
                   : fail(chosen, "let ARCHSIM_DATA_DIR name a folder with hardware_db/ and models/");

    std::vector<fs::path> places;
    std::error_code no_proc;
    if (const auto program = fs::read_symlink("/proc/self/exe", no_proc); !no_proc)
        places.push_back(program.parent_path().parent_path() / "share" / "archsim");
    places.emplace_back(ARCHSIM_FALLBACK_DATA_DIR);

    std::string tried;
    for (const auto& place : places) {
        if (holds_data(place))
            return place;
        tried += (tried.empty() ? "" : " or ") + place.string();
    }
    return fail(tried, "set ARCHSIM_DATA_DIR to the folder with hardware_db/ and models/");
}

} // namespace archsim
