#include "family/table.hpp"

namespace archsim {

std::span<const FamilyRow* const> library_families() {
#define ARCHSIM_ROW(name) &family::name,
    static constexpr const FamilyRow* kRows[] = {ARCHSIM_FAMILIES(ARCHSIM_ROW)};
#undef ARCHSIM_ROW
    return kRows;
}

} // namespace archsim
