#include "machine/entry_writer.hpp"

#include "hardware/json_edit.hpp"

#include <cmath>
#include <fmt/format.h>

namespace archsim {

using Json = nlohmann::ordered_json;

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
    for (const auto& [key, value] : sources_.items())
        if (value["cite"] == cite)
            return key;
    const std::string key = fmt::format("S{}", sources_.size() + 1);
    sources_[key] = {{"kind", kind}, {"cite", cite}};
    return key;
}

Json EntryWriter::quantity(const Known& known, std::string_view unit, double scale) {
    constexpr double kDigits = 1e6; // of the unit: more would be noise of a division
    return {{"value", std::round(known.value / scale * kDigits) / kDigits},
            {"unit", unit},
            {"source", source(known.origin, known.from)}};
}

void EntryWriter::fact(std::string what, std::string value, const Known& known) {
    entry_.facts.push_back({std::move(what), std::move(value), known.origin, known.from});
}

MachineEntry EntryWriter::finish() {
    document["sources"] = sources_;
    entry_.json = laid_out(document, 0, 0) + "\n";
    return std::move(entry_);
}

} // namespace archsim
