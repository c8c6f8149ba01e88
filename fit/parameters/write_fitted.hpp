#pragma once
// Writes fitted parameters into a file of the hardware database and leaves everything else as it stands.

#include "hardware/parameter_site.hpp"

#include <string>
#include <string_view>
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

} // namespace archsim
