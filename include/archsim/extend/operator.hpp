#pragma once
// The operator table: one row per operator says how its shapes follow, what work it is and how it may fuse;
// and what the functions of a row see of one node: its inputs with concrete shapes, known small values and
// attributes, and its outputs to fill in.

#include "archsim/core/budget.hpp"
#include "archsim/core/export.hpp"
#include "archsim/ops/shaped_graph.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
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
    std::string hint;
};

/// A sequence whose length is known: what is known of each element.
struct SequenceElement {
    DataType type = DataType::undefined;
    Shape shape;
    const Constant* value = nullptr;
};
using SequenceElements = std::vector<SequenceElement>;

/// The node that a row's function works on.
class ARCHSIM_API NodeContext {
  public:
    /// Made by binding for each node.
    ARCHSIM_PRIVATE NodeContext(BindState& state, const Node& node, const OperatorRow& row, Operator& op);

    /// The node as the file has it.
    const Node& node() const { return node_; }
    /// Its row of the operator table.
    const OperatorRow& row() const { return row_; }
    /// Opset of the node's domain.
    int opset() const { return node_.opset; }
    /// The operator that is being bound.
    Operator& op() { return op_; }
    /// The work that the work function fills in.
    OperatorWork& work() { return op_.work; }

    /// Inputs that the node lists, absent ones included.
    std::size_t input_count() const { return op_.inputs.size(); }
    /// Outputs that the node lists, absent ones included.
    std::size_t output_count() const { return op_.outputs.size(); }
    /// True when the input is there.
    bool has_input(std::size_t i) const { return i < op_.inputs.size() && op_.inputs[i] != kNoTensor; }
    /// True when the output is asked for.
    bool has_output(std::size_t i) const { return i < op_.outputs.size() && op_.outputs[i] != kNoTensor; }

    /// An input that must be there; throws NodeProblem otherwise.
    const ShapedTensor& input(std::size_t i) const;
    /// Shape of an input that must be there.
    const Shape& shape(std::size_t i) const { return input(i).shape; }
    /// Element type of an input that must be there.
    DataType type(std::size_t i) const { return input(i).type; }
    /// Dimensions of an input that must be there.
    std::int64_t rank(std::size_t i) const { return static_cast<std::int64_t>(shape(i).size()); }
    /// Size of one dimension; negative axes count from the end. Throws NodeProblem when out of range.
    std::int64_t dim(std::size_t i, std::int64_t axis) const;
    /// Elements of an input that must be there.
    double elements(std::size_t i) const { return input(i).elements(); }
    /// True when the input's value is known at build time.
    bool is_constant(std::size_t i) const { return has_input(i) && input(i).constant; }
    /// Marks an input: it holds learned weights, or (false) statistics, scales, tables.
    void mark_learned(std::size_t i, bool learned = true);
    /// Says that each stored element of input i holds several values (two 4-bit weights in a byte).
    void mark_packed(std::size_t i, double values_per_element);
    /// Says that input i holds keys or values of earlier steps.
    void mark_kv_cache_input(std::size_t i);
    /// Says that output i holds keys or values for later steps.
    void mark_kv_cache_output(std::size_t i);

    /// The small value of an input where it is known at build time or given by the user; null otherwise.
    const Constant* value(std::size_t i) const;
    /// The integers of an input that decides a shape; throws NodeProblem when they are not known.
    const std::vector<std::int64_t>& ints(std::size_t i) const;
    /// The one integer of an input that decides a shape; throws NodeProblem when it is not known.
    std::int64_t scalar_int(std::size_t i) const;
    /// The one number of an input where it is known.
    std::optional<double> scalar(std::size_t i) const;

    /// The attribute of that name, or null.
    const AttributeValue* attribute(std::string_view key) const { return node_.attribute(key); }
    /// An integer attribute, or `fallback`.
    std::int64_t integer(std::string_view key, std::int64_t fallback) const {
        const auto* v = typed<std::int64_t>(key);
        return v ? *v : fallback;
    }
    /// A number attribute, or `fallback`.
    double real(std::string_view key, double fallback) const {
        const auto* v = typed<double>(key);
        return v ? *v : fallback;
    }
    /// A text attribute, or `fallback`.
    std::string_view text(std::string_view key, std::string_view fallback) const {
        const auto* v = typed<std::string>(key);
        return v ? std::string_view(*v) : fallback;
    }
    /// Null when the attribute is absent.
    const std::vector<std::int64_t>* integers(std::string_view key) const {
        return typed<std::vector<std::int64_t>>(key);
    }
    /// Null when the attribute is absent.
    const std::vector<double>* reals(std::string_view key) const { return typed<std::vector<double>>(key); }
    /// Null when the attribute is absent.
    const std::vector<std::string>* texts(std::string_view key) const {
        return typed<std::vector<std::string>>(key);
    }
    /// Null when the attribute is absent.
    const Constant* tensor(std::string_view key) const {
        const auto* v = typed<std::shared_ptr<const Constant>>(key);
        return v ? v->get() : nullptr;
    }

