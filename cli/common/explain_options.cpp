#include "common/explain_options.hpp"

namespace archsim::cli {

void ExplainOptions::add_to(CLI::App& app) {
    const char* group = "Energy, memory and money";
    Explanations& e = explanations;
    app.add_flag("--explain-energy", e.energy,
                 "every event: count, price, source; by subgraph with --verbose")
        ->group(group);
    app.add_flag("--show-memory", e.memory, "what is alive when, does it fit, and what would")->group(group);
    app.add_flag("--cost", e.cost, "$ per million inferences, rented and owned, and break-even")
        ->group(group);
    CostOptions& c = e.conditions;
    app.add_option("--kwh-price", c.kwh_price, "USD per kWh")->capture_default_str()->group(group);
    app.add_option("--years", c.years, "of use until written off")->capture_default_str()->group(group);
    app.add_option("--utilization", c.utilization, "share of time at work")
        ->capture_default_str()
        ->group(group);
    app.add_option("--pue", c.pue, "facility over device power")->capture_default_str()->group(group);
    app.add_option_function<double>(
           "--grid-intensity",
           [&e](double grams) {
               e.conditions.grid_intensity = grams;
               e.carbon = true;
           },
           "g CO2e per kWh; adds a line on carbon (with --cost: 480)")
        ->group(group);
}

Explanations ExplainOptions::chosen(bool verbose) const {
    check_cost_options(explanations.conditions);
    Explanations result = explanations;
    result.subgraphs = verbose;
    return result;
}

} // namespace archsim::cli
