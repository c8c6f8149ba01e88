#include "core/data_dir.hpp"

#include "archsim/core/finding.hpp"
#include "core/embedded_files.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <sys/auxv.h>
#include <system_error>

/// The place of the headers that the program was compiled with, where it is linked with the static library
/// of an installation (archsim/core/export.hpp); null in the shared one and in the tools.
extern "C" __attribute__((weak)) const char* archsim_headers();

namespace archsim {

namespace fs = std::filesystem;

namespace {

bool holds_data(const fs::path& folder) {
    std::error_code ignored; // an unreadable place is simply not the data folder
    return fs::is_directory(folder / "hardware_db", ignored);
}

#ifndef __EMSCRIPTEN__
/// `share/archsim` in the folder of `binary` (archsim/_archsim.so as pip installs it), and in the folders
/// above it: bin/TOOL, lib/libarchsim.so, lib/x86_64-linux-gnu/libarchsim.so,
/// lib/python3/dist-packages/archsim/_archsim.so.
void add_places_beside(const fs::path& binary, std::vector<fs::path>& places) {
    constexpr int kFolders = 5;
    fs::path folder = binary.parent_path();
    for (int i = 0; i < kFolders && folder.has_relative_path(); ++i, folder = folder.parent_path())
        places.push_back(folder / "share" / "archsim");
}
#endif

} // namespace

fs::path data_dir() {
    if (const char* chosen = std::getenv("ARCHSIM_DATA_DIR"); chosen != nullptr && *chosen != '\0') {
        if (holds_data(chosen))
            return chosen;
        throw InputError(Finding{.kind = FindingKind::unreadable_file,
                                 .message = std::string("no hardware_db/ folder was found in ") + chosen,
                                 .hint = "let ARCHSIM_DATA_DIR name a folder with hardware_db/ and models/"});
    }
#ifdef __EMSCRIPTEN__
    return kEmbeddedRoot; // of the program's own making; models lie beside it
#else
    std::vector<fs::path> places;
    std::error_code unknown;
    // The program or shared library that holds this code; then the program, which has no full path there.
    if (Dl_info here{}; dladdr(reinterpret_cast<void*>(&data_dir), &here) != 0 && here.dli_fname != nullptr)
        if (const auto library = fs::canonical(here.dli_fname, unknown); !unknown)
            add_places_beside(library, places);
    if (const auto program = fs::read_symlink("/proc/self/exe", unknown); !unknown)
        add_places_beside(program, places);
    else if (const auto* started =
                 reinterpret_cast<const char*>(getauxval(AT_EXECFN))) // no /proc: a bare root
        if (const auto path = fs::canonical(started, unknown); !unknown)
            add_places_beside(path, places);
    if (archsim_headers != nullptr)
        if (const auto headers = fs::canonical(archsim_headers(), unknown); !unknown)
            add_places_beside(headers, places);

    for (const auto& place : places)
        if (holds_data(place))
            return place;
    return kEmbeddedRoot;
#endif
}

std::vector<fs::path> model_dirs() {
    if (const fs::path data = data_dir(); !is_embedded(data))
        return {data / "models"};
    std::vector<fs::path> places;
#ifdef __EMSCRIPTEN__ // the host names the program (npm/lib/host.js): its package holds both
    if (const char* const program = std::getenv("_"); program != nullptr && *program == '/')
        places.push_back(fs::path(program).parent_path().parent_path() / "share" / "archsim" / "models");
#endif
    const char* const given = std::getenv("XDG_DATA_DIRS");
    std::string_view shared = given != nullptr && *given != '\0' ? given : "/usr/local/share:/usr/share";
    while (!shared.empty()) {
        const std::string_view folder = shared.substr(0, shared.find(':'));
        shared.remove_prefix(std::min(shared.size(), folder.size() + 1));
        if (folder.starts_with('/')) // the specification has others ignored
            places.push_back(fs::path(folder) / "archsim" / "models");
    }
    const fs::path chosen = fs::path(ARCHSIM_FALLBACK_DATA_DIR) / "models";
    if (std::ranges::find(places, chosen) == places.end())
        places.push_back(chosen);
    return places;
}

fs::path data_table(std::string_view name) {
    constexpr std::string_view kFolder = "hardware_db";
    const fs::path own = data_dir() / kFolder / name;
    return is_text_file(own) ? own : fs::path(kEmbeddedRoot) / kFolder / name;
}

} // namespace archsim
