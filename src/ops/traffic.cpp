#include "ops/traffic.hpp"

namespace archsim {

double read_elements(const Operator& op, std::size_t input, const ShapedTensor& tensor) {
    for (const auto& [index, elements] : op.work.partial_reads)
        if (index == input)
            return elements;
    return tensor.elements();
}

double written_elements(const Operator& op, std::size_t output, const ShapedTensor& tensor) {
    for (const auto& [index, elements] : op.work.partial_writes)
        if (index == output)
            return elements;
    return op.work.partial_write.value_or(tensor.elements());
}

} // namespace archsim
