#include "common/explain_options.hpp"

#include "result/grid_intensity.hpp"

namespace archsim::cli {

void ExplainOptions::add_to(Flags& flags) {
    const char* group = "Energy, memory and money";
    Explanations& e = explanations;
    flags
        .add_flag("--explain-energy", e.energy,
                  "every event: count, price, source; by subgraph with --verbose")
        .in_group(group);
    flags.add_flag("--show-memory", e.memory, "what is alive when, does it fit, and what would")
        .in_group(group);
    flags.add_flag("--cost", e.cost, "$ per million inferences, rented and owned, and break-even")
        .in_group(group);
    CostOptions& c = e.conditions;
    flags.add_flag("--rent", rent, "costs of rented devices alone").in_group(group);
    flags.add_flag("--buy", buy, "costs of bought devices alone").in_group(group);
    flags.exclude("--rent", "--buy");
    flags_ = &flags;
    flags
        .add_option("--price", prices,
                    "your own price: DEVICE=USD to buy, DEVICE=USD/h to rent, like H100=2.5/h")
        .value_named("DEVICE=USD")
        .in_group(group);
    flags
        .add_option(
            "--power-at", power_at,
            "where power and energy are taken: the chip with its memory, the board around it, the wall "
            "socket of the system")
        .show_default()
        .one_of({"chip", "board", "wall"})
        .in_group(group);
    flags.add_option("--kwh-price", c.kwh_price, "USD per kWh")
        .value_named("USD")
        .show_default()
        .in_group(group);
    flags.add_option("--years", c.years, "of use until written off").show_default().in_group(group);
    flags.add_option("--utilization", c.utilization, "share of time at work")
        .value_named("SHARE")
        .show_default()
        .in_group(group);
    flags.add_option("--pue", c.pue, "facility over device power")
        .value_named("RATIO")
        .show_default()
        .in_group(group);
    flags
        .add_option("--grid-intensity", grid_intensity,
                    "g CO2e per kWh, or a country (FRA, Germany, USA, World); adds a line on carbon "
                    "(with --cost: 480)")
        .value_named("GRAMS")
        .in_group(group);
}

void ExplainOptions::expect_costs(const OutputOptions& output, bool decided_by_costs) const {
    const Format format = output.chosen();
    if (explanations.cost || !grid_intensity.empty() || decided_by_costs ||
        (format != Format::text && format != Format::markdown))
        return;
    for (const char* flag :
         {"--rent", "--buy", "--price", "--kwh-price", "--years", "--utilization", "--pue"})
        if (flags_->has(flag))
            throw UsageError(std::string(flag) + ": nothing shown here depends on it; add --cost");
}

Explanations ExplainOptions::chosen(bool verbose) const {
    Explanations result = explanations;
    if (rent || buy)
        result.conditions.tenure = rent ? Tenure::rent : Tenure::buy;
    for (const std::string& price : prices)
        result.conditions.prices.push_back(parse_price(price));
    if (!grid_intensity.empty()) {
        result.conditions.grid_intensity = parse_grid_intensity(grid_intensity);
        result.carbon = true;
    }
    result.conditions.power_at = *parse_power_boundary(power_at);
    check_cost_options(result.conditions);
    result.subgraphs = verbose;
    return result;
}

} // namespace archsim::cli
