#pragma once
// The identification leaves of an x86 processor (CPUID), read from the lines that a snapshot holds.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace archsim {

class Identification {
  public:
    /// "LEAF SUBLEAF EAX EBX ECX EDX" a line, in hexadecimal digits; lines that are not so are passed over.
    explicit Identification(std::string_view lines);

    struct Signature {
        int family = 0, model = 0, stepping = 0;
    };
    struct Caches {
        std::optional<double> l1, l2, l3; ///< bytes; L3 of one instance
    };

    std::string vendor() const;                 ///< "GenuineIntel"; empty without leaf 0
    std::string brand() const;                  ///< leaves 80000002 to 80000004
    std::optional<Signature> signature() const; ///< leaf 1
    std::string hypervisor() const;             ///< "KVMKVMKVM"; empty on bare metal
    double base_megahertz() const;              ///< leaf 16; 0: not told
    double boost_megahertz() const;
    Caches caches() const;                  ///< leaves 4 and 8000001D
    std::vector<std::string> flags() const; ///< the vector instruction sets, in Linux's spelling

  private:
    using Registers = std::array<std::uint32_t, 4>; ///< eax, ebx, ecx, edx
    const Registers* leaf(std::uint32_t number, std::uint32_t sub = 0) const;

    std::map<std::pair<std::uint32_t, std::uint32_t>, Registers> leaves_;
};

} // namespace archsim
