#pragma once
// Which format to ask for instead of the one that runs: a result goes in, a format comes out.

#include "archsim/compare/result.hpp"

#include <optional>

namespace archsim {

/// The widest format narrower than what runs that this device and stack execute as asked, and in which they
/// read no more bytes of weights, activations and cache; with `faster`, one that they also multiply at a
/// higher rate. Of a language model that answers a prompt what its stack makes of the request. Nothing where
/// there is none. A run in w4a16 has none: in fp8 its weights would take twice the bytes.
std::optional<Precision> narrower_format(const Result& result, bool faster);

} // namespace archsim
