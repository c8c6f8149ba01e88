#pragma once
// The core of a processor by its identification: generation and width. hardware_db/microarchitectures.json
// has one row per family and range of models; the only place to add a processor generation.

#include <optional>
#include <string_view>

namespace archsim {

/// A core design.
struct Microarchitecture {
    std::string_view generation; ///< as devices of the database name it
    std::string_view vendor;     ///< "Intel", "AMD", "Arm"
    std::string_view title;
    int year = 0;
    double lanes_fp32 = 4;     ///< fp32 lanes of one vector pipe
    double multiply_pipes = 2; ///< vector pipes that start a fused multiply-add every clock
    /// GB/s that one core streams from DRAM: cache lines in flight over the latency of a loaded socket.
    double core_bandwidth = 12;
};

/// Numbers of leaf 1: vendor "GenuineIntel" or "AuthenticAMD", and family and model with their extensions.
std::optional<Microarchitecture> find_microarchitecture(std::string_view vendor, int family, int model,
                                                        int stepping);
/// Arm's main identification register: implementer (0x41 is Arm) and part.
std::optional<Microarchitecture> find_arm_microarchitecture(int implementer, int part);

} // namespace archsim
