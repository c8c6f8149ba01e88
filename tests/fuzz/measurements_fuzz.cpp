// Reads arbitrary text as a table of measurements: rows, findings or the documented refusal.

#include "archsim/core/finding.hpp"
#include "fit/rows/measurements.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        archsim::parse_measurements({reinterpret_cast<const char*>(data), size}, "fuzz");
    } catch (const archsim::InputError&) {
        return 0; // no header, or a column is missing
    }
    return 0;
}
