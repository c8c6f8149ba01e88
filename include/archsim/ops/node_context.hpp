#pragma once
// What the functions of an operator row see of one node: its inputs with concrete shapes, known small values
// and attributes, and its outputs to fill in.

#include "archsim/core/export.hpp"
#include "archsim/ops/shaped_graph.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace archsim {

struct OperatorRow;
struct BindState;

/// Thrown by the functions of a row when the node cannot be resolved; binding turns it into a Finding.
struct NodeProblem {
    FindingKind kind = FindingKind::malformed_node;
    std::string message; ///< one sentence without the node's name
    std::string mend;
};

/// A sequence whose length is known: what is known of each element.
struct SequenceElement {
    DataType type = DataType::undefined;
    Shape shape;
    const Constant* value = nullptr;
};
using SequenceElements = std::vector<SequenceElement>;

class ARCHSIM_API NodeContext {
  public:
    NodeContext(BindState& state, const Node& node, const OperatorRow& row, Operator& op);

    const Node& node() const { return node_; }
    const OperatorRow& row() const { return row_; }
    int opset() const { return node_.opset; }
    Operator& op() { return op_; }
    OperatorWork& work() { return op_.work; }

    std::size_t input_count() const { return op_.inputs.size(); }
    std::size_t output_count() const { return op_.outputs.size(); }
    bool has_input(std::size_t i) const { return i < op_.inputs.size() && op_.inputs[i] != kNoTensor; }
    bool has_output(std::size_t i) const { return i < op_.outputs.size() && op_.outputs[i] != kNoTensor; }

    /// An input that must be there; throws NodeProblem otherwise.
    const ShapedTensor& input(std::size_t i) const;
    const Shape& shape(std::size_t i) const { return input(i).shape; }
    DataType type(std::size_t i) const { return input(i).type; }
    std::int64_t rank(std::size_t i) const { return static_cast<std::int64_t>(shape(i).size()); }
    /// Size of one dimension; negative axes count from the end. Throws NodeProblem when out of range.
    std::int64_t dim(std::size_t i, std::int64_t axis) const;
    double elements(std::size_t i) const { return input(i).elements(); }
    bool is_constant(std::size_t i) const { return has_input(i) && input(i).constant; }
    /// Marks an input: it holds learned weights, or (false) statistics, scales, tables.
    void mark_learned(std::size_t i, bool learned = true);
    /// Says that each stored element of input i holds several values (two 4-bit weights in a byte).
    void mark_packed(std::size_t i, double values_per_element);
    void mark_kv_cache_input(std::size_t i);
    void mark_kv_cache_output(std::size_t i);

    /// The small value of an input where it is known at build time or given by the user; null otherwise.
    const Constant* value(std::size_t i) const;
    /// The integers of an input that decides a shape; throws NodeProblem when they are not known.
    const std::vector<std::int64_t>& ints(std::size_t i) const;
    std::int64_t scalar_int(std::size_t i) const;
    std::optional<double> scalar(std::size_t i) const;

    const AttributeValue* attribute(std::string_view key) const { return node_.attribute(key); }
    std::int64_t integer(std::string_view key, std::int64_t fallback) const;
    double real(std::string_view key, double fallback) const;
    std::string_view text(std::string_view key, std::string_view fallback) const;
    /// Null when the attribute is absent.
    const std::vector<std::int64_t>* integers(std::string_view key) const;
    const std::vector<double>* reals(std::string_view key) const;
    const std::vector<std::string>* texts(std::string_view key) const;
    const Constant* tensor(std::string_view key) const;

    /// An output that the node names; unnamed ones yield a scratch tensor that nobody reads.
    ShapedTensor& output(std::size_t i);
    /// Sets type and shape of an output. Throws NodeProblem for a negative or absurd size.
    void set_output(std::size_t i, DataType type, Shape shape);
    void set_value(std::size_t i, Constant value);
    /// Shares a value that lives as long as the imported graph or this binding.
    void share_value(std::size_t i, const Constant* value);

    /// Size of a dimension that only the data decides: the user's `--dim` for the output's declared symbol or
    /// for the node's name, else `upper_bound`. Marks the output and adds a note that names the switch.
    std::int64_t data_dependent_dim(std::size_t output, std::size_t axis, std::int64_t upper_bound,
                                    std::string_view bound_text);
    /// The batch that the file fixes and the one that the user wants instead, where they differ.
    std::optional<std::pair<std::int64_t, std::int64_t>> rebatch() const;
    void note(FindingKind kind, Severity severity, std::string message, std::string mend) const;

    /// Elements of a sequence input or null when its length is unknown.
    const SequenceElements* sequence(std::size_t i) const;
    void set_sequence(std::size_t i, SequenceElements elements);

  private:
    BindState& state_;
    const Node& node_;
    const OperatorRow& row_;
    Operator& op_;
    ShapedTensor first_,
        scratch_; ///< stand-ins for absent outputs: the first keeps its shape for the work function
};

} // namespace archsim
