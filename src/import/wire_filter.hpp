#pragma once
// Copies the part of an ONNX model that estimating needs, jumping over weights on the wire: the protobuf
// parser behind it then sees a small message whatever the size of the file.

#include "import/byte_source.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>

namespace archsim::import {

/// The bytes are not the encoding of an ONNX model; the message says where and why.
class WireError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Floating-point values are kept only for constants this small: scales of Resize, limits of Clip and the
/// like.
inline constexpr std::size_t kMaxRealElements = 64;

/// The same model without the payload of large tensors, training information, documentation strings and
/// metadata. Kept values: integers, booleans and strings of at most kMaxConstantElements elements, other
/// types of at most kMaxRealElements. Throws WireError, and InputError when reading fails.
std::string strip_payloads(ByteSource& model);

} // namespace archsim::import
