#pragma once
// TensorProto messages as constants: type, shape and, for small ones, the values.

#include "archsim/graph/graph.hpp"
#include "import/external_data.hpp"
#include "import/findings.hpp"
#include "import/messages.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace archsim::import {

/// Larger sizes are taken for damage: 2^48 elements of one byte are 281 TB.
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 48;

/// Floating-point values are kept only for constants this small: scales of Resize, limits of Clip and the
/// like.
inline constexpr std::size_t kMaxRealElements = 64;
/// Elements up to which the values of a constant of this type are worth keeping.
std::size_t kept_elements(DataType type);

/// The element type with this number of onnx.proto; undefined for a number it does not have.
DataType data_type(int number);

class TensorReader {
  public:
    TensorReader(ExternalData& external, Findings& findings) : external_(external), findings_(findings) {}

    /// A constant without values when the file has none (stripped, external or large); null when the
    /// dimensions are impossible, which has been reported as a finding at `where`.
    std::shared_ptr<const Constant> read(const TensorMessage& tensor, const std::string& where);

    /// Dense type and shape of a sparse tensor.
    std::shared_ptr<const Constant> read(const SparseTensorMessage& tensor, const std::string& where);

  private:
    std::optional<Shape> read_shape(const ArenaList<std::int64_t>& dims, const std::string& where);

    ExternalData& external_;
    Findings& findings_;
};

/// True when the constant has its values (a tensor of no elements always does).
bool holds_value(const Constant& constant);

} // namespace archsim::import
