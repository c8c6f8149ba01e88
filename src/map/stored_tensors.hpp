#pragma once
// How many bytes tensors take in memory at the formats of a run.

#include "archsim/core/precision.hpp"
#include "archsim/ops/shaped_graph.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace archsim {

/// How a run stores a tensor.
enum class Storage : std::uint8_t {
    activation,
    wide_activation, ///< that automatic mixed precision leaves in fp32
    matrix_weight,
    lm_head_weight,
    table ///< rows of which are looked up
};

/// The facts of a tensor that decide its bits per element.
struct TensorFormat {
    explicit TensorFormat(const ShapedTensor& tensor)
        : storage_bits(tensor.storage_bits), type(tensor.type), kv_cache(tensor.kv_cache) {}
    double storage_bits;
    DataType type;
    bool kv_cache;
    bool operator==(const TensorFormat&) const = default;
};

/// Whether a request for such weights means a checkpoint that was quantised anew
/// (PrecisionConfig::requantized): it holds floats, and the request is narrower. Integers lie in files that
/// nobody quantises again.
bool quantised_anew(Precision stored, Precision asked);

/// Storage of `tensor` in bits per element when this run stores floats as `config` says.
double stored_bits(const TensorFormat& tensor, const PrecisionConfig& config, Storage storage,
                   std::optional<Precision> native);

/// Tensors that lie in memory, in an order. Formats ask for their bytes again and again: there are few kinds
/// of storage, and a run gives each of them one width.
class StoredTensors {
  public:
    /// One more, of that many elements.
    void add(double elements, const TensorFormat& format, Storage storage);
    /// Bytes of each.
    std::vector<double> bytes(const PrecisionConfig& config) const;
    /// Bytes of those that are stored so.
    double bytes(const PrecisionConfig& config, Storage storage) const;

  private:
    struct Kind {
        TensorFormat format;
        Storage storage;
        bool operator==(const Kind&) const = default;
    };
    struct Held {
        double elements = 0;
        std::size_t kind = 0; ///< into `kinds_`
    };
    std::vector<Kind> kinds_;
    std::vector<Held> tensors_;
};

} // namespace archsim
