#include "answers/sizing/ways.hpp"

#include <algorithm>
#include <cmath>

namespace archsim {

namespace {

// Devices of a node where its file does not say: the PCIe slots of the usual server, a host of TPUs.
constexpr std::int64_t kUsualNode = 8;
constexpr std::int64_t kMostNodes = 8;

bool divides(std::int64_t tensor, double heads) {
    return heads <= 0 || std::fmod(heads, static_cast<double>(tensor)) == 0;
}

} // namespace

std::vector<Parallelism> engine_ways(const Device& device, double heads, bool experts) {
    std::vector<Parallelism> ways = {{}};
    if (!(device.link_bandwidth.known() && device.link_bandwidth.value > 0))
        return ways;
    const std::int64_t node = device.node_devices > 0
                                  ? std::min(kUsualNode, static_cast<std::int64_t>(device.node_devices))
                                  : kUsualNode;
    std::int64_t widest = 1;
    for (std::int64_t tensor = 2; tensor <= node; tensor *= 2) {
        if (divides(tensor, heads)) {
            ways.push_back({.tensor = tensor});
            widest = tensor;
        }
        if (experts)
            ways.push_back({.experts = tensor});
    }
    for (std::int64_t nodes = 2; nodes <= kMostNodes; nodes *= 2)
        ways.push_back({.tensor = widest, .pipeline = nodes});
    return ways;
}

} // namespace archsim
