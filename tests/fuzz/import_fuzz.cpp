// Feeds arbitrary bytes to the importer: anything but a graph or an InputError is a fault.

#include "archsim/core/finding.hpp"
#include "archsim/extend/importer.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

namespace {

using archsim::Graph;
using archsim::TensorId;

void require(bool holds) {
    if (!holds)
        std::abort();
}

/// What every reader of a graph relies on.
void check(const Graph& graph) {
    const auto exists = [&](TensorId id) { return id < graph.tensors.size(); };
    for (const auto& node : graph.nodes) {
        require(!node.name.empty());
        for (const TensorId id : node.inputs)
            require(id == archsim::kNoTensor || exists(id));
        for (const TensorId id : node.outputs)
            require(id == archsim::kNoTensor || exists(id));
        for (const auto& [name, value] : node.attributes)
            if (const auto* subgraph = std::get_if<std::shared_ptr<const Graph>>(&value))
                check(**subgraph);
    }
    for (const TensorId id : graph.inputs)
        require(exists(id));
    for (const TensorId id : graph.outputs)
        require(exists(id));
    for (const auto& [id, outer] : graph.captured)
        require(exists(id));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        check(archsim::import_onnx(std::span(data, size), "fuzz"));
    } catch (const archsim::InputError&) {
        return 0; // the documented refusal
    }
    return 0;
}
