#pragma once
// The operator table: one row per operator says how its shapes follow, what work it is and how it may fuse.

#include "archsim/core/budget.hpp"
#include "archsim/core/export.hpp"
#include "archsim/ops/node_context.hpp"
#include "archsim/ops/shaped_graph.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

inline constexpr std::string_view kOnnxDomain = "";
inline constexpr std::string_view kMlDomain = "ai.onnx.ml";
inline constexpr std::string_view kTrainingDomain = "ai.onnx.preview.training";
inline constexpr std::string_view kMicrosoftDomain = "com.microsoft";
/// Newest opset of ai.onnx whose operators the table describes.
inline constexpr int kNewestOpset = 26;

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

/// What is wrong with a graph whatever its sizes are: nodes without an operand that their row needs, nodes
/// that read themselves or later ones, tensors that are none of the graph's. Of such a graph nothing can be
/// said.
ARCHSIM_API std::vector<Finding> structural_faults(const Graph& graph, const OperatorRegistry& registry);

ARCHSIM_API std::string_view name_of(FusionClass fusion);

} // namespace archsim
