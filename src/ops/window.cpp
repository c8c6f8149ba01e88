#include "ops/common.hpp"

#include <algorithm>

namespace archsim {

constexpr std::int64_t kMaxStep = std::int64_t{1} << 31; // keeps every product of two sizes inside 64 bits

static std::vector<std::int64_t> steps(const NodeContext& c, std::string_view key, std::size_t rank) {
    const auto* given = c.integers(key);
    if (!given || given->empty())
        return std::vector<std::int64_t>(rank, 1);
    if (given->size() != rank)
        malformed("attribute '" + std::string(key) + "' does not fit " + std::to_string(rank) +
                  " spatial axes");
    for (const std::int64_t v : *given)
        if (v < 1 || v > kMaxStep)
            malformed("attribute '" + std::string(key) + "' must be positive");
    return *given;
}

SpatialAttributes spatial_attributes(const NodeContext& c, std::size_t rank,
                                     const std::vector<std::int64_t>& kernel) {
    SpatialAttributes a;
    a.kernel = kernel;
    if (kernel.size() != rank)
        malformed("the kernel does not fit " + std::to_string(rank) + " spatial axes");
    for (const std::int64_t k : kernel)
        if (k < 0 || k > kMaxStep)
            malformed("the kernel size is absurd");
    a.strides = steps(c, "strides", rank);
    a.dilations = steps(c, "dilations", rank);
    a.pads_begin.assign(rank, 0);
    a.pads_end.assign(rank, 0);
    if (const auto* pads = c.integers("pads"); pads && !pads->empty()) {
        if (pads->size() != 2 * rank)
            malformed("attribute 'pads' does not fit " + std::to_string(rank) + " spatial axes");
        for (std::size_t i = 0; i < 2 * rank; ++i)
            if ((*pads)[i] < -kMaxStep || (*pads)[i] > kMaxStep)
                malformed("attribute 'pads' is absurd");
        std::copy_n(pads->begin(), rank, a.pads_begin.begin());
        std::copy_n(pads->begin() + static_cast<std::ptrdiff_t>(rank), rank, a.pads_end.begin());
    }
    a.auto_pad = c.text("auto_pad", "NOTSET");
    a.ceil_mode = c.integer("ceil_mode", 0) != 0;
    return a;
}

std::int64_t window_output(const SpatialAttributes& a, std::size_t i, std::int64_t input) {
    const std::int64_t stride = a.strides[i];
    if (a.auto_pad == "SAME_UPPER" || a.auto_pad == "SAME_LOWER")
        return input / stride + (input % stride != 0);
    const std::int64_t extent = (a.kernel[i] - 1) * a.dilations[i] + 1;
    const bool explicit_pads = a.auto_pad != "VALID";
    const std::int64_t pads = explicit_pads ? a.pads_begin[i] + a.pads_end[i] : 0;
    const std::int64_t room = input + pads - extent;
    if (room < 0)
        malformed("the window of " + std::to_string(extent) + " is larger than the padded input of " +
                  std::to_string(input + pads));
    if (!a.ceil_mode)
        return room / stride + 1;
    std::int64_t out = room / stride + (room % stride != 0) + 1;
    // A last window that would start inside the end padding is dropped (as PyTorch does; ONNX since opset
    // 19).
    if ((out - 1) * stride >= input + (explicit_pads ? a.pads_begin[i] : 0))
        --out;
    return out;
}

Window window_of(const SpatialAttributes& a, std::span<const std::int64_t> in,
                 std::span<const std::int64_t> out) {
    Window w;
    const std::size_t rank = in.size();
    // The innermost axis is last, so 1-D and 2-D windows use the trailing places.
    const std::size_t offset = rank < 3 ? 3 - rank : 0;
    for (std::size_t i = 0; i < rank; ++i) {
        const std::size_t to = std::min<std::size_t>(i + offset, 2);
        w.in[to] *= static_cast<double>(in[i]);
        w.out[to] *= static_cast<double>(out[i]);
        w.kernel[to] *= static_cast<double>(a.kernel[i]);
        w.stride[to] = static_cast<double>(a.strides[i]);
        w.dilation[to] = static_cast<double>(a.dilations[i]);
    }
    return w;
}

} // namespace archsim
