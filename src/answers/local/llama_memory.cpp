#include "answers/local/llama_memory.hpp"

#include "archsim/core/precision.hpp"

namespace archsim {

double llama_output_bytes(const LanguageModel& model, std::int64_t tokens) {
    return static_cast<double>(tokens) * (model.vocabulary + model.hidden) * bytes_of(Precision::fp32);
}

} // namespace archsim
