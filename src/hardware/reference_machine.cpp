#include "hardware/reference_machine.hpp"

#include "archsim/core/finding.hpp"
#include "core/data_dir.hpp"
#include "core/json_document.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

namespace archsim {

static std::string table_file() {
    return data_table("reference_machines.json").string();
}

static JsonDocument read_table() {
    std::vector<Finding> findings;
    auto document = parse_document(table_file(), findings);
    if (!document)
        throw InputError(findings.front());
    return std::move(*document);
}

double left_by_system(double memory_bytes) {
    struct Kept {
        double bytes = 0, share = 0, least_memory = 0;
    };
    static const Kept kept = [] {
        const JsonDocument table = read_table();
        const JsonValue* const stated = table.root.find("system_memory");
        const auto number = [&](const char* key) {
            const JsonValue* const value = stated != nullptr ? stated->find(key) : nullptr;
            if (value == nullptr || !value->is_number())
                throw InputError(fmt::format("{}: no number system_memory.{}", table_file(), key));
            return value->number();
        };
        return Kept{number("bytes"), number("largest_share"), number("least_memory")};
    }();
    return std::max(std::min(memory_bytes, kept.least_memory),
                    memory_bytes - std::min(kept.bytes, kept.share * memory_bytes));
}

double reference_decode_rate(std::string_view family) {
    const JsonDocument table = read_table();
    if (const JsonValue* machines = table.root.find("machines"))
        for (const JsonValue& machine : machines->items())
            if (const JsonValue* rate = machine.find("decoded_per_s"); machine.text_at("family") == family &&
                                                                       rate != nullptr && rate->is_number() &&
                                                                       rate->number() > 0)
                return rate->number();
    throw InputError(fmt::format("{}: no decoded_per_s above 0 for the family {}", table_file(), family));
}

} // namespace archsim
