#pragma once
// Fits parameters of the latency model to measurements: a device's own, or those a software stack shares.

#include "fit/errors/left_out.hpp"
#include "fit/errors/validation.hpp"
#include "fit/parameters/parameter_fit.hpp"
#include "fit/rows/validate.hpp"
#include "hardware/parameter_site.hpp"

#include <string>
#include <vector>

namespace archsim {

/// A fitted number and where it goes.
struct FittedValue {
    ParameterSite site;
    double value = 0; ///< in the unit of info_of(site.parameter)
    int n = 0;        ///< measurements behind it
    double error = 0; ///< relative error of the fit
    std::string note;
};

/// The text of a device's or a stack's JSON file with these values, each marked `fitted` by one new source
/// (`cite`, `date` as YYYY-MM-DD). Values replaced keep their unit; members other than the parameters and the
/// sources keep their very text. `file` stands for it in errors. Throws InputError when the text is not a
/// JSON object.
std::string with_fitted(const std::string& text, const std::string& file,
                        const std::vector<FittedValue>& values, const std::string& cite,
                        const std::string& date);

/// A multiple of a family's energy prices (PriceGroup) that measured power decided.
struct FittedMultiple {
    std::string family, group;
    double value = 1;
    int n = 0;        ///< measured runs behind it
    double error = 0; ///< their median error, each with its network left out
};

/// The text of hardware_db/energy.json with these multiples in the place of all that it had, each marked
/// `fitted` by a new source. Throws likewise.
std::string with_multiples(const std::string& text, const std::string& file,
                           const std::vector<FittedMultiple>& multiples, const std::string& cite,
                           const std::string& date);

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

/// A device's file may state this many fitted parameters; more would follow the measurements, not the chip.
inline constexpr std::size_t kMostDeviceParameters = 6;

struct CalibrationRequest {
    std::string device;  ///< fit this device's own parameters to its rows
    std::string runtime; ///< with a device: only rows of this stack, and values that hold for it alone
    std::vector<std::string> stacks; ///< without a device: fit the parameters these share to all their rows
    std::vector<std::string> parameters; ///< names; empty: see calibrate
    bool with_devices = false; ///< with a stack: also the fitted parameters of the devices it runs on
    unsigned threads = 1;
};

/// Values to write into one file of the database.
struct CalibratedFile {
    std::string file;
    std::vector<FittedValue> values;
};

/// A fit and the values to write.
struct CalibrationOutcome {
    Calibration calibration;
    std::vector<CalibratedFile> files;
};

/// Bounded robust least squares of log(predicted / measured), weighted by the rows' weights, with a weak
/// expectation from what the stack or the family states; then once more without each network in turn.
///
/// Without names, a device is fitted in the parameters that its file states as fitted; where it states none,
/// in those of the stack that its measurements determine best and independently of each other (largest
/// remaining column of the sensitivities, QR with pivoting), at most kMostDeviceParameters and at most one
/// for two measurements. A stack is fitted in its parameters marked `fitted`. Throws UsageError for unknown
/// names, and InputError where no row can be used.
CalibrationOutcome calibrate(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows,
                             const CalibrationRequest& request);

/// "calibrate_device on 26 rows of 13 networks (board.csv): left-out median 12 %, training 8 %"
std::string describe_fit(const Calibration& calibration, const std::vector<std::string>& files);

/// The text of the file with the values, as they would be written on `date` (YYYY-MM-DD); `cite` says on what
/// they were fitted.
std::string calibrated_text(const CalibratedFile& file, const std::string& cite, const std::string& date);

/// The changes of a joint fit.
struct Refit {
    std::vector<CalibratedFile> files;
    std::vector<FittedMultiple> multiples; ///< of energy prices, for the energy file of the database
    std::size_t rows = 0, parameters = 0;  ///< that took part
};

/// Fits every statement marked `fitted` or `tuned` that decides some of the rows, jointly wherever rows share
/// them, from what the database states now; deterministic. Each value carries the rows behind it and the
/// median error of these rows with their network left out.
/// What the stacks `held` say of all chips stays: rows that nobody had seen were not estimated better by the
/// fit.
Refit refit_all(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows, unsigned threads = 1,
                const std::vector<std::string>& held = {});

/// The text of the session's energy file (EnergyDatabase::file) with the multiples; `date` as YYYY-MM-DD.
std::string multiples_text(const Session& session, const std::vector<FittedMultiple>& multiples,
                           const std::string& date);

/// Devices and stacks with numbers that measurements decided: a device's own, and a stack's parameters
/// (values that statements share are one), with the rows that they decide; most rows first.
std::vector<FitSupport> fit_support(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows,
                                    unsigned threads = 1);

} // namespace archsim
