#include "machine/entry_writer.hpp"
#include "core/text.hpp"

#include <cmath>
#include <fmt/format.h>

namespace archsim {

std::string_view name_of(Origin origin) {
    static constexpr std::string_view kNames[] = {"detected", "measured", "database", "assumed"};
    return name_in(kNames, origin);
}

/// Whole numbers without a fraction, and texts in ASCII: names come from hardware and files that may hold
/// anything.
static void tidy(Json& value) {
    if (value.is_structured())
        for (Json& part : value)
            tidy(part);
    else if (value.is_number_float() && value.get<double>() == std::floor(value.get<double>()))
        value = static_cast<std::int64_t>(value.get<double>());
    else if (value.is_string())
        for (char& c : value.get_ref<std::string&>())
            c = c >= ' ' && c <= '~' ? c : '?';
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

Json EntryWriter::quantity(const Known& known, std::string_view unit, double scale) {
    constexpr double kDigits = 1e6; // of the unit: more would be noise of a division
    return Json::object({{"value", std::round(known.value / scale * kDigits) / kDigits},
                         {"unit", unit},
                         {"source", source(known.origin, known.from)}});
}

void EntryWriter::fact(std::string what, std::string value, const Known& known) {
    entry_.facts.push_back({std::move(what), std::move(value), known.origin, known.from});
}

MachineEntry EntryWriter::finish() {
    Json& table = document["sources"];
    for (std::size_t i = 0; i < sources_.size(); ++i)
        table[fmt::format("S{}", i + 1)] =
            Json::object({{"kind", sources_[i].second}, {"cite", sources_[i].first}});
    tidy(document);
    entry_.json = document.dump();
    return std::move(entry_);
}

} // namespace archsim
