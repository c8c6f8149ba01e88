#include "archsim/core/version.hpp"

namespace archsim {

std::string_view version() {
    return ARCHSIM_VERSION;
}

} // namespace archsim
