#include "import/scope.hpp"

#include <algorithm>
#include <limits>

namespace archsim::import {

TensorId GraphDraft::add_tensor(std::string_view name, TensorRole role, std::string_view prefix) {
    Tensor& tensor = graph.tensors.emplace_back();
    tensor.name.reserve(prefix.size() + name.size());
    tensor.name.append(prefix).append(name);
    tensor.role = role;
    tensor_names.settle_last(graph.tensors);
    return static_cast<TensorId>(graph.tensors.size() - 1);
}

void GraphDraft::add_node(Node&& node) {
    graph.nodes.push_back(std::move(node));
    node_names.settle_last(graph.nodes);
}

void GraphDraft::reserve(std::size_t tensors, std::size_t nodes) {
    graph.tensors.reserve(tensors);
    tensor_names.reserve(tensors);
    graph.nodes.reserve(nodes);
    node_names.reserve(nodes);
}

void Scope::reserve(std::size_t names) {
    meanings_.reserve(names);
    index_.reserve(names);
}

bool Scope::bind(std::string_view name, TensorId tensor) {
    const auto entry = static_cast<std::uint32_t>(meanings_.size());
    const auto name_of = [this](std::uint32_t other) { return meanings_[other].name; };
    if (index_.add(name, entry, name_of) != NameIndex::kNone)
        return false;
    meanings_.push_back({name, tensor});
    return true;
}

std::optional<TensorId> Scope::find_own(std::string_view name) const {
    const auto name_of = [this](std::uint32_t entry) { return meanings_[entry].name; };
    const std::uint32_t entry = index_.find(name, name_of);
    return entry == NameIndex::kNone ? std::nullopt : std::optional(meanings_[entry].tensor);
}

std::optional<TensorId> Scope::find(std::string_view name) {
    if (const auto own = find_own(name))
        return own;
    if (enclosing_ == nullptr)
        return std::nullopt;
    const auto outer = enclosing_->find(name);
    if (!outer)
        return std::nullopt;
    if (*outer == kNoTensor) {
        bind(name, kNoTensor);
        return kNoTensor;
    }

    GraphDraft& outer_draft = enclosing_->draft_;
    // The node that owns this subgraph is appended after its attributes are read.
    outer_draft.subgraph_reads.emplace_back(outer_draft.graph.nodes.size(), *outer);
    const Tensor& captured = outer_draft.graph.tensors[*outer];
    const TensorId local = draft_.add_tensor(captured.name, TensorRole::intermediate);
    draft_.graph.tensors[local].type = captured.type;
    draft_.graph.tensors[local].kind = captured.kind;
    draft_.graph.captured.emplace_back(local, captured.name);
    bind(name, local);
    return local;
}

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
