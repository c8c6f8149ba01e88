#include "hardware/reference_machine.hpp"

#include "archsim/core/finding.hpp"
#include "core/data_dir.hpp"
#include "core/json_document.hpp"

#include <fmt/format.h>

#include <vector>

namespace archsim {

double reference_decode_rate(std::string_view family) {
    std::vector<Finding> findings;
    const std::string file = data_table("reference_machines.json").string();
    const auto document = parse_document(file, findings);
    if (!document)
        throw InputError(findings.front());
    if (const JsonValue* machines = document->root.find("machines"))
        for (const JsonValue& machine : machines->items())
            if (const JsonValue* rate = machine.find("decoded_per_s"); machine.text_at("family") == family &&
                                                                       rate != nullptr && rate->is_number() &&
                                                                       rate->number() > 0)
                return rate->number();
    throw InputError(fmt::format("{}: no decoded_per_s above 0 for the family {}", file, family));
}

} // namespace archsim
