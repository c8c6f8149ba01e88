#pragma once
// A copy of an ONNX file without its weights whose nodes carry notes, which viewers of graphs (Netron) show.

#include "archsim/graph/graph.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace archsim {

/// Notes in order: {"archsim.time", "12.3 us"}.
using NodeNotes = std::vector<std::pair<std::string, std::string>>;

/// Type and sizes of a value.
struct ValueShape {
    DataType type = DataType::undefined;
    Shape shape;
};

struct Annotations {
    std::map<std::string, NodeNotes, std::less<>> notes;    ///< by the name of a node's first result
    std::map<std::string, ValueShape, std::less<>> outputs; ///< of the graph, where the file states none
};

/// The model as bytes. Notes are found by the name of a node's first result; they become its metadata_props
/// (IR version 10). Initializers whose values no shape depends on, and those that lie in side files or
/// nowhere, become inputs of the graph, so that the copy is valid without them. Nodes in bodies of control
/// flow and functions stay as they are. Throws InputError where the file is no ONNX model.
std::string annotated_onnx(const std::filesystem::path& file, const Annotations& annotations);

} // namespace archsim
