#pragma once
// What a TensorFlow Lite file states, table by table (tensorflow/compiler/mlir/lite/schema/schema.fbs at
// tensorflow@b6971fc8f4c9): its first subgraph, operators in the order they run. Weights are not read.

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
    bool constant() const { return data_bytes > 0 && !variable; }
    /// Where linear quantisation stands behind its integers.
    bool quantized() const;
};

struct TfliteOperator {
    std::int32_t code = 0;                     ///< BuiltinOperator
    std::string custom;                        ///< name of a custom operator
    std::vector<std::int64_t> inputs, outputs; ///< tensors; -1: left out
    std::optional<FlatTable> options;
    FlatVector custom_options; ///< bytes that belong to the custom operator
};

struct TfliteModel {
    std::string name;
    std::vector<TfliteTensor> tensors;
    std::vector<TfliteOperator> operators;
    std::vector<std::int64_t> inputs, outputs;
};

/// Throws FlatError where the bytes are no such model. The options of operators refer to `buffer`.
TfliteModel read_tflite(const FlatBuffer& buffer);

} // namespace archsim::import
