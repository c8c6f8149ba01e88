// Imports arbitrary bytes and infers all shapes: whatever the graph says, binding returns with findings.

#include "archsim/core/finding.hpp"
#include "archsim/extend/importer.hpp"
#include "archsim/ops/shaped_graph.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>

namespace {

std::optional<archsim::Graph> import_bytes(std::span<const std::uint8_t> bytes) {
    try {
        return archsim::import_onnx(bytes, "fuzz");
    } catch (const archsim::InputError&) {
        return std::nullopt; // the documented refusal
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto graph = import_bytes({data, size});
    if (!graph)
        return 0;
    archsim::Bindings bindings;
    bindings.batch_size = 2;
    const archsim::ShapedGraph shaped = archsim::bind(*graph, bindings);
    for (const auto& tensor : shaped.tensors)
        for (const std::int64_t dim : tensor.shape)
            if (tensor.known && dim < 0)
                std::abort();
    return 0;
}
