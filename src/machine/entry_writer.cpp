#include "machine/entry_writer.hpp"

#include <cmath>
#include <fmt/format.h>

namespace archsim {

std::string_view name_of(Origin origin) {
    switch (origin) {
    case Origin::detected:
        return "detected";
    case Origin::measured:
        return "measured";
    case Origin::database:
        return "database";
    case Origin::assumed:
        break;
    }
    return "assumed";
}

std::string EntryWriter::source(Origin origin, const std::string& from) {
    const char* kind = origin == Origin::assumed    ? "assumed"
                       : origin == Origin::database ? "derived"
                                                    : "measured";
    const std::string cite = origin == Origin::detected   ? fmt::format("detected on this machine: {}", from)
                             : origin == Origin::measured ? fmt::format("measured on this machine: {}", from)
                             : origin == Origin::database ? fmt::format("from {}", from)
                                                          : fmt::format("assumed: {}", from);
    std::size_t number = 0;
    while (number < sources_.size() && sources_[number].first != cite)
        ++number;
    if (number == sources_.size())
        sources_.emplace_back(cite, kind);
    return fmt::format("S{}", number + 1);
}

EntryValue EntryWriter::quantity(const Known& known, std::string_view unit, double scale) {
    constexpr double kDigits = 1e6; // of the unit: more would be noise of a division
    return EntryValue::object({{"value", std::round(known.value / scale * kDigits) / kDigits},
                               {"unit", unit},
                               {"source", source(known.origin, known.from)}});
}

void EntryWriter::fact(std::string what, std::string value, const Known& known) {
    entry_.facts.push_back({std::move(what), std::move(value), known.origin, known.from});
}

MachineEntry EntryWriter::finish() {
    EntryValue& table = document["sources"];
    for (std::size_t i = 0; i < sources_.size(); ++i)
        table[fmt::format("S{}", i + 1)] =
            EntryValue::object({{"kind", sources_[i].second}, {"cite", sources_[i].first}});
    entry_.json = document.json();
    return std::move(entry_);
}

} // namespace archsim
