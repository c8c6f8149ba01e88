#pragma once

#include "core/read_once.hpp"
#include "hardware/energy_table.hpp"
#include "hardware/uncertainty.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

namespace archsim {

/// The part of the database that only an estimate needs, read when something asks for it: a tool that counts
/// operators starts without it. Safe to use from several threads.
class PriceTables {
  public:
    explicit PriceTables(std::filesystem::path database) : database_(std::move(database)) {}

    /// Energy per event. Throws InputError, each time, for a file that is missing or wrong.
    const EnergyDatabase& energy() const;
    /// The prices of events on a device; the same for one that is asked for again, in another format say.
    std::shared_ptr<const EnergyTable> of(const std::shared_ptr<const Device>& device) const;
    /// Widths of intervals; throws as energy() does.
    std::shared_ptr<const UncertaintyTable> uncertainty() const;

    /// These, with measurements of the user's own.
    std::shared_ptr<const PriceTables> given(std::vector<GivenRow> rows) const;

  private:
    std::filesystem::path database_;
    mutable ReadOnce energy_read_, uncertainty_read_;
    mutable std::unique_ptr<const EnergyDatabase> energy_;
    mutable std::shared_ptr<const UncertaintyTable> uncertainty_;
    mutable std::mutex pricing_;
    mutable std::map<std::shared_ptr<const Device>, std::shared_ptr<const EnergyTable>> priced_;
};

} // namespace archsim
