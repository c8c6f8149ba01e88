#include "machine/microarchitecture.hpp"

#include <array>

namespace archsim {

namespace {

struct X86Row {
    std::string_view vendor;
    int family, first_model, last_model, first_stepping;
    Microarchitecture core;
};

// Families and models: Linux, arch/x86/include/asm/intel-family.h and arch/x86/kernel/cpu/amd.c. Lanes and
// pipes: Intel 64 and IA-32 Architectures Optimization Reference Manual; AMD Software Optimization Guides of
// families 17h, 19h and 1Ah (Zen 4 passes 512-bit operations twice through 256-bit pipes). Bandwidth of one
// core: 48 lines of L2 misses in flight over about 220 ns on a loaded Intel mesh (14 GB/s), 90 ns on a
// client; AMD's published read rate of one core is about half of its 32 B/clk link to the fabric.
constexpr std::string_view kIntel = "GenuineIntel", kAmd = "AuthenticAMD";
constexpr std::array kX86 = {
    X86Row{kIntel, 6, 0x3C, 0x3C, 0, {"haswell", "Intel", "Haswell", 2013, 8, 2, 20}},
    X86Row{kIntel, 6, 0x3F, 0x3F, 0, {"haswell", "Intel", "Haswell server", 2014, 8, 2, 11}},
    X86Row{kIntel, 6, 0x45, 0x46, 0, {"haswell", "Intel", "Haswell", 2013, 8, 2, 20}},
    X86Row{kIntel, 6, 0x3D, 0x3D, 0, {"broadwell", "Intel", "Broadwell", 2014, 8, 2, 20}},
    X86Row{kIntel, 6, 0x47, 0x47, 0, {"broadwell", "Intel", "Broadwell", 2015, 8, 2, 20}},
    X86Row{kIntel, 6, 0x4F, 0x4F, 0, {"broadwell", "Intel", "Broadwell server", 2016, 8, 2, 11}},
    X86Row{kIntel, 6, 0x56, 0x56, 0, {"broadwell", "Intel", "Broadwell server", 2015, 8, 2, 11}},
    X86Row{kIntel, 6, 0x4E, 0x4E, 0, {"skylake", "Intel", "Skylake", 2015, 8, 2, 22}},
    X86Row{kIntel, 6, 0x5E, 0x5E, 0, {"skylake", "Intel", "Skylake", 2015, 8, 2, 22}},
    X86Row{kIntel, 6, 0x8E, 0x8E, 0, {"skylake", "Intel", "Kaby Lake to Comet Lake", 2016, 8, 2, 22}},
    X86Row{kIntel, 6, 0x9E, 0x9E, 0, {"skylake", "Intel", "Kaby Lake or Coffee Lake", 2017, 8, 2, 22}},
    X86Row{kIntel, 6, 0xA5, 0xA6, 0, {"skylake", "Intel", "Comet Lake", 2020, 8, 2, 22}},
    X86Row{kIntel, 6, 0x55, 0x55, 5, {"cascade-lake", "Intel", "Cascade Lake", 2019, 16, 2, 12}},
    X86Row{kIntel, 6, 0x55, 0x55, 0, {"skylake-sp", "Intel", "Skylake server", 2017, 16, 2, 12}},
    X86Row{kIntel, 6, 0x6A, 0x6C, 0, {"ice-lake", "Intel", "Ice Lake server", 2021, 16, 2, 13}},
    X86Row{kIntel, 6, 0x8F, 0x8F, 0, {"sapphire-rapids", "Intel", "Sapphire Rapids", 2023, 16, 2, 14}},
    X86Row{kIntel, 6, 0xCF, 0xCF, 0, {"emerald-rapids", "Intel", "Emerald Rapids", 2023, 16, 2, 14}},
    X86Row{kIntel, 6, 0xAD, 0xAE, 0, {"granite-rapids", "Intel", "Granite Rapids", 2024, 16, 2, 14}},
    X86Row{kIntel, 6, 0x97, 0x97, 0, {"alder-lake", "Intel", "Alder Lake", 2021, 8, 2, 30}},
    X86Row{kIntel, 6, 0x9A, 0x9A, 0, {"alder-lake", "Intel", "Alder Lake", 2022, 8, 2, 30}},
    X86Row{kIntel, 6, 0xB7, 0xB7, 0, {"raptor-lake", "Intel", "Raptor Lake", 2022, 8, 2, 32}},
    X86Row{kIntel, 6, 0xBA, 0xBF, 0, {"raptor-lake", "Intel", "Raptor Lake", 2023, 8, 2, 32}},
    X86Row{kIntel, 6, 0xAA, 0xAC, 0, {"meteor-lake", "Intel", "Meteor Lake", 2023, 8, 2, 30}},
    X86Row{kIntel, 6, 0xBD, 0xBD, 0, {"lunar-lake", "Intel", "Lunar Lake", 2024, 8, 2, 30}},
    X86Row{kIntel, 6, 0xC5, 0xC6, 0, {"arrow-lake", "Intel", "Arrow Lake", 2024, 8, 2, 30}},
    X86Row{kAmd, 0x17, 0x00, 0x2F, 0, {"zen1", "AMD", "Zen or Zen+", 2017, 4, 2, 20}},
    X86Row{kAmd, 0x17, 0x30, 0xFF, 0, {"zen2", "AMD", "Zen 2", 2019, 8, 2, 22}},
    X86Row{kAmd, 0x19, 0x10, 0x1F, 0, {"zen4", "AMD", "Zen 4", 2022, 8, 2, 30}},
    X86Row{kAmd, 0x19, 0x60, 0x7F, 0, {"zen4", "AMD", "Zen 4", 2022, 8, 2, 35}},
    X86Row{kAmd, 0x19, 0xA0, 0xAF, 0, {"zen4", "AMD", "Zen 4c", 2023, 8, 2, 28}},
    X86Row{kAmd, 0x19, 0x00, 0xFF, 0, {"zen3", "AMD", "Zen 3", 2020, 8, 2, 25}},
    X86Row{kAmd, 0x1A, 0x20, 0x3F, 0, {"zen5", "AMD", "Zen 5 mobile", 2024, 8, 2, 35}},
    X86Row{kAmd, 0x1A, 0x60, 0x6F, 0, {"zen5", "AMD", "Zen 5 mobile", 2025, 8, 2, 35}},
    X86Row{kAmd, 0x1A, 0x00, 0xFF, 0, {"zen5", "AMD", "Zen 5", 2024, 16, 2, 35}},
};

struct ArmRow {
    int implementer, part;
    Microarchitecture core;
};

// Parts: Linux, arch/arm64/include/asm/cputype.h. Lanes and pipes: Arm's software optimisation guides of each
// core.
constexpr int kArm = 0x41, kAmpere = 0xC0, kApple = 0x61;
constexpr std::array kArmCores = {
    ArmRow{kArm, 0xD03, {"cortex-a53", "Arm", "Cortex-A53", 2012, 2, 1, 3}},
    ArmRow{kArm, 0xD04, {"cortex-a35", "Arm", "Cortex-A35", 2015, 2, 1, 3}},
    ArmRow{kArm, 0xD05, {"cortex-a55", "Arm", "Cortex-A55", 2017, 4, 1, 5}},
    ArmRow{kArm, 0xD07, {"cortex-a57", "Arm", "Cortex-A57", 2012, 4, 1, 6}},
    ArmRow{kArm, 0xD08, {"cortex-a72", "Arm", "Cortex-A72", 2015, 4, 1, 6}},
    ArmRow{kArm, 0xD0B, {"cortex-a76", "Arm", "Cortex-A76", 2018, 4, 2, 12}},
    ArmRow{kArm, 0xD0C, {"neoverse-n1", "Arm", "Neoverse N1", 2019, 4, 2, 15}},
    ArmRow{kArm, 0xD40, {"neoverse-v1", "Arm", "Neoverse V1", 2020, 8, 2, 20}},
    ArmRow{kArm, 0xD42, {"cortex-a78ae", "Arm", "Cortex-A78AE", 2020, 4, 2, 15}},
    ArmRow{kArm, 0xD49, {"neoverse-n2", "Arm", "Neoverse N2", 2021, 4, 2, 18}},
    ArmRow{kArm, 0xD4F, {"neoverse-v2", "Arm", "Neoverse V2", 2022, 4, 4, 25}},
    ArmRow{kAmpere, 0xAC3, {"ampereone", "Ampere", "AmpereOne", 2023, 4, 2, 15}},
    ArmRow{kApple, 0x022, {"apple-m1", "Apple", "M1", 2020, 4, 4, 50}},
    ArmRow{kApple, 0x023, {"apple-m1", "Apple", "M1", 2020, 4, 4, 50}},
};

} // namespace

std::optional<Microarchitecture> find_microarchitecture(std::string_view vendor, int family, int model,
                                                        int stepping) {
    for (const X86Row& row : kX86) // the first row that fits: narrower ranges stand before wider ones
        if (row.vendor == vendor && row.family == family && model >= row.first_model &&
            model <= row.last_model && stepping >= row.first_stepping)
            return row.core;
    return std::nullopt;
}

std::optional<Microarchitecture> find_arm_microarchitecture(int implementer, int part) {
    for (const ArmRow& row : kArmCores)
        if (row.implementer == implementer && row.part == part)
            return row.core;
    return std::nullopt;
}

} // namespace archsim
