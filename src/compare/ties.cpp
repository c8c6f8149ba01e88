#include "archsim/compare/ties.hpp"

#include <cmath>

namespace archsim {

namespace {

bool errs_together(const Result& a, const Result& b) {
    return a.device && b.device && a.device->id == b.device->id && a.runtime && b.runtime &&
           a.runtime->id == b.runtime->id && a.model && b.model && a.model->name == b.model->name;
}

} // namespace

bool surely_better(const Metric& by, const Result& a, const Measure& x, const Result& b, const Measure& y) {
    constexpr double kRounding = 1e-9;
    if (errs_together(a, b))
        return better(by, x.value, y.value) && std::abs(x.value - y.value) > kRounding * std::abs(y.value);
    return by.better == Better::higher ? x.interval.low > y.interval.high : x.interval.high < y.interval.low;
}

} // namespace archsim
