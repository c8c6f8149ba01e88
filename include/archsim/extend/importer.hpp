#pragma once
#include "archsim/core/budget.hpp"
#include "archsim/core/export.hpp"
#include "archsim/graph/graph.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace archsim {

/// Reads an ONNX file. Payloads of weights are skipped on the wire, external data is looked up for its size
/// only (and may be missing), so cost does not grow with weight bytes. Throws InputError when the file cannot
/// be read, is not ONNX or spends the budget; lesser problems become Graph::findings.
ARCHSIM_API Graph import_onnx(const std::filesystem::path& file, const Budget& budget = {});

/// The same from memory.
/// @code
/// // An opset of version 13 and an empty graph named "g".
/// const std::vector<std::uint8_t> bytes{0x42, 2, 0x10, 13, 0x3a, 3, 0x12, 1, 'g'};
/// assert(import_onnx(bytes, "nothing").nodes.empty());
/// @endcode
ARCHSIM_API Graph import_onnx(std::span<const std::uint8_t> bytes, const std::string& display_name,
                              const Budget& budget = {});

/// Reads a TensorFlow Lite file (.tflite) as the graph of ONNX operators that does the same work. Images are
/// declared with their channels first, as ONNX has them; no data moves for that. Quantised tensors stand
/// behind DequantizeLinear and QuantizeLinear. An operator without a counterpart keeps its name in the domain
/// "tflite". Weights are not read. A file may hold several graphs, a bundle (.task) several models: `part`
/// names a graph, a model, or both as MODEL/GRAPH; empty: the first graph, the only model. Throws InputError
/// for a file that cannot be read, is none, is damaged, or unpacks to more than `budget` allows.
ARCHSIM_API Graph import_tflite(const std::filesystem::path& file, std::string_view part = {},
                                const Budget& budget = {});
/// The same from memory.
ARCHSIM_API Graph import_tflite(std::span<const std::uint8_t> bytes, const std::string& display_name,
                                std::string_view part = {}, const Budget& budget = {});

} // namespace archsim
