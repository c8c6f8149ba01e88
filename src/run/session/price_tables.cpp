#include "run/session/price_tables.hpp"

namespace archsim {

const EnergyDatabase& PriceTables::energy() const {
    energy_read_.run([this] { energy_ = std::make_unique<const EnergyDatabase>(database_ / "energy.json"); });
    return *energy_;
}

std::shared_ptr<const UncertaintyTable> PriceTables::uncertainty() const {
    uncertainty_read_.run(
        [this] { uncertainty_ = std::make_shared<const UncertaintyTable>(database_ / "uncertainty.json"); });
    return uncertainty_;
}

} // namespace archsim
