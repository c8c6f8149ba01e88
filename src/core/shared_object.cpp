#include "core/shared_object.hpp"

#include "archsim/core/finding.hpp"

#include <fmt/format.h>

#include <dlfcn.h>

namespace archsim {

SharedObject::SharedObject(std::string_view file, std::string_view package, std::string_view purpose)
    : handle_(dlopen(std::string(file).c_str(), RTLD_NOW | RTLD_LOCAL)), file_(file) {
    if (handle_ != nullptr)
        return;
#ifdef __EMSCRIPTEN__ // its dlopen() knows no library
    throw InputError(
        fmt::format("{} needs {}, which WebAssembly has not; use the tools of the Debian package, "
                    "the tarball or the wheel",
                    purpose, package));
#else
    throw InputError(fmt::format("{} needs {}, which cannot be loaded; on Debian: apt-get install {}",
                                 purpose, file, package));
#endif
}

void* SharedObject::find(const char* name) const {
    void* const found = dlsym(handle_, name);
    if (found == nullptr)
        throw InputError(fmt::format("{} has no function {}; install a newer version of it", file_, name));
    return found;
}

} // namespace archsim
