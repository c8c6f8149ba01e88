#pragma once
// Which catalogue of models belongs to a data folder, and what to say of a model that it does not have.

#include "archsim/core/finding.hpp"
#include "archsim/run/catalogue.hpp"

#include <filesystem>
#include <string_view>

namespace archsim {

/// The catalogue of `data`, a folder with hardware_db/ and models/. Beside the database that is built into
/// the library (data_dir()) it is that of the first of model_dirs() that has one, and empty where none has.
Catalogue find_catalogue(const std::filesystem::path& data);

/// What to throw for a name that is not in the catalogue.
InputError unknown_model(const Catalogue& catalogue, std::string_view name);

} // namespace archsim
