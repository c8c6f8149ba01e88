#pragma once
// What the benchmarks of estimates share: the shipped data, one bound network, one device of each family.

#include "archsim/run/session.hpp"
#include "session/bound_model.hpp"

#include <array>
#include <memory>
#include <string>

namespace archsim::bench {

/// One device of each architecture.
inline constexpr std::array kDevices = {"H100",    "Xeon-8490H", "TPU-v4",          "KPU-T64",
                                        "QRB5165", "DPU-ZCU102", "CGRA-Plasticine", "Hailo-8"};

inline const Session& session() {
    static const Session kSession;
    return kSession;
}

inline const std::shared_ptr<const BoundModel>& resnet50() {
    static const std::shared_ptr<const BoundModel> kModel = session().bind(session().load("resnet50"), 1);
    return kModel;
}

inline Conditions options(bool keep_subgraphs) {
    Conditions o;
    o.precision = PrecisionConfig::uniform(Precision::int8);
    o.keep_subgraphs = keep_subgraphs;
    return o;
}

} // namespace archsim::bench
