#pragma once
// --check-me: from an estimate to a measurement.

#include "archsim/compare/result.hpp"
#include "archsim/core/budget.hpp"
#include "common/flags.hpp"
#include "common/tool.hpp"
#include "report/blocks/explanations.hpp"
#include "store/results_file.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace archsim::cli {

struct CheckOptions {
    bool check_me = false;

    void add_to(Flags& flags);
    /// The report of the commands, to follow the answer; empty when it was not asked for. Throws UsageError
    /// for formats that hold data alone.
    std::string text(const Session& session, std::span<const Result> results,
                     const OutputOptions& output) const;
};

/// Costs of devices as flags state them: each tool declares those of them that it asks, under its own words.
struct MoneyOptions {
    std::string grid_intensity; ///< a number or a country; empty: not asked for
    bool rent = false, buy = false;
    std::vector<std::string> prices;
    std::map<std::string_view, std::string> numbers; ///< texts of cost_numbers(), by key

    /// The flag of a number of cost_numbers().
    void add_number_to(Flags& flags, std::string_view key);
    /// --rent, --buy and --price.
    void add_tenure_to(Flags& flags, const std::string& of_rented, const std::string& of_bought);
    /// --kwh-price and --years.
    void add_use_to(Flags& flags);
    /// --pue and --grid-intensity, whose help ends with `of_grid`.
    void add_running_to(Flags& flags, const std::string& of_grid);
    /// Throws UsageError for prices and grids that nobody can read.
    CostOptions chosen() const;
};

struct ExplainOptions {
    Explanations explanations;
    MoneyOptions money;
    std::string power_at; ///< empty: as CostOptions::power_at says

    void add_to(Flags& flags);
    /// A flag about money shows costs, as --cost does. Throws UsageError for conditions outside of their
    /// range.
    Explanations chosen(bool verbose) const;

  private:
    const Flags* flags_ = nullptr;
};

struct SaveOptions {
    std::string file;

    /// The options must outlive `flags`; the command line is kept with the results.
    void add_to(Flags& flags, int argc, char** argv);
    /// Adds a run with these results to the file, where one was asked for.
    void save(std::span<const Result> results, std::int64_t batch_size, const MetricView& view = {}) const;
    /// The same for answers that are no single estimates.
    void save_rows(std::span<const SavedResult> rows) const;
    /// The same for results of several batches.
    void save(std::span<const AskedResult> results, const MetricView& view = {}) const;

  private:
    std::string tool_, command_;
};

/// The budget that the environment states ("bytes=1e9,steps=1e6,seconds=60", each of them optional), or the
/// default. Throws UsageError for what is none.
Budget allowed_budget();

} // namespace archsim::cli
