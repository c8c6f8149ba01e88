#pragma once
// Texts of a snapshot -> what is seen of the processor. Everything is optional: a container hides much of it.

#include "machine/microarchitecture.hpp"
#include "machine/snapshot.hpp"

#include <array>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace archsim {

// The identification leaves of an x86 processor (CPUID), read from the lines that a snapshot holds.

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

/// The visible facts of a processor, in SI units. `hidden` members are unknown, never zero.
struct ProcessorSeen {
    std::string name, vendor; ///< as the processor calls itself; empty: hidden
    std::optional<Microarchitecture> core;
    std::set<std::string, std::less<>> flags; ///< instruction sets, in Linux's spelling
    double cores = 1;                         ///< that this process may use
    double threads = 1;                       ///< hardware threads among them
    bool cores_counted = false;               ///< false: nothing said how many there are
    std::string limit;                        ///< what took cores away: a quota, an affinity
    bool hypervisor = false;
    std::string hypervisor_name;
    std::optional<double> base_hz, boost_hz;
    std::optional<double> l1_bytes, l2_bytes; ///< of one core
    std::optional<double> l3_bytes;           ///< of all that the cores see
    std::optional<double> memory_bytes;
    bool memory_limited = false; ///< by a container

    bool has(std::string_view flag) const { return flags.contains(flag); }
};

ProcessorSeen read_processor(const Snapshot& snapshot);

} // namespace archsim
