#include "import/function_library.hpp"

#include <algorithm>
#include <limits>

namespace archsim::import {

static std::string key(std::string_view domain, std::string_view name, std::string_view overload) {
    constexpr char kSeparator = '\0';
    std::string key(normalized_domain(domain));
    key += kSeparator;
    key += name;
    key += kSeparator;
    key += overload;
    return key;
}

std::string_view normalized_domain(std::string_view domain) {
    return domain == "ai.onnx" ? std::string_view() : domain;
}

Opsets read_opsets(const ArenaList<Opset>& imports) {
    Opsets opsets;
    for (const Opset& import : imports) {
        constexpr std::int64_t kLargest = std::numeric_limits<int>::max();
        opsets.emplace_back(normalized_domain(import.domain),
                            static_cast<int>(std::clamp<std::int64_t>(import.version, 0, kLargest)));
    }
    return opsets;
}

FunctionLibrary::FunctionLibrary(const ModelMessage& model, Findings& findings) {
    for (const FunctionMessage& function : model.functions) {
        const auto [entry, is_new] =
            functions_.try_emplace(key(function.domain, function.name, function.overload));
        if (!is_new) {
            findings.add(FindingKind::duplicate, Severity::error, std::string(function.name),
                         "the file defines this function twice; the first is used", "export the model again");
            continue;
        }
        entry->second.body = &function;
        entry->second.opsets = read_opsets(function.opset_import);
    }
}

const Function* FunctionLibrary::find(const NodeMessage& node) const {
    if (functions_.empty())
        return nullptr;
    const auto found = functions_.find(key(node.domain, node.op_type, node.overload));
    return found == functions_.end() ? nullptr : &found->second;
}

} // namespace archsim::import
