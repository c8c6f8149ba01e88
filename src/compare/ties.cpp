#include "archsim/compare/ties.hpp"

namespace archsim {

namespace {

bool errs_together(const Result& a, const Result& b) {
    return a.device && b.device && a.device->id == b.device->id && a.runtime && b.runtime &&
           a.runtime->id == b.runtime->id && a.model && b.model && a.model->name == b.model->name;
}

} // namespace

bool surely_better(const Result& a, const Standing& x, const Result& b, const Standing& y) {
    constexpr double kRounding = 1e-9;
    if (errs_together(a, b))
        return x.value < y.value * (1 - kRounding);
    return x.interval.high < y.interval.low;
}

} // namespace archsim
