#include "import/function_library.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace archsim::import {

namespace {

// Fields that files may have and older onnx libraries do not know: those keep them as unknown fields.
constexpr int kNodeOverload = 8;
constexpr int kFunctionOverload = 13;
constexpr int kFunctionAttributeProto = 11;

template <typename Visit>
void visit_unknown(const google::protobuf::Message& message, int number, Visit visit) {
    const auto& fields = message.GetReflection()->GetUnknownFields(message);
    for (int i = 0; i < fields.field_count(); ++i)
        if (fields.field(i).number() == number &&
            fields.field(i).type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
            visit(fields.field(i).length_delimited());
}

template <typename Message>
std::string overload_of(const Message& message, int number) {
    std::string overload;
    if constexpr (requires { message.overload(); })
        overload = message.overload();
    else
        visit_unknown(message, number, [&](const std::string& value) { overload = value; });
    return overload;
}

template <typename Message>
std::vector<onnx::AttributeProto> defaults_of(const Message& function) {
    std::vector<onnx::AttributeProto> defaults;
    if constexpr (requires { function.attribute_proto(); })
        defaults.assign(function.attribute_proto().begin(), function.attribute_proto().end());
    else
        visit_unknown(function, kFunctionAttributeProto, [&](const std::string& bytes) {
            if (!defaults.emplace_back().ParseFromString(bytes))
                defaults.pop_back();
        });
    return defaults;
}

std::string key(const std::string& domain, const std::string& name, const std::string& overload) {
    constexpr char kSeparator = '\0';
    return std::string(normalized_domain(domain)) + kSeparator + name + kSeparator + overload;
}

} // namespace

std::string_view normalized_domain(const std::string& domain) {
    return domain == "ai.onnx" ? std::string_view() : std::string_view(domain);
}

Opsets read_opsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports) {
    Opsets opsets;
    for (const auto& import : imports) {
        constexpr std::int64_t kLargest = std::numeric_limits<int>::max();
        opsets.emplace_back(normalized_domain(import.domain()),
                            static_cast<int>(std::clamp<std::int64_t>(import.version(), 0, kLargest)));
    }
    return opsets;
}

FunctionLibrary::FunctionLibrary(const onnx::ModelProto& model, Findings& findings) {
    for (const auto& function : model.functions()) {
        const auto [entry, is_new] = functions_.try_emplace(
            key(function.domain(), function.name(), overload_of(function, kFunctionOverload)));
        if (!is_new) {
            findings.add(FindingKind::duplicate, Severity::error, function.name(),
                         "the file defines this function twice; the first is used", "export the model again");
            continue;
        }
        entry->second.body = &function;
        entry->second.opsets = read_opsets(function.opset_import());
        entry->second.defaults = defaults_of(function);
    }
}

const Function* FunctionLibrary::find(const onnx::NodeProto& node) const {
    if (functions_.empty())
        return nullptr;
    const auto found = functions_.find(key(node.domain(), node.op_type(), overload_of(node, kNodeOverload)));
    return found == functions_.end() ? nullptr : &found->second;
}

} // namespace archsim::import
