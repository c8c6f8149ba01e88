#pragma once
// Which changes of a machine leave its counts as they are: searches over rates, prices and limits count once.

#include "archsim/extend/mapper.hpp"
#include "archsim/map/machine_changes.hpp"

#include <cstdint>
#include <vector>

namespace archsim {

/// A mapper's view beside the work of a subgraph: subgraphs that differ in nothing else count alike.
enum class LooksAt : std::uint8_t {
    work,       ///< nothing
    neighbours, ///< what is near it and reads the same tensor
    memory      ///< that, and how many bytes are alive while it runs
};

/// Implemented besides Mapper by those whose counts follow from the structure and the parameters of a
/// machine, and from no other rate than it says. A rate being there or not is structure.
class CountsOfStructure {
  public:
    /// Whether counts depend on the rates that `lever` (peak, bandwidth or on_chip) changes.
    virtual bool counts_depend_on(Lever lever, const Machine& machine) const;
    /// Tells subgraphs of the same work apart.
    virtual LooksAt looks_at() const { return LooksAt::memory; }
    /// Whether it counts a network in one of these formats, floats of one width, otherwise than in the other.
    virtual bool tells_apart(Precision, Precision, const Machine&) const { return true; }

  protected:
    CountsOfStructure() = default;
    CountsOfStructure(const CountsOfStructure&) = default;
    CountsOfStructure& operator=(const CountsOfStructure&) = default;
    ~CountsOfStructure() = default;
};

/// The coarsest classes of a network's subgraphs that a mapper counts alike; a work that has representatives.
const std::vector<std::uint32_t>& classes_for(const Mapper& mapper, const NetworkWork& work);

/// Whether a change of `lever` may change what the machine's mapper counts. Of a mapper that does not say,
/// everything may.
bool counts_depend_on(Lever lever, const Machine& machine);

/// Whether the machine runs a network in either format with the same counts, times and energy: floats of one
/// width at the same prices, which its mapper does not tell apart. Holds for networks whose operators all
/// leave their format to the request.
bool runs_alike(Precision a, Precision b, const Machine& machine);

} // namespace archsim
