#pragma once
// What the parts of a processor's entry are made from: what is seen of it, the device of the database that it
// is like, and a number with its origin from whichever of them has it.

#include "machine/entry_writer.hpp"
#include "machine/match.hpp"
#include "machine/processor.hpp"

#include <fmt/format.h>

namespace archsim {

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

} // namespace archsim
