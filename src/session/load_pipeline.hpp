#pragma once
// Image and video generators as models of several parts.

#include "archsim/extend/operator.hpp"
#include "archsim/run/model.hpp"

#include <filesystem>
#include <memory>

namespace archsim {

/// A pipeline of diffusers: a part for each text encoder, the denoiser and the decoder. `info` as far as it
/// is known before; sizes that it does not state, and the format where it states none, are those of the file.
/// Throws InputError.
Model load_pipeline(const std::filesystem::path& path, CatalogueEntry info,
                    const std::shared_ptr<const OperatorRegistry>& operators, const Budget& budget);

} // namespace archsim
