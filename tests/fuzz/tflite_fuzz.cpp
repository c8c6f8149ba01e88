// Feeds arbitrary bytes to the reader of TensorFlow Lite files, and binds what it makes of them: anything but
// a graph or the documented refusal is a fault.

#include "archsim/core/finding.hpp"
#include "archsim/extend/importer.hpp"
#include "archsim/ops/shaped_graph.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const archsim::Graph graph = archsim::import_tflite(std::span(data, size), "fuzz");
        for (const archsim::Node& node : graph.nodes) {
            if (node.name.empty())
                std::abort();
            for (const auto* list : {&node.inputs, &node.outputs})
                for (const archsim::TensorId id : *list)
                    if (id != archsim::kNoTensor && id >= graph.tensors.size())
                        std::abort();
        }
        archsim::bind(graph, {});
    } catch (const archsim::Error&) {
        return 0;
    }
    return 0;
}
