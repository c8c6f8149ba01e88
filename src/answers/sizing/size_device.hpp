#pragma once
// The fewest of one device, in one format, that hold the limits.

#include "answers/sizing/size_service.hpp"

namespace archsim {

/// What all devices of an answer share.
struct SizingBasis {
    const Session& session;
    const Model& model;
    const SizingRequest& request; ///< settled: with a number of requests
    CostOptions cost;             ///< with one basis
    double deviation = 0;         ///< of the confidence asked for
    double heads = 0;             ///< of attention; 0: the model does not say
    bool experts = false;
};

/// Never throws for a device: what fails is its reason.
SizedDevice size_device(const SizingBasis& basis, const std::string& hardware, const Conditions& conditions);

} // namespace archsim
