#include "hardware/reference_machine.hpp"

#include "archsim/core/finding.hpp"
#include "core/json_document.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace archsim {

constexpr std::string_view kTable = "reference_machines.json";

double left_by_system(double memory_bytes) {
    struct Kept {
        double bytes = 0, share = 0, least_memory = 0;
    };
    static const Kept kept = [] {
        const JsonDocument table = read_table(kTable);
        const JsonValue* const stated = table.root.find("system_memory");
        const auto number = [&](const char* key) {
            if (const auto value = stated != nullptr ? stated->number_at(key) : std::nullopt)
                return *value;
            throw InputError(fmt::format("{}: no number system_memory.{}", kTable, key));
        };
        return Kept{number("bytes"), number("largest_share"), number("least_memory")};
    }();
    return std::max(std::min(memory_bytes, kept.least_memory),
                    memory_bytes - std::min(kept.bytes, kept.share * memory_bytes));
}

double reference_decode_rate(std::string_view family) {
    const JsonDocument table = read_table(kTable);
    for (const JsonValue& machine : table.root.items_at("machines"))
        if (const double rate = machine.number_at("decoded_per_s").value_or(0);
            machine.text_at("family") == family && rate > 0)
            return rate;
    throw InputError(fmt::format("{}: no decoded_per_s above 0 for the family {}", kTable, family));
}

std::string reference_host(bool server) {
    const JsonDocument table = read_table(kTable);
    for (const JsonValue& host : table.root.items_at("hosts"))
        if (host.text_at("beside") == (server ? "cards of servers" : "cards of desktops"))
            return std::string(host.text_at("processor"));
    throw InputError(fmt::format("{}: hosts of servers and desktops are missing", kTable));
}

} // namespace archsim
