#pragma once
// Small networks that nobody trained: stems and blocks of convolutional networks, transformer layers,
// networks of both kinds and single operators, at sizes that fall on either side of every buffer of the
// database.

#include "archsim/run/model.hpp"

#include "support/random_source.hpp"

namespace archsim::test {

/// The next one that `random` decides. Its first dimension is called "batch".
ImportedGraph random_network(RandomSource& random);

} // namespace archsim::test
