#pragma once
// From the visible facts of a processor to its entry: which device of the database the name that the hardware
// gives itself stands for, and what the parts of the entry are made from.

#include "machine/processor.hpp"
#include "machine/this_machine.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace archsim {

// Collects the numbers of a device entry together with where each comes from, so that the file and the table
// that is printed cannot disagree.

using Json = nlohmann::ordered_json;

class EntryWriter {
  public:
    /// A number and its origin.
    struct Known {
        double value = 0;
        Origin origin = Origin::assumed;
        std::string from;
    };

    explicit EntryWriter(std::string id) { entry_.id = std::move(id); }

    Json document;

    /// {"value", "unit", "source"} of `known`, given in SI and written in units of `scale`.
    Json quantity(const Known& known, std::string_view unit, double scale = 1);
    /// Adds a line of the table.
    void fact(std::string what, std::string value, const Known& known);
    /// Key of the source that stands for this origin.
    std::string source(Origin origin, const std::string& from);
    void remark(std::string text) { entry_.remarks.push_back(std::move(text)); }
    MachineEntry& entry() { return entry_; }

    /// The entry with the document as its text.
    MachineEntry finish();

  private:
    MachineEntry entry_;
    std::vector<std::pair<std::string, const char*>> sources_; ///< what each cites, and its kind
};

using Devices = std::vector<std::shared_ptr<const Device>>;

struct Match {
    std::shared_ptr<const Device> device; ///< null: none is like it
    bool same = false;                    ///< the very product; otherwise one of its generation
    std::string reason;
};

/// By name; among several the one with most words in common.
std::shared_ptr<const Device> find_by_name(std::string_view name, Family family, const Devices& devices);
/// By name, then by generation: in a virtual machine the largest, otherwise the one nearest in cores.
Match match_processor(const ProcessorSeen& seen, std::string_view board, const Devices& devices);

/// The visible facts of a processor, the device that it is like, and a number with its origin from whichever
/// of them has it.
class ProcessorFacts {
  public:
    using Known = EntryWriter::Known;

    ProcessorFacts(const ProcessorSeen& seen, const Match& match, const ProbeResult& probe)
        : seen_(seen), match_(match), probe_(probe) {}

    const ProcessorSeen& seen() const { return seen_; }
    const Match& match() const { return match_; }
    const ProbeResult& probe() const { return probe_; }
    /// The device that it is like; null when there is none.
    const Device* device() const { return match_.device.get(); }
    /// A number of that device's family block; unknown without a device.
    Fact number(std::string_view name) const {
        return device() != nullptr ? family_number(*device(), name) : Fact{};
    }
    /// All cores of the matched product, on the metal.
    bool whole() const {
        return match_.same && !seen_.hypervisor && seen_.limit.empty() &&
               seen_.cores == number("cores").value_or(0) * number("sockets").value_or(1);
    }

    static Known detected(double value, std::string from) {
        return {value, Origin::detected, std::move(from)};
    }
    static Known assumed(double value, std::string from) { return {value, Origin::assumed, std::move(from)}; }
    /// A value of the device; there must be one.
    Known borrowed(double value, const std::string& why = {}) const {
        return {value, Origin::database,
                why.empty() ? device()->id : fmt::format("{}: {}", device()->id, why)};
    }
    /// Seen, else the device's, else the assumption.
    Known first_of(const std::optional<double>& value, const char* from, const Fact* fact,
                   const Known& otherwise) const {
        if (value)
            return detected(*value, from);
        return fact != nullptr && fact->known() ? borrowed(fact->value) : otherwise;
    }

  private:
    const ProcessorSeen& seen_;
    const Match& match_;
    const ProbeResult& probe_;
};

MachineEntry processor_entry(const ProcessorSeen& seen, const Match& match, const ProbeResult& probe);

/// One entry per GPU in the order in which the tools name them; the first is kThisGpu, later ones have a
/// number.
std::vector<MachineEntry> gpu_entries(const Snapshot& snapshot, const Devices& devices);

inline constexpr double kKibi = 1024, kMebi = kKibi * kKibi, kGibi = kMebi * kKibi;
inline constexpr double kKilo = 1e3, kMega = 1e6, kGiga = 1e9, kTera = 1e12;

} // namespace archsim
