#include "session/price_tables.hpp"

namespace archsim {

const EnergyDatabase& PriceTables::energy() const {
    energy_read_.run([this] { energy_ = std::make_unique<const EnergyDatabase>(database_ / "energy.json"); });
    return *energy_;
}

std::shared_ptr<const EnergyTable> PriceTables::of(const std::shared_ptr<const Device>& device) const {
    const EnergyDatabase& prices = energy();
    const std::lock_guard lock(pricing_);
    std::shared_ptr<const EnergyTable>& table = priced_[device];
    if (table == nullptr)
        table = std::make_shared<const EnergyTable>(prices.resolve(*device));
    return table;
}

std::shared_ptr<const UncertaintyTable> PriceTables::uncertainty() const {
    uncertainty_read_.run(
        [this] { uncertainty_ = std::make_shared<const UncertaintyTable>(database_ / "uncertainty.json"); });
    return uncertainty_;
}

std::shared_ptr<const PriceTables> PriceTables::given(std::vector<GivenRow> rows) const {
    auto tables = std::make_shared<PriceTables>(database_);
    auto with = std::make_shared<const UncertaintyTable>(uncertainty()->given(std::move(rows)));
    tables->uncertainty_read_.run([&] { tables->uncertainty_ = std::move(with); });
    return tables;
}

} // namespace archsim
