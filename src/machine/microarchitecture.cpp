#include "machine/microarchitecture.hpp"

#include "archsim/core/finding.hpp"
#include "core/json_document.hpp"

#include <fmt/format.h>

#include <vector>

namespace archsim {

/// The table, kept as long as the program: the texts of a core lie in it.
constexpr std::string_view kTable = "microarchitectures.json";

static double number_at(const JsonValue& row, std::string_view key) {
    if (const auto value = row.number_at(key))
        return *value;
    throw InputError(fmt::format("{}: expected a number under \"{}\" in {}", kTable, key, row.dump()));
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
    static const JsonDocument table = read_table(kTable);
    for (const JsonValue& row : table.root.items_at(kind))
        if (fits(row))
            return core_of(row);
    return std::nullopt;
}

std::optional<Microarchitecture> find_microarchitecture(std::string_view vendor, int family, int model,
                                                        int stepping) {
    return find_core("x86", [&](const JsonValue& row) {
        const auto models = row.items_at("models");
        if (models.size() != 2)
            throw InputError(
                fmt::format("{}: expected the first and the last of \"models\" in {}", kTable, row.dump()));
        return row.text_at("vendor") == vendor && number_at(row, "family") == family &&
               model >= models[0].number() && model <= models[1].number() &&
               stepping >= row.number_at("stepping_from").value_or(0);
    });
}

std::optional<Microarchitecture> find_arm_microarchitecture(int implementer, int part) {
    return find_core("arm", [&](const JsonValue& row) {
        return number_at(row, "implementer") == implementer && number_at(row, "part") == part;
    });
}

} // namespace archsim