    /// An output that the node names; unnamed ones yield a scratch tensor that nobody reads.
    ShapedTensor& output(std::size_t i);
    /// Sets type and shape of an output. Throws NodeProblem for a negative or absurd size.
    void set_output(std::size_t i, DataType type, Shape shape);
    /// Says that the value of an output is known.
    void set_value(std::size_t i, Constant value);
    /// Shares a value that lives as long as the imported graph or this binding.
    void share_value(std::size_t i, const Constant* value);

    /// Size of a dimension that only the data decides: the user's `--dim` for the output's declared symbol or
    /// for the node's name, else `upper_bound`. Marks the output and adds a note that names the switch.
    std::int64_t data_dependent_dim(std::size_t output, std::size_t axis, std::int64_t upper_bound,
                                    std::string_view bound_text);
    /// The batch that the file fixes and the one that the user wants instead, where they differ.
    std::optional<std::pair<std::int64_t, std::int64_t>> rebatch() const;
    /// Adds a finding about this node.
    void note(FindingKind kind, Severity severity, std::string message, std::string hint) const;

    /// Elements of a sequence input or null when its length is unknown.
    const SequenceElements* sequence(std::size_t i) const;
    /// Says what an output that is a sequence holds.
    void set_sequence(std::size_t i, SequenceElements elements);

  private:
    [[noreturn]] static void wrong_attribute(std::string_view key);
    /// Null when the attribute is absent; throws NodeProblem where it has another type.
    template <class Type>
    const Type* typed(std::string_view key) const {
        const AttributeValue* value = attribute(key);
        const Type* result = value ? std::get_if<Type>(value) : nullptr;
        if (value && !result)
            wrong_attribute(key);
        return result;
    }

    BindState& state_;
    const Node& node_;
    const OperatorRow& row_;
    Operator& op_;
    ShapedTensor first_,
        scratch_; ///< stand-ins for absent outputs: the first keeps its shape for the work function
};

inline constexpr std::string_view kOnnxDomain = "";
inline constexpr std::string_view kMlDomain = "ai.onnx.ml";
inline constexpr std::string_view kTrainingDomain = "ai.onnx.preview.training";
inline constexpr std::string_view kMicrosoftDomain = "com.microsoft";
/// Newest opset of ai.onnx whose operators the table describes.
inline constexpr int kNewestOpset = 27;

/// Operations outside contractions per element: of the output for elementwise kinds, of the input for
/// reductions, normalisations and softmax.
struct ElementCost {
    double vector = 0;  ///< additions, multiplications, comparisons, selections
    double special = 0; ///< exp, log, erf, square root, division, trigonometry
};

using NodeFunction = void (*)(NodeContext&);

/// One operator. The strings must outlive every registry that holds the row (literals do).
struct OperatorRow {
    std::string_view name;
    std::string_view domain;
    int since = 1;                ///< first opset of its domain that has it
    NodeFunction infer = nullptr; ///< output types and shapes; values of Shape and Constant
    NodeFunction work = nullptr;  ///< work by class; kind and fusion class are preset from this row
    NodeFunction fold = nullptr;  ///< output values, called when every input's value is known
    OpKind kind = OpKind::elementwise;
    FusionClass fusion = FusionClass::opaque;
    ElementCost cost;
    std::string_view doc;         ///< one line: what it computes and how its work is counted
    bool accepts_unknown = false; ///< `infer` copes with inputs of unknown shape
    bool random = false;          ///< differs per run: never folded
    std::uint8_t inputs = 0;      ///< leading inputs that every version of it must name
    std::uint8_t outputs = 1;     ///< leading outputs, likewise
};

/// The operator table.
/// @code
/// OperatorRegistry operators = OperatorRegistry::standard();
/// operators.add({.name = "Swish2",
///                .domain = "com.example",
///                .infer = [](NodeContext& node) { node.set_output(0, node.type(0), node.shape(0)); },
///                .cost = {.vector = 1, .special = 1},
///                .doc = "x / (1 + exp(-2 x))"});
/// assert(operators.find("com.example", "Swish2")->cost.special == 1);
/// @endcode
class ARCHSIM_API OperatorRegistry {
  public:
    /// All operators this library knows.
    static const OperatorRegistry& standard();

    /// A table of these rows.
    explicit OperatorRegistry(std::vector<OperatorRow> rows);
    /// Adds a row or replaces the one of the same name and domain.
    void add(const OperatorRow& row);
    /// Null when unknown. "ai.onnx" is the same domain as "".
    const OperatorRow* find(std::string_view domain, std::string_view name) const;
    /// All rows, by name, then domain.
    std::span<const OperatorRow> rows() const { return rows_; }

  private:
    std::vector<OperatorRow> rows_; ///< sorted by name, then domain
};

/// As bind() of shaped_graph.hpp, with a table and a budget of one's own. Throws InputError where the budget
/// is spent.
ARCHSIM_API ShapedGraph bind(const Graph& graph, const Bindings& bindings,
                             const std::map<std::string, std::int64_t>& defaults,
                             const OperatorRegistry& registry, const Budget& budget = {});

} // namespace archsim
