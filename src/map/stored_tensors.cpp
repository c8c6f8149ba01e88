#include "map/stored_tensors.hpp"

#include <algorithm>

namespace archsim {

/// A matrix that a 4-bit floating-point scheme left in the checkpoint's own type, 16 bits or more. A stack
/// that keeps the output projection of such networks narrower runs files of its own, which store all of these
/// as they do the projection: of gpt-oss-20b in MXFP4, llama.cpp's has 98 matrices in q8_0 beside 72 in
/// mxfp4.
static bool left_to_the_stack(const TensorFormat& tensor, const PrecisionConfig& config, Storage storage) {
    return config.weights == Precision::fp4 && config.head_bits > 0 &&
           tensor.storage_bits >= bits_of(Precision::bf16) &&
           (storage == Storage::matrix_weight || storage == Storage::lm_head_weight ||
            storage == Storage::table);
}

/// A matrix that the checkpoint quantised, where the run has it quantised anew; what the checkpoint left wide
/// stays so.
static bool narrowed(const TensorFormat& tensor, const PrecisionConfig& config, Storage storage) {
    return config.requantized && storage == Storage::matrix_weight &&
           tensor.storage_bits < bits_of(Precision::bf16);
}

bool quantised_anew(Precision stored, Precision asked) {
    return !is_integer(stored) && bits_of(asked) < bits_of(stored);
}

double stored_bits(const TensorFormat& tensor, const PrecisionConfig& config, Storage storage,
                   std::optional<Precision> native) {
    if (tensor.storage_bits > 0 && narrowed(tensor, config, storage))
        return bits_of(config.weights) + config.weight_bits_overhead;
    // Integers in files of a stack's own: these narrow the output projection and the table as they do.
    if (config.requantized && is_integer(config.weights) && tensor.storage_bits > 0) {
        if (storage == Storage::lm_head_weight && config.head_bits > 0)
            return std::min(tensor.storage_bits, config.head_bits);
        if (storage == Storage::table && config.table_bits > 0)
            return std::min(tensor.storage_bits, config.table_bits);
    }
    if (tensor.storage_bits > 0)
        return left_to_the_stack(tensor, config, storage) ? std::min(tensor.storage_bits, config.head_bits)
                                                          : tensor.storage_bits;
    if (!is_floating(tensor.type))
        return bits_of(tensor.type);
    if (bits_of(tensor.type) < 16) // already a packed 8- or 4-bit float
        return bits_of(tensor.type);
    if (tensor.kv_cache)
        return config.cache_bits > 0 ? config.cache_bits : bits_of(config.kv_cache);
    if (native)
        return bits_of(*native);
    if (storage == Storage::lm_head_weight && config.head_bits > 0)
        return config.head_bits;
    if (storage == Storage::table && config.table_bits > 0)
        return config.table_bits;
    if (storage == Storage::wide_activation && config.autocast)
        return bits_of(Precision::fp32);
    if (storage == Storage::matrix_weight || storage == Storage::lm_head_weight)
        return bits_of(config.weights) + config.weight_bits_overhead;
    return bits_of(config.activations);
}

void StoredTensors::add(double elements, const TensorFormat& format, Storage storage) {
    const Kind kind{format, storage};
    const auto known = std::ranges::find(kinds_, kind);
    tensors_.push_back({elements, static_cast<std::size_t>(known - kinds_.begin())});
    if (known == kinds_.end())
        kinds_.push_back(kind);
}

std::vector<double> StoredTensors::bytes(const PrecisionConfig& config) const {
    std::vector<double> bits, bytes;
    for (const Kind& kind : kinds_)
        bits.push_back(stored_bits(kind.format, config, kind.storage, std::nullopt));
    bytes.reserve(tensors_.size());
    for (const Held& tensor : tensors_)
        bytes.push_back(tensor.elements * bits[tensor.kind] / 8);
    return bytes;
}

double StoredTensors::bytes(const PrecisionConfig& config, Storage storage) const {
    const std::vector<double> all = bytes(config);
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
        sum += kinds_[tensors_[i].kind].storage == storage ? all[i] : 0;
    return sum;
}

} // namespace archsim
