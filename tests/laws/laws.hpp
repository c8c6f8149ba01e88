#pragma once
// What the law tests share: one session, bound models and quick estimates.

#include "archsim/run/session.hpp"
#include "session/bound_model.hpp"

#include <memory>
#include <string>
#include <vector>

namespace archsim::laws {

const Session& session();

/// The model at a batch, imported and bound once per process.
std::shared_ptr<const BoundModel> bound(const std::string& model, std::int64_t batch);
/// Whether an entry is one graph: no model of several parts, be they named by the entry or by its file.
inline bool one_graph(const CatalogueEntry& entry) {
    return !entry.file.empty() && entry.kind != "diffusion";
}

/// Catalogue models small enough to run on every device, of every kind of architecture.
const std::vector<std::string>& models();

/// Every device of the database, with each of its power modes: "NAME" or "NAME@MODE".
const std::vector<std::string>& hardware();

Result run(const std::string& model, const std::string& hardware, Precision precision,
           std::int64_t batch = 1);

/// The same without subgraphs, whose totals are those with them (tests/estimate/shared_counts_test.cpp).
Result totals(const std::string& model, const std::string& hardware, Precision precision,
              std::int64_t batch = 1);

/// Totals on a machine that was changed after it was made.
Estimate run_on(const std::string& model, const Machine& machine, Precision precision,
                std::int64_t batch = 1);

/// What a host beyond a link draws for operators that the accelerator leaves to it: no limit of the part's.
inline double host_power(const Result& r) {
    const Estimate& e = r.estimate;
    return r.machine->rate(Resource::host_link_bytes) > 0
               ? e.energy[Event::host_busy_second] / e.batch * e.throughput_per_s
               : 0;
}

} // namespace archsim::laws
