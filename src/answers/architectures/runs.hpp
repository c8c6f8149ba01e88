#pragma once
// What compare_architectures estimates beside the architectures as they are. A request and its choices go in;
// results come out: of other batches, of changed devices, and of the smallest change that turns a pair
// around.

#include "answers/architectures/compare_architectures.hpp"
#include "answers/architectures/explanation.hpp"
#include "archsim/run/session.hpp"

#include <string>
#include <vector>

namespace archsim {

struct ArchitectureChoice {
    std::string label;    ///< title of the family where it was named by family, else the device's name
    std::string hardware; ///< "NAME" or "NAME@MODE"
};

/// Families stand for the device that the deployment "families" lists for them; nothing named stands for the
/// deployment "architectures", "all" for every family. Throws InputError for names that are neither a family
/// nor a device, UsageError for the same architecture twice.
std::vector<ArchitectureChoice> choose_architectures(const Session& session,
                                                     const std::vector<std::string>& asked);

/// Adds the family that is named beside the others where it is not among them.
void add_architecture(const Session& session, const std::string& name,
                      std::vector<ArchitectureChoice>& choices);

/// Index of the choice that `name` means: its label, family or device, in any case. Throws UsageError that
/// lists the labels.
std::size_t find_architecture(const std::vector<ArchitectureChoice>& choices, const std::string& name,
                              const std::string& flag);

/// The request's workload at every batch of its sweep; its limits say which batches may be the best.
BatchSweep run_batch_sweep(const Session& session, const CompareArchitecturesRequest& request,
                           const std::vector<ArchitectureChoice>& choices);

/// Two devices and a question.
struct RankedPair {
    const Session& session;
    std::string hardware[2], label[2];
    Workload workload;
    Conditions conditions;
    const Metric* metric = nullptr;
    CostOptions cost;
};

/// Fills the flips of an explanation: every lever of either device up to a factor of 100, batches up to 256,
/// every precision.
void find_flips(const RankedPair& pair, Explanation& out);

/// Every input of assumed source that the machines use, 20 % down and up, one at a time.
Sensitivity run_sensitivity(const Session& session, const ArchitectureComparison& c,
                            const std::vector<ArchitectureChoice>& choices);

/// Estimates every architecture with the changes that the request asks for: LEVER=FACTOR ("bandwidth=2x",
/// "fixed_cost=50%"), tdp=WATTS, batch=N or precision=NAME; ARCHITECTURE:LEVER=... changes one device only.
/// Throws UsageError for anything else.
WhatIf run_what_if(const Session& session, const CompareArchitecturesRequest& request,
                   const std::vector<ArchitectureChoice>& choices);

} // namespace archsim
