#pragma once
// Reads the messages of an ONNX model, jumping over weights, documentation and training information: the cost
// does not grow with what is jumped over.

#include "import/field_reader.hpp"
#include "import/messages.hpp"

namespace archsim::import {

class MessageReader {
  public:
    /// Messages that are read live as long as both.
    MessageReader(ByteSource& source, Arena& arena) : source_(source), arena_(arena) {}

    /// Throws WireError where the bytes are no ONNX model, and InputError when reading fails. Kept values:
    /// integers, booleans and strings of at most kMaxConstantElements elements, other types of at most
    /// kMaxRealElements.
    ModelMessage read();

  private:
    /// Fields of a key, and the member that they are read into; or what is called with them.
    template <class To>
    struct On {
        On(std::uint32_t k, To& t) : key(k), to(t) {}
        std::uint32_t key;
        To& to;
    };
    /// Whether fields that no case is for count as dropped.
    enum class Others : bool { counted, dropped };
    template <class... To>
    void each_field(Range message, int depth, Others others, On<To>... cases);

    void take(const FieldReader& field, int, std::string_view& to) { to = text(field); }
    void take(const FieldReader& field, int, std::int64_t& to) {
        to = static_cast<std::int64_t>(field.value());
    }
    void take(const FieldReader& field, int depth, std::optional<std::int64_t>& to) {
        take(field, depth, to.emplace());
    }
    void take(const FieldReader& field, int, ArenaList<std::int64_t>& to) { append_integers(field, to); }
    void take(const FieldReader& field, int, ArenaList<float>& to) { append_reals<float>(field, to); }
    /// A message, an item of a list, a message in memory of its own.
    template <class To>
    void take(const FieldReader& field, int depth, To& to);
    template <class Item>
    void take(const FieldReader& field, int depth, ArenaList<Item>& list);
    template <class Message>
    void take(const FieldReader& field, int depth, const Message*& to);

    void read(Range message, int depth, ModelMessage& model);
    void read(Range message, int depth, GraphMessage& graph);
    void read(Range message, int depth, FunctionMessage& function);
    void read(Range message, int depth, NodeMessage& node);
    void read(Range message, int depth, AttributeMessage& attribute);
    void read(Range message, int depth, TensorMessage& tensor);
    void read(Range message, int depth, SparseTensorMessage& tensor);
    void read(Range message, int depth, ValueInfoMessage& value);
    void read(Range message, int depth, Opset& opset);
    void read(Range message, int depth, ExternalEntry& entry);
    void read_payload(Range message, TensorMessage& tensor);

    /// The field's content; it stays valid.
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
