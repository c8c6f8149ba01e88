#include "machine/microarchitecture.hpp"

#include "archsim/core/finding.hpp"
#include "core/data_dir.hpp"
#include "core/json_document.hpp"

#include <fmt/format.h>

#include <vector>

namespace archsim {

/// The table, kept as long as the program: the texts of a core lie in it.
static const JsonValue& table() {
    static const JsonDocument document = [] {
        std::vector<Finding> findings;
        auto parsed = parse_document(data_table("microarchitectures.json").string(), findings);
        if (!parsed)
            throw InputError(findings.front());
        return std::move(*parsed);
    }();
    return document.root;
}

static double number_at(const JsonValue& row, std::string_view key) {
    const JsonValue* value = row.find(key);
    if (value == nullptr || !value->is_number())
        throw InputError(
            fmt::format("microarchitectures.json: expected a number under \"{}\" in {}", key, row.dump()));
    return value->number();
}

static Microarchitecture core_of(const JsonValue& row) {
    return {row.text_at("generation"),
            row.text_at("maker"),
            row.text_at("title"),
            static_cast<int>(number_at(row, "year")),
            number_at(row, "lanes_fp32"),
            number_at(row, "multiply_pipes"),
            number_at(row, "core_bandwidth")};
}

/// The core of the first row under `kind` that fits.
template <class Fits>
static std::optional<Microarchitecture> find_core(std::string_view kind, Fits&& fits) {
    if (const JsonValue* rows = table().find(kind))
        for (const JsonValue& row : rows->items())
            if (fits(row))
                return core_of(row);
    return std::nullopt;
}

std::optional<Microarchitecture> find_microarchitecture(std::string_view vendor, int family, int model,
                                                        int stepping) {
    return find_core("x86", [&](const JsonValue& row) {
        const JsonValue *models = row.find("models"), *from = row.find("stepping_from");
        if (models == nullptr || models->items().size() != 2)
            throw InputError(fmt::format(
                "microarchitectures.json: expected the first and the last of \"models\" in {}", row.dump()));
        return row.text_at("vendor") == vendor && number_at(row, "family") == family &&
               model >= models->items()[0].number() && model <= models->items()[1].number() &&
               stepping >= (from != nullptr ? from->number() : 0);
    });
}

std::optional<Microarchitecture> find_arm_microarchitecture(int implementer, int part) {
    return find_core("arm", [&](const JsonValue& row) {
        return number_at(row, "implementer") == implementer && number_at(row, "part") == part;
    });
}

} // namespace archsim
