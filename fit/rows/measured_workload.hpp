#pragma once
// Which model of the catalogue a measured row means, and at which sizes.

#include "archsim/run/catalogue.hpp"
#include "fit/errors/validation.hpp"

#include <map>
#include <string>

namespace archsim {

struct MeasuredWorkload {
    const CatalogueEntry* entry = nullptr;
    std::map<std::string, std::int64_t> dims; ///< besides the batch
    bool whole = false;  ///< of several parts that run for every item: an image generator
    std::string problem; ///< why there is no such workload; empty when there is
};

/// Of a model made of parts, rows name the whole: an image size means the part that takes images, one token
/// the decoder, more tokens the encoder.
MeasuredWorkload find_workload(const Catalogue& catalogue, const MeasuredRow& row);

/// The length that stands for inputs of a data set, "177" of "variable:177"; any other text as it is.
std::string_view mean_length(std::string_view text);

} // namespace archsim
