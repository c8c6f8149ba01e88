#include "import/scope.hpp"

namespace archsim::import {

std::string UniqueNames::add(std::string name) {
    const auto [entry, is_new] = used_.try_emplace(name, 1);
    if (is_new)
        return name;
    ++repetitions_;
    std::string numbered;
    do
        numbered = name + "#" + std::to_string(++entry->second);
    while (used_.contains(numbered));
    used_.emplace(numbered, 1);
    return numbered;
}

TensorId GraphDraft::add_tensor(std::string name, TensorRole role) {
    graph.tensors.push_back(Tensor{.name = tensor_names.add(std::move(name)), .role = role});
    return static_cast<TensorId>(graph.tensors.size() - 1);
}

const TensorId* Scope::find_own(std::string_view name) const {
    const auto own = names_.find(name);
    return own == names_.end() ? nullptr : &own->second;
}

const TensorId* Scope::find(std::string_view name) {
    if (const TensorId* own = find_own(name))
        return own;
    if (enclosing_ == nullptr)
        return nullptr;
    const TensorId* outer = enclosing_->find(name);
    if (outer == nullptr)
        return nullptr;
    if (*outer == kNoTensor)
        return &names_.emplace(name, kNoTensor).first->second;

    GraphDraft& outer_draft = enclosing_->draft_;
    // The node that owns this subgraph is appended after its attributes are read.
    outer_draft.subgraph_reads.emplace_back(outer_draft.graph.nodes.size(), *outer);
    const Tensor& captured = outer_draft.graph.tensors[*outer];
    const TensorId local = draft_.add_tensor(captured.name, TensorRole::intermediate);
    draft_.graph.tensors[local].type = captured.type;
    draft_.graph.tensors[local].kind = captured.kind;
    draft_.graph.captured.emplace_back(local, captured.name);
    return &names_.emplace(name, local).first->second;
}

} // namespace archsim::import
