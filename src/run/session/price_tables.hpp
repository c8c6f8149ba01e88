#pragma once

#include "core/read_once.hpp"
#include "hardware/energy_table.hpp"
#include "hardware/uncertainty.hpp"

#include <filesystem>
#include <memory>

namespace archsim {

/// What only an estimate needs of the database, read when something asks for it: a tool that counts operators
/// starts without it. Safe to use from several threads.
class PriceTables {
  public:
    explicit PriceTables(std::filesystem::path database) : database_(std::move(database)) {}

    /// Energy per event. Throws InputError, each time, for a file that is missing or wrong.
    const EnergyDatabase& energy() const;
    /// Widths of intervals; throws as energy() does.
    std::shared_ptr<const UncertaintyTable> uncertainty() const;

    /// These, with measurements of the user's own.
    std::shared_ptr<const PriceTables> given(std::vector<GivenRow> rows) const;

  private:
    std::filesystem::path database_;
    mutable ReadOnce energy_read_, uncertainty_read_;
    mutable std::unique_ptr<const EnergyDatabase> energy_;
    mutable std::shared_ptr<const UncertaintyTable> uncertainty_;
};

} // namespace archsim
