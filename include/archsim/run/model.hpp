#pragma once
// A model in memory: imported once, ready for any sizes.

#include "archsim/compare/result.hpp"
#include "archsim/core/budget.hpp"
#include "archsim/run/catalogue.hpp"

#include <memory>
#include <string>
#include <vector>

namespace archsim {

/// One imported graph. Immutable and safe to share between threads.
struct ImportedGraph {
    CatalogueEntry info; ///< for a user's own file: name = stem, no figures
    std::shared_ptr<const Graph> graph;
    Budget budget; ///< what binding it to sizes may cost
};

class PreparedWorkloads;

/// A loaded model, whatever its kind: one graph, several that run one after another, or a language model.
/// Ready for Session::estimate in a Workload; copies share what was bound and counted. Safe to use from many
/// threads.
struct Model : ImportedGraph { ///< `graph` is null for a model that has parts only
    /// Parts in the order they run; empty for a single graph.
    std::vector<Model> parts;
    /// Sizes that were estimated before.
    std::shared_ptr<PreparedWorkloads> prepared;

    /// As the catalogue or the file calls it.
    const std::string& name() const { return info.name; }
};

} // namespace archsim
