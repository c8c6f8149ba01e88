#pragma once
// What the user calls an architecture, resolved to a device of the database.

#include "archsim/run/session.hpp"

#include <string>
#include <vector>

namespace archsim {

struct ArchitectureChoice {
    std::string label;    ///< title of the family where it was named by family, else the device's name
    std::string hardware; ///< "NAME" or "NAME@MODE"
};

/// Families stand for the device that the deployment "families" lists for them; nothing named stands for the
/// deployment "architectures", "all" for every family. Throws InputError for names that are neither a family
/// nor a device, UsageError for the same architecture twice.
std::vector<ArchitectureChoice> choose_architectures(const Session& session,
                                                     const std::vector<std::string>& asked);

/// Index of the choice that `name` means: its label, family or device, in any case. Throws UsageError that
/// lists the labels.
std::size_t find_architecture(const std::vector<ArchitectureChoice>& choices, const std::string& name,
                              const std::string& flag);

} // namespace archsim
