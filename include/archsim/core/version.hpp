#pragma once
#include "archsim/core/export.hpp"

#include <string_view>

namespace archsim {

/// Version of the library, "major.minor.patch".
ARCHSIM_API std::string_view version();

} // namespace archsim
