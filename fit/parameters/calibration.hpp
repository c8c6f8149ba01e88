#pragma once
// Parameters before and after a fit, and how far predictions were from the measurements.

#include "fit/errors/validation.hpp"

#include <string>
#include <vector>

namespace archsim {

/// A parameter before and after a fit.
struct CalibratedParameter {
    std::string name;  ///< "matrix_efficiency"
    std::string where; ///< "QCS8550", "qnn", "qnn on hexagon-v73"
    std::string unit;  ///< of the values below
    double before = 0, after = 0;
    double low = 0, high = 0; ///< physical bounds
    double spread = 0;        ///< standard error of log(after), from the scatter of the residuals
    int n = 0;                ///< measurements that the parameter decides
    /// True when the fit ended at a bound.
    bool at_bound() const { return after <= low * (1 + 1e-9) || after >= high * (1 - 1e-9); }
};

/// A fit with its errors.
struct Calibration {
    std::string subject; ///< device or software stack
    std::vector<CalibratedParameter> parameters;
    /// The same measurements with the stated parameters, with the fitted ones, and each with parameters
    /// fitted on the other networks.
    std::vector<ValidatedRow> before, after, left_out;
    std::vector<std::string> notes;
};

} // namespace archsim
