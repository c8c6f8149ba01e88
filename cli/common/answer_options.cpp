#include "common/answer_options.hpp"

#include "answers/measuring/check_me.hpp"
#include "archsim/core/finding.hpp"
#include "core/parse_number.hpp"
#include "core/scan_text.hpp"
#include "result/cost_terms.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/ranges.h>

namespace archsim::cli {

void CheckOptions::add_to(Flags& flags) {
    flags.add_flag("--check-me", check_me,
                   "also the command that measures the same in the software stack of the estimate");
}

std::string CheckOptions::text(const Session& session, std::span<const Result> results,
                               const OutputOptions& output) const {
    if (!check_me)
        return {};
    const Format format = output.chosen();
    if (format != Format::text && format != Format::markdown)
        throw UsageError("--check-me: only with --format text or markdown");
    std::vector<CheckCommand> commands;
    const auto add = [&](const Result& result) {
        if (result.ok() && result.model != nullptr)
            commands.push_back(check_command(session, result));
    };
    for (const Result& result : results) {
        // The stages of a model of several parts are files of their own.
        for (const ResultPart& part : result.parts)
            add(*part.result);
        if (result.parts.empty() || result.generation != nullptr)
            add(result);
    }
    return "\n" + render(describe(commands), format, output.render_options());
}

void MoneyOptions::add_tenure_to(Flags& flags, const std::string& of_rented, const std::string& of_bought) {
    flags.add_flag("--rent", rent, of_rented);
    flags.add_flag("--buy", buy, of_bought);
    flags.exclude("--rent", "--buy");
    flags.add_option("--price", prices,
                     "your own price: DEVICE=USD to buy, DEVICE=USD/h to rent, like H100=2.5/h",
                     "DEVICE=USD");
}

void MoneyOptions::add_running_to(Flags& flags, const std::string& of_grid) {
    add_number_to(flags, "pue");
    flags.add_option("--grid-intensity", grid_intensity,
                     "g CO2e per kWh, or a country (FRA, Germany, USA, World)" + of_grid, "GRAMS");
}

void MoneyOptions::add_use_to(Flags& flags) {
    add_number_to(flags, "kwh_price");
    add_number_to(flags, "years");
}

void MoneyOptions::add_number_to(Flags& flags, std::string_view key) {
    const CostNumber& number = *std::ranges::find(cost_numbers(), key, &CostNumber::key);
    std::string& text = numbers[number.key];
    Option flag =
        flags.add_option("--" + name_key(key), text, std::string(number.help), std::string(number.value))
            .number();
    if (const double usual = CostOptions{}.*number.at; usual > 0) {
        text = fmt::format("{}", usual);
        flag.show_default();
    }
}

CostOptions MoneyOptions::chosen() const {
    CostOptions options;
    for (const CostNumber& number : cost_numbers())
        if (const auto given = numbers.find(number.key); given != numbers.end() && !given->second.empty())
            number.put(given->second, "--" + name_key(number.key), options);
    if (rent || buy)
        options.tenure = rent ? Tenure::rent : Tenure::buy;
    for (const std::string& price : prices)
        options.prices.push_back(parse_price(price));
    if (!grid_intensity.empty())
        options.grid_intensity = parse_grid_intensity(grid_intensity);
    return options;
}

void ExplainOptions::add_to(Flags& flags) {
    flags_ = &flags;
    flags.group("Energy, memory and money");
    flags.add_flag("--explain-energy", explanations.energy,
                   "every event: count, price, source; by subgraph with --verbose");
    flags.add_flag("--show-memory", explanations.memory, "what is alive when, does it fit, and what would");
    flags.add_flag("--cost", explanations.cost, "$ per million inferences, rented and owned, and break-even");
    money.add_tenure_to(flags, "costs of rented devices alone", "costs of bought devices alone");
    flags
        .add_option("--power-at", power_at,
                    "where power and energy are taken: the chip with its memory (default; of \"COMPUTER + "
                    "MODULE\" the wall), the board around it, the wall socket of the system")
        .one_of({"chip", "board", "wall"});
    money.add_use_to(flags);
    money.add_number_to(flags, "utilization");
    money.add_running_to(flags, "; adds a line on carbon (with --cost: 480)");
    flags.group("");
}

Explanations ExplainOptions::chosen(bool verbose) const {
    Explanations result = explanations;
    result.conditions = money.chosen();
    result.carbon = !money.grid_intensity.empty();
    for (const char* flag :
         {"--rent", "--buy", "--price", "--kwh-price", "--years", "--utilization", "--pue"})
        result.cost = result.cost || flags_->has(flag);
    result.conditions.power_at = value_named<PowerBoundary>(power_at);
    check_cost_options(result.conditions);
    result.subgraphs = verbose;
    return result;
}

void SaveOptions::add_to(Flags& flags, int argc, char** argv) {
    flags
        .add_written("--save", file,
                     "also add the results to FILE, a database that `archsim history` asks (SQLite)")
        .in_group("Output");
    tool_ = flags.tool();
    std::vector<std::string> words{tool_};
    words.insert(words.end(), argv + 1, argv + argc);
    command_ = fmt::format("{}", fmt::join(words, " "));
}

void SaveOptions::save(std::span<const Result> results, std::int64_t batch_size,
                       const MetricView& view) const {
    std::vector<AskedResult> asked;
    for (const Result& result : results)
        asked.push_back({&result, batch_size});
    save(asked, view);
}

void SaveOptions::save(std::span<const AskedResult> results, const MetricView& view) const {
    if (!file.empty())
        save_results(file, {tool_, command_}, results, view);
}

void SaveOptions::save_rows(std::span<const SavedResult> rows) const {
    if (!file.empty())
        archsim::save_rows(file, {tool_, command_}, rows);
}

Budget allowed_budget() {
    Budget budget;
    const char* const stated = std::getenv("ARCHSIM_BUDGET");
    each_part(stated != nullptr ? stated : "", ',', [&](std::string_view item) {
        const std::string_view key = item.substr(0, item.find('='));
        const std::string_view number = item.substr(std::min(item.size(), key.size() + 1));
        const double value = plain_number<double>(number).value_or(0);
        double* const limit = key == "bytes"     ? &budget.bytes
                              : key == "steps"   ? &budget.steps
                              : key == "seconds" ? &budget.seconds
                                                 : nullptr;
        if (limit == nullptr || value <= 0)
            throw UsageError(fmt::format(
                "ARCHSIM_BUDGET: \"{}\" is no budget such as bytes=1e9, steps=1e6 or seconds=60", item));
        *limit = value;
    });
    return budget;
}

} // namespace archsim::cli
