#pragma once
// Builds the graph of a TensorFlow Lite file out of ONNX operators. TensorFlow Lite lays images out with the
// channels last, ONNX with the channels first. Nothing is moved for that: a tensor that convolutions use is
// declared with the channels first, and where an operator looks at its axes in the file's order, a Reshape,
// which costs nothing, declares them so. Quantised tensors stand behind DequantizeLinear and QuantizeLinear,
// as in ONNX files of quantised networks.

#include "import/tflite_integers.hpp"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace archsim::import {

/// Order of a tensor's axes.
enum class AxisOrder : std::uint8_t { file, channels_first };

using TfliteAttributes = std::vector<std::pair<std::string, AttributeValue>>;

/// The graphs that operators of a file run: bodies of loops, branches, composites. Each is made once.
class TfliteBodies {
  public:
    TfliteBodies(const TfliteModel& model, const FlatBuffer& buffer) : model_(model), buffer_(buffer) {}

    const TfliteModel& model() const { return model_; }
    const FlatBuffer& buffer() const { return buffer_; }
    /// Graph `index` as a body, its inputs and outputs in the file's order. Throws FlatError where there is
    /// none, or where it runs itself.
    std::shared_ptr<const Graph> body(std::int64_t index);
    /// A copy of it that sees these names of tensors outside as its inputs.
    std::shared_ptr<const Graph> branch(std::int64_t index, const std::vector<std::string>& inputs);
    const TfliteSubgraph& subgraph(std::int64_t index) const;
    /// Whether so many operators may still be walked to see how often loops run, all loops together.
    bool walk(std::size_t operators);

  private:
    const TfliteModel& model_;
    const FlatBuffer& buffer_;
    std::map<std::int64_t, std::shared_ptr<const Graph>> made_; ///< null while it is being made
    std::size_t copied_ = 0;                                    ///< nodes of branches
    std::size_t depth_ = 0, walked_ = 0;
};

class TfliteGraph {
  public:
    TfliteGraph(TfliteBodies& bodies, const TfliteSubgraph& model);

    const TfliteSubgraph& model() const { return model_; }
    const FlatBuffer& buffer() const { return buffer_; }
    TfliteBodies& bodies() const { return bodies_; }
    const TfliteTensor& tensor(std::int64_t index) const {
        return model_.tensors[static_cast<std::size_t>(index)];
    }
    /// A tensor of the file as an operator reads it: dequantised, in that order. Throws FlatError where
    /// nothing has written it yet.
    TensorId get(std::int64_t index, AxisOrder order);
    /// The same, or kNoTensor where the operator leaves it out.
    TensorId get_optional(std::int64_t index, AxisOrder order) {
        return index < 0 ? kNoTensor : get(index, order);
    }
    /// Whether it is there with the channels first, and not in the file's order.
    bool is_channels_first(std::int64_t index) const;
    /// Says that `id` is tensor `index`. `computed`: its quantised form is written; else elements moved only.
    void set(std::int64_t index, TensorId id, AxisOrder order, bool computed = true);
    /// Says that `id` holds tensor `index` as it lies in memory, quantised where it is, in the file's order.
    void set_raw(std::int64_t index, TensorId id);
    /// The tensor as it lies in memory, in the file's order.
    TensorId raw(std::int64_t index);
    /// Says that a tensor is another one under a name of its own.
    void alias(std::int64_t index, std::int64_t of);
    /// Integers of a constant; nothing where they are not known.
    std::optional<std::vector<std::int64_t>> integers(std::int64_t index) const;

    /// Integers of a constant, or those that operators made of constants and sizes so far.
    std::optional<std::vector<std::int64_t>> computed(std::int64_t index) {
        if (auto known = integers(index))
            return known;
        auto followed = integers_.of(index);
        return followed.empty() ? std::nullopt : std::optional(std::move(followed));
    }
    /// Follows the integers of an operator that was added.
    void follow(const TfliteOperator& op) { integers_.step(op); }
    /// A result that stays: the new value of a state is one though nothing in the graph reads it.
    void keep(TensorId id) { kept_.push_back(id); }

    /// A node with one output, named after the tensor that it helps to make.
    TensorId emit(std::string_view op, std::vector<TensorId> inputs, TfliteAttributes attributes = {});
    std::vector<TensorId> emit_several(std::string_view op, std::vector<TensorId> inputs, std::size_t outputs,
                                       TfliteAttributes attributes = {}, std::string_view domain = "");
    /// The same for an operator that ONNX does not have.
    std::vector<TensorId> emit_own(std::string_view op, std::vector<TensorId> inputs, std::size_t outputs,
                                   TfliteAttributes attributes = {});
    TensorId emit_own(std::string_view op, std::vector<TensorId> inputs, TfliteAttributes attributes);
    /// Constants that the translation needs.
    TensorId ints(std::vector<std::int64_t> values);
    TensorId scalar(double value);
    /// Weights that the file holds in another arrangement, declared with `shape`.
    TensorId weights(std::int64_t index, Shape shape);
    /// Declares a result as the file states it: for operators whose shapes nothing else tells.
    void declare(TensorId id, std::int64_t index);
    const std::string& name_of(TensorId id) const { return graph_.tensors[id].name; }
    const std::string& last_node() const { return graph_.nodes.back().name; }
    void report(Finding finding) { graph_.findings.push_back(std::move(finding)); }

    /// Names of nodes that follow begin with this.
    void begin(std::string name) { prefix_ = std::move(name); }
    /// Declares all inputs, in their order, as they lie in memory; of a body.
    void begin_body();
    Graph take();
    Graph take_body();

  private:
    struct Forms {
        std::array<TensorId, 2> plain{kNoTensor, kNoTensor};  ///< as operators read it, by order
        std::array<TensorId, 2> stored{kNoTensor, kNoTensor}; ///< quantised, as it lies in memory
    };
    TensorId make(std::string name, TensorRole role, DataType type);
    TensorId declared(std::int64_t index, AxisOrder order);
    TensorId dequantized(std::int64_t index, TensorId stored);
    TensorId reordered(std::int64_t index, TensorId from, AxisOrder to);
    TensorId scales_of(const TfliteTensor& t);
    TensorId zeros_of(const TfliteTensor& t);

    TfliteBodies& bodies_;
    const TfliteSubgraph& model_;
    const FlatBuffer& buffer_;
    Graph graph_;
    std::vector<Forms> forms_;
    std::vector<std::int64_t> source_; ///< constant that a tensor only unpacks, or -1
    /// Weights by where they stand in the file, then by shape: what several operators read is one tensor.
    std::map<std::pair<std::uint64_t, Shape>, TensorId> weights_;
    std::map<std::pair<std::int64_t, TensorId>, TensorId> dequantized_weights_;
    std::vector<bool> is_input_;
    TfliteIntegers integers_;
    std::vector<TensorId> kept_;
    std::string prefix_;
    std::size_t made_ = 0;
};

/// Adds every operator of the file.
void translate_tflite(TfliteGraph& graph);

} // namespace archsim::import
