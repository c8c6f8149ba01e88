#pragma once
// Reads the messages of an ONNX model, jumping over weights, documentation and training information: the cost
// does not grow with what is jumped over.

#include "import/field_reader.hpp"
#include "import/messages.hpp"

namespace archsim::import {

class MessageReader {
  public:
    /// What is read lives as long as both.
    MessageReader(ByteSource& source, Arena& arena) : source_(source), arena_(arena) {}

    /// Throws WireError where the bytes are no ONNX model, and InputError when reading fails. Kept values:
    /// integers, booleans and strings of at most kMaxConstantElements elements, other types of at most
    /// kMaxRealElements.
    ModelMessage read();

  private:
    void read_model(Range message, ModelMessage& model);
    void read_graph(Range message, GraphMessage& graph, int depth);
    FunctionMessage read_function(Range message, int depth);
    NodeMessage read_node(Range message, int depth);
    AttributeMessage read_attribute(Range message, int depth);
    TensorMessage read_tensor(Range message);
    void read_payload(Range message, TensorMessage& tensor);
    SparseTensorMessage read_sparse_tensor(Range message);
    ValueInfoMessage read_value_info(Range message);
    Opset read_opset(Range message);
    ExternalEntry read_external_entry(Range message);

    /// Of the field's content; it stays valid.
    std::string_view text(const FieldReader& field);
    /// The numbers of a field that holds one, or a packed list of them.
    void append_integers(const FieldReader& field, ArenaList<std::int64_t>& list);
    template <typename Real, typename Kept>
    void append_reals(const FieldReader& field, ArenaList<Kept>& list);

    ByteSource& source_;
    Arena& arena_;
    std::uint64_t dropped_ = 0; ///< bytes of fields that were not kept
};

} // namespace archsim::import
