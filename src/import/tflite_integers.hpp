#pragma once
// Small integers of a TensorFlow Lite graph, followed through the operators that sizes and counters are made
// of.

#include "import/tflite_model.hpp"

#include <map>
#include <vector>

namespace archsim::import {

/// The integers of a constant that may count something; nothing of larger ones.
std::vector<std::int64_t> counting_integers(const TfliteTensor& t, const FlatBuffer& buffer);

class TfliteIntegers {
  public:
    using Ints = std::vector<std::int64_t>;
    TfliteIntegers(const TfliteSubgraph& graph, const FlatBuffer& buffer) : graph_(graph), buffer_(buffer) {}

    /// The integers of the outputs for these of the inputs; what is not known is empty.
    std::vector<Ints> run(const std::vector<Ints>& inputs);
    /// Follows one operator.
    void step(const TfliteOperator& op);
    /// The integers of a tensor; empty where they are not known.
    Ints of(std::int64_t index);

  private:
    const TfliteTensor& tensor(std::int64_t index) const {
        return graph_.tensors[static_cast<std::size_t>(index)];
    }
    bool is_integer(std::int64_t index) const;
    /// With kUnknown for integers that only a run knows.
    Ints partly(std::int64_t index);
    bool arrange(const TfliteOperator& op);

    const TfliteSubgraph& graph_;
    const FlatBuffer& buffer_;
    std::map<std::int64_t, Ints> known_, constants_;
};

} // namespace archsim::import
