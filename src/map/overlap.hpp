#pragma once
// How work on different resources overlaps.

namespace archsim {

/// (x^p + y^p + z^p)^(1/p), for p from 1 (one after another) to infinity (perfect overlap).
double combine(double x, double y, double z, double p);

} // namespace archsim
