#include "archsim/extend/operator.hpp"

#include "ops/arity.hpp"
#include "ops/families.hpp"

#include <algorithm>
#include <tuple>

namespace archsim {

namespace {

auto key_of(const OperatorRow& row) {
    return std::tie(row.name, row.domain);
}

} // namespace

OperatorRegistry::OperatorRegistry(std::vector<OperatorRow> rows) : rows_(std::move(rows)) {
    std::sort(rows_.begin(), rows_.end(),
              [](const OperatorRow& a, const OperatorRow& b) { return key_of(a) < key_of(b); });
}

void OperatorRegistry::add(const OperatorRow& row) {
    const auto it =
        std::lower_bound(rows_.begin(), rows_.end(), row,
                         [](const OperatorRow& a, const OperatorRow& b) { return key_of(a) < key_of(b); });
    if (it != rows_.end() && key_of(*it) == key_of(row))
        *it = row;
    else
        rows_.insert(it, row);
}

const OperatorRow* OperatorRegistry::find(std::string_view domain, std::string_view name) const {
    if (domain == "ai.onnx")
        domain = kOnnxDomain;
    const auto it =
        std::lower_bound(rows_.begin(), rows_.end(), std::tie(name, domain),
                         [](const OperatorRow& row, const auto& key) { return key_of(row) < key; });
    return it != rows_.end() && key_of(*it) == std::tie(name, domain) ? &*it : nullptr;
}

std::string_view name_of(FusionClass fusion) {
    switch (fusion) {
    case FusionClass::transparent:
        return "transparent";
    case FusionClass::elementwise:
        return "elementwise";
    case FusionClass::injective:
        return "injective";
    case FusionClass::reduction:
        return "reduction";
    case FusionClass::contraction:
        return "contraction";
    case FusionClass::opaque:
        return "opaque";
    }
    return "unknown";
}

const OperatorRegistry& OperatorRegistry::standard() {
    static const OperatorRegistry registry = [] {
        std::vector<OperatorRow> rows;
        for (const auto& family : kOperatorFamilies) {
            const std::span<const OperatorRow> table = family();
            rows.insert(rows.end(), table.begin(), table.end());
        }
        for (OperatorRow& row : rows) {
            const Arity needs = arity_of(row.domain, row.name);
            row.inputs = needs.inputs;
            row.outputs = needs.outputs;
        }
        return OperatorRegistry(std::move(rows));
    }();
    return registry;
}

} // namespace archsim
