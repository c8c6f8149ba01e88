#pragma once
// The cost of the first inference beyond a warm one: building the network for the device, and bringing the
// weights there.

#include "archsim/map/machine.hpp"

namespace archsim {

/// Times in seconds; NaN where an input is unknown.
///
///   build  = compile_base + compile_per_operator x operators        (of the software stack)
///          = 0                                                      of one that compiled it before
///   upload = weight bytes / host link                               where the device has a link of its own
///          = 2 x weight bytes / DRAM bandwidth                      where it shares the host's DRAM: one
///          copy,
///                                                                   read and written
///   first  = build + upload + warm
///   side by side: the parts of a model (encoder, decoder) built at once, each on a thread of its own, so
///   that
///          the largest one decides; their weights share the link
///
/// TensorRT (15 s + 0.5 s per operator) on ResNet-50 (174 operators, 102 MB) over 44 GB/s:
/// 102 s + 2.3 ms + 1.2 ms. Reading the model from storage is not counted.
struct ColdStart {
    double build_s = 0, upload_s = 0, warm_s = 0;
    double largest_build_s = 0;             ///< of the largest part alone; build_s where there is one
    const Fact* build = nullptr;            ///< the stack's time per operator, or none (owned by the machine)
    const CompiledBefore* before = nullptr; ///< null where the device builds
    const Fact* link = nullptr;             ///< what carries the weights; null where nothing is known

    /// Seconds until the first result.
    double first_s() const { return build_s + upload_s + warm_s; }
    double side_by_side_s() const { return largest_build_s + upload_s + warm_s; }
};

/// `operators`: of the network, those with run-time work; `weight_bytes`: as stored on the device;
/// `warm_s`: latency of a later inference; `largest_part`: operators of the part with the most, 0 for a
/// network in one piece.
ColdStart cold_start(const Machine& machine, double operators, double weight_bytes, double warm_s,
                     double largest_part = 0);

} // namespace archsim
