#pragma once
// Window geometry that convolution and pooling share.

#include "ops/common.hpp"

namespace archsim {

/// Kernel, strides, pads and dilations of a node over `rank` spatial axes, as attributes give them.
struct SpatialAttributes {
    std::vector<std::int64_t> kernel, strides, dilations, pads_begin, pads_end;
    std::string_view auto_pad;
    bool ceil_mode = false;
};

/// Throws NodeProblem when an attribute has the wrong length or a step is not positive.
SpatialAttributes spatial_attributes(const NodeContext& c, std::size_t rank,
                                     const std::vector<std::int64_t>& kernel);

/// Output size of axis `i` (ONNX operator specification of Conv and MaxPool).
std::int64_t window_output(const SpatialAttributes& a, std::size_t i, std::int64_t input);

/// Geometry for the mappers. More than three spatial axes are folded into the third.
Window window_of(const SpatialAttributes& a, std::span<const std::int64_t> in,
                 std::span<const std::int64_t> out);

} // namespace archsim
