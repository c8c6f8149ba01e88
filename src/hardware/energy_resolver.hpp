#pragma once
// The prices of one device, made from those of its family and from what its own file states.

#include "hardware/energy_spec.hpp"

namespace archsim {

/// Linear in nm between the nodes of a curve, flat outside.
double interpolate(const std::vector<std::pair<double, double>>& curve, double process);

/// The entry whose type is the longest prefix of `type`; else the entry without types.
const Fact* find_type(const std::vector<TypedPrice>& prices, std::string_view type);
/// Whether an entry names the type: "LPDDR4-4266" is an LPDDR4, "LPDDR9" no LPDDR of which anything is known.
bool names_type(const std::vector<TypedPrice>& prices, std::string_view type);

/// Fills a table once. What is static, all-in figures of engines, and everything else have a file each.
class EnergyResolver {
  public:
    EnergyResolver(const EnergySpec& spec, const Device& device)
        : spec_(spec), device_(device), family_(spec.of(device.family)) {}

    EnergyTable resolve();
    /// All-in figures below the arithmetic they hold; warnings of memory types and nodes without a price.
    std::vector<Finding> price_findings() const;

  private:
    static std::size_t at(Precision p) { return static_cast<std::size_t>(p); }
    static std::size_t at(Event e) { return static_cast<std::size_t>(e); }
    double multiple(PriceGroup group) const;
    void apply_multiples();
    void resolve_voltage();
    const Fact& clock_at_limit() const;
    Fact highest_clock() const;
    bool states_clocks() const;
    const Fact* own_fact(std::string_view name) const;
    Fact own(std::string_view name, Fact otherwise) const;
    double node_of(const NodePrice& price) const;
    double scale_of(const NodePrice& price) const;
    bool beyond_table(double node) const;
    /// The value of price_at() alone: no text is made for it.
    double value_at(const NodePrice& price) const;
    Fact price_at(const NodePrice& price) const;
    double priced(const ReferenceKernel& kernel, Precision p, Event without = Event::count_) const;
    void resolve_memory();
    void resolve_host();
    void resolve_wall();

    // static_power.cpp
    void resolve_static();
    double die_growth() const;
    void grow_die();
    void divide_static();
    void state_parts(std::string_view die);
    bool add_awake_die();

    // all_in_figures.cpp
    const Fact* own_mac(Precision p) const;
    double sustained_rate(Precision p) const;
    double left_by_limit(Precision p) const;
    Fact within_limit(Fact all_in, Precision p) const;
    void resolve_rating();
    bool on_vector_engine(Precision p) const;
    Fact family_figure(const NodePrice& price, Precision p) const;
    void resolve_instruction();
    void resolve_mac(Precision p);
    Fact all_in(Precision p) const;
    double operation_energy(Precision p) const;

    const EnergySpec& spec_;
    const Device& device_;
    const FamilyEnergy& family_;
    EnergyTable table_;
    /// From the clock of a device's own figures of matrix engines to the nominal one: they come from runs at
    /// its power limit, so at the clock that it sustains there; processors' with every core busy.
    double limit_factor_ = 1;
};

} // namespace archsim
