#pragma once
// Mappers that know several ways to lay a network out.

#include "archsim/extend/mapper.hpp"

#include <memory>
#include <span>

namespace archsim {

/// What a mapper implements besides Mapper when a compiler may lay the same network out otherwise: in parts
/// in turn although it fits as a whole. A network runs in the fastest way.
class KnowsArrangements {
  public:
    /// Mappers that count the network in the other ways that are open to it on this machine. They live as
    /// long as the program.
    virtual std::span<const std::shared_ptr<const Mapper>>
    other_arrangements(const NetworkWork& network, const Machine& machine) const = 0;

  protected:
    KnowsArrangements() = default;
    KnowsArrangements(const KnowsArrangements&) = default;
    KnowsArrangements& operator=(const KnowsArrangements&) = default;
    ~KnowsArrangements() = default;
};

} // namespace archsim
