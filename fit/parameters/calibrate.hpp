#pragma once
// Fits parameters of the latency model to measurements: a device's own, or those a software stack shares.

#include "fit/parameters/calibration.hpp"
#include "fit/parameters/write_fitted.hpp"
#include "fit/rows/validate.hpp"

#include <string>
#include <vector>

namespace archsim {

/// A device's file may state this many fitted parameters; more would follow the measurements, not the chip.
inline constexpr std::size_t kMostDeviceParameters = 6;

/// What to fit, on which rows.
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

} // namespace archsim
