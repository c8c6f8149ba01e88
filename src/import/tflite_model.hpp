#pragma once
// What a TensorFlow Lite file states, table by table (tensorflow/compiler/mlir/lite/schema/schema.fbs at
// tensorflow@b6971fc8f4c9): its subgraphs, operators in the order they run. Weights are not read.

#include "archsim/graph/graph.hpp"
#include "import/flat_buffer.hpp"

namespace archsim::import {

struct TfliteTensor {
    std::string name;
    DataType type = DataType::undefined;
    Shape shape;            ///< as converted
    Shape signature;        ///< the same with -1 for what may be resized; empty: as `shape`
    bool variable = false;  ///< state that stays between inferences
    std::uint64_t data = 0; ///< where its bytes stand; 0: computed, or in bytes beside the buffer
    std::uint64_t data_bytes = 0;
    std::size_t scales = 0; ///< of its quantisation; 0: none
    bool written = false;   ///< by an operator, or from outside
    /// Without elements it needs no bytes.
    bool constant() const { return (data_bytes > 0 || (empty() && !written)) && !variable; }
    bool empty() const;
    /// Where linear quantisation stands behind its integers.
    bool quantized() const;
};

struct TfliteOperator {
    std::int32_t code = 0;                     ///< BuiltinOperator
    std::string custom;                        ///< name of a custom operator
    std::vector<std::int64_t> inputs, outputs; ///< tensors; -1: left out
    std::optional<FlatTable> options;
    std::optional<FlatTable> options_2; ///< the second union of options, for the newest operators
    FlatVector custom_options;          ///< bytes that belong to the custom operator
};

/// One graph of a file: what an inference runs, or the body of a loop, a branch, a composite.
struct TfliteSubgraph {
    std::string name;
    std::vector<TfliteTensor> tensors;
    std::vector<TfliteOperator> operators;
    std::vector<std::int64_t> inputs, outputs;
};

/// A name under which a graph is called.
struct TfliteSignature {
    std::string name;
    std::size_t graph = 0;
};

struct TfliteModel {
    std::vector<TfliteSubgraph> graphs; ///< one at least
    std::vector<TfliteSignature> signatures;
};

/// Throws FlatError where the bytes are no such model. The options of operators refer to `buffer`.
TfliteModel read_tflite(const FlatBuffer& buffer);

} // namespace archsim::import
