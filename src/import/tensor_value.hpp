#pragma once
// TensorProto messages as constants: type, shape and, for small ones, the values, which may lie in side
// files; TypeProto messages.

#include "archsim/graph/graph.hpp"
#include "import/messages.hpp"

#include <filesystem>
#include <unordered_map>

namespace archsim::import {

/// Side files that hold the payload of tensors. They are looked up for existence and size; only small
/// constants that may decide a shape are read from them.
class ExternalData {
  public:
    /// `folder` is the model's; none when the model was read from memory, whose side files cannot be looked
    /// up.
    ExternalData(std::optional<std::filesystem::path> folder, Findings& findings)
        : folder_(std::move(folder)), findings_(findings) {}

    /// Checks the side file of a tensor whose shape asks for `bytes` bytes: a relative path that stays inside
    /// the model's folder, a file long enough. What is wrong becomes a finding, once per side file. Returns
    /// the payload when `wanted` and it is there.
    std::string look_up(const TensorMessage& tensor, std::uint64_t bytes, bool wanted);

  private:
    struct SideFile {
        std::filesystem::path path;
        std::optional<std::uint64_t> size; ///< none: not there, or not to be looked at
        bool reported = false;
    };

    SideFile& side_file(const std::string& location, const std::string& tensor);
    void report(SideFile& file, FindingKind kind, Severity severity, const std::string& tensor,
                const std::string& message, const std::string& hint);

    std::optional<std::filesystem::path> folder_;
    Findings& findings_;
    std::unordered_map<std::string, SideFile> files_;
};

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

/// Writes what the file declares into `tensor`. Impossible dimensions are reported and left unknown. Throws
/// protozero::exception where the bytes are no such message.
void read_type(std::string_view type, Tensor& tensor, Findings& findings);

} // namespace archsim::import
