#pragma once
// What the first inference costs beyond a warm one: building the network for the device, and bringing the
// weights there.

#include "archsim/core/export.hpp"
#include "archsim/map/machine.hpp"

namespace archsim {

/// Times in seconds; NaN where an input is unknown.
///
///   build  = compile_base + compile_per_operator x operators        (of the software stack)
///   upload = weight bytes / host link                               where the device has a link of its own
///          = 2 x weight bytes / DRAM bandwidth                      where it shares the host's DRAM: one
///          copy,
///                                                                   read and written
///   first  = build + upload + warm
///
/// TensorRT (15 s + 0.5 s per operator) on ResNet-50 (174 operators, 102 MB) over 44 GB/s:
/// 102 s + 2.3 ms + 1.2 ms. Reading the model from storage is not counted.
struct ColdStart {
    double build_s = 0, upload_s = 0, warm_s = 0;
    const Fact* build = nullptr; ///< the stack's time per operator (owned by the machine)
    const Fact* link = nullptr;  ///< what carries the weights; null where nothing is known

    /// Seconds until the first result.
    double first_s() const { return build_s + upload_s + warm_s; }
};

/// `operators`: of the network, those with run-time work; `weight_bytes`: as stored on the device;
/// `warm_s`: latency of a later inference.
ARCHSIM_API ColdStart cold_start(const Machine& machine, double operators, double weight_bytes,
                                 double warm_s);

} // namespace archsim
