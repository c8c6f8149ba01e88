#include "report/blocks/explanations.hpp"

#include "core/lists.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"
#include "report/render/answer_document.hpp"
#include "result/cost_terms.hpp"
#include "result/decisions.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>

namespace archsim {

std::string price_text(const Result& result, const CostOptions& options) {
    const Device& d = *result.device;
    const double devices = result.machine->devices;
    std::vector<std::string> texts;
    if (const auto rented = rental(d, devices, 1, Share::allowed, options))
        texts.push_back(fmt::format("{} USD/h ({})", format_number(rented->usd_per_hour),
                                    given_price(d, true, options) != nullptr
                                        ? std::string("as given")
                                        : rental_text(d, *rented, devices)));
    const GivenPrice* const own = given_price(d, false, options);
    if (own != nullptr)
        texts.push_back(fmt::format("{} USD (as given)", format_number(own->amount)));
    else if (d.list_price && d.list_price->amount.known())
        texts.push_back(
            fmt::format("{} USD ({})", format_number(d.list_price->amount.value), d.list_price->date));
    if (d.server_price && ((d.list_price && d.list_price->amount.known()) || own != nullptr))
        texts.back() += fmt::format(" and {} USD of its server ({})",
                                    format_number(d.server_price->amount.value), d.server_price->date);
    return texts.empty() ? std::string("no published price") : fmt::format("{}", fmt::join(texts, "; "));
}

static std::optional<double> times(const std::optional<double>& each, double count) {
    return each ? std::optional(*each * count) : std::nullopt;
}

constexpr double kMillion = 1e6, kThousand = 1e3, kSecondsPerMonth = kHoursPerMonth * 3600;

/// The cost of inferences or tokens, so many at a time: the columns of tables and the members of documents.
struct CostPart {
    const char *heading, *unit;
    const char* key; ///< tables of tokens add "_tokens"
    const char* meaning;
    double count;
    int priority;
    std::optional<double> (*of)(const Cost&);
};
constexpr CostPart kCostParts[] = {
    {"Rented", "USD", "cloud_usd_per_million", "rented", kMillion, 0, [](const Cost& c) { return c.cloud; }},
    {"Owned", "USD", "owned_usd_per_million", "purchase and electricity", kMillion, 0,
     [](const Cost& c) { return c.owned(); }},
    {"purchase", "USD", "capital_usd_per_million", "", kMillion, 1, [](const Cost& c) { return c.capital; }},
    {"electricity", "USD", "electricity_usd_per_million", "", kMillion, 1,
     [](const Cost& c) { return c.electricity; }},
    {"Carbon", "g CO2e", "carbon_g_per_thousand", "g CO2e of the electricity", kThousand, 0,
     [](const Cost& c) { return c.carbon_g; }},
    {"embodied", "g CO2e", "embodied_g_per_thousand", "g CO2e of making the device; null: not published",
     kThousand, 1, [](const Cost& c) { return c.embodied_g; }}};
enum class CostsOf : std::uint8_t { inferences, tokens };

/// Nobody states the purchase of tokens apart.
static bool shown(const CostPart& part, CostsOf what) {
    return what == CostsOf::inferences || part.heading != std::string_view("purchase");
}

template <class Row>
static std::vector<ColumnOf<Row>> cost_columns(CostsOf what) {
    std::vector<ColumnOf<Row>> columns;
    for (const CostPart& part : kCostParts)
        if (shown(part, what))
            columns.emplace_back(least_best(part.heading, part.unit,
                                            part.key + std::string(what == CostsOf::tokens ? "_tokens" : ""),
                                            part.priority),
                                 1, [&part](const Row& row) { return times(part.of(row.cost), part.count); });
    return columns;
}

static Members<Cost> cost_part_members(CostsOf what) {
    std::vector<Member<Cost>> members;
    for (const CostPart& part : kCostParts)
        if (shown(part, what))
            members.emplace_back(part.key, part.meaning,
                                 [&part](const Cost& cost) { return times(part.of(cost), part.count); });
    return Members<Cost>(members);
}

struct Crossing {
    const Result* bought;
    const Result* other;
    BreakEven point;
};

static std::vector<Crossing> crossings(std::span<const Result> results, const CostOptions& options) {
    std::vector<Crossing> found;
    for (const Result& bought : results)
        for (const Result& other : results)
            // A device against renting itself comes first: it leaves everything else as it is.
            if (bought.ok() && other.ok() && bought.model == other.model)
                if (const auto point = break_even(bought, other, options))
                    found.push_back({&bought, &other, *point});
    const auto key = [](const Crossing& c) { return std::pair(c.bought != c.other, c.point.inferences); };
    std::ranges::stable_sort(found, [&](const Crossing& a, const Crossing& b) { return key(a) < key(b); });
    return found;
}

/// "7 months", "2.31 years".
static std::string duration_text(double years) {
    constexpr double kMonths = 12;
    return years < 2 && years * kMonths >= 1 ? fmt::format("{:.0f} months", years * kMonths)
                                             : format_number(years) + " years";
}

static std::string crossing_text(const Crossing& c, const CostOptions& options) {
    const bool rented = cost_of(*c.other, options).cloud.has_value();
    const std::string use = c.bought->conditions.duty.stated()
                                ? std::string("the stated rate")
                                : fmt::format("{:g} % utilisation", 100 * options.utilization);
    const std::string head = c.bought == c.other
                                 ? fmt::format("Buying {} instead of renting it: ", hardware_label(*c.bought))
                                 : fmt::format("{} against {} {}: ", hardware_label(*c.bought),
                                               rented ? "renting" : "buying", hardware_label(*c.other));
    if (!c.point.within_life)
        return head + fmt::format(
                          "does not break even within {:g} years; {} inferences would take {} years at {}",
                          options.years, format_count(c.point.inferences), format_number(c.point.years), use);
    return head + fmt::format("breaks even after {} inferences ({} at {})", format_count(c.point.inferences),
                              duration_text(c.point.years), use);
}

static std::vector<std::string> assumption_notes(const CostOptions& o) {
    const CostOptions usual;
    const auto origin = [](double value, double standard, std::string_view source) {
        return value == standard ? std::string(source) : std::string("as given");
    };
    return {
        fmt::format(
            "Electricity {:g} USD/kWh ({}); {}; grid {:g} g CO2e/kWh ({}).", o.kwh_price,
            origin(o.kwh_price, usual.kwh_price, "US commercial sector 2023, EIA Electric Power Annual"),
            pue_text(o.pue), o.grid_intensity,
            origin(o.grid_intensity, usual.grid_intensity,
                   "world 2023, Ember Global Electricity Review 2024")),
        fmt::format("{:g} years of use ({}), {:g} % utilisation ({}); idle power is paid for in between.",
                    o.years, origin(o.years, usual.years, "assumed: usual depreciation of servers"),
                    100 * o.utilization, origin(o.utilization, usual.utilization, "assumed")),
        "Purchase is the device at its list price of the date shown, and its share of the server that the "
        "price column names; no staff, no space.",
        "Embodied carbon is that of making the device, where its vendor publishes it, over its years of use; "
        "it comes on top of its electricity's.",
    };
}

/// The cost of a token, read or written.
static Table token_table(std::span<const Result> results, const CostOptions& options) {
    struct Row {
        const Result& result;
        const char* tokens;
        Cost cost;
    };
    std::vector<Row> rows;
    for (const Result& result : results)
        if (const auto tokens = token_costs(result, options))
            for (const auto& [name, cost] :
                 {std::pair{"input", &tokens->prompt}, std::pair{"output", &tokens->output}})
                if (cost->inferences_per_s > 0)
                    rows.push_back({result, name, *cost});
    std::vector<ColumnOf<Row>> columns = {
        {{"", "", "model"}, [](const Row& r) { return r.result.model->name; }},
        {{"Hardware", "", "hardware"}, [](const Row& r) { return hardware_label(r.result); }},
        {{"Tokens", "", "tokens"}, &Row::tokens}};
    append(columns, cost_columns<Row>(CostsOf::tokens));
    Table table = table_of("Cost per million tokens, carbon per thousand", columns, rows);
    table.notes.push_back("A token of the prompt takes its share of the pass over the prompts, a token of "
                          "the answer its share of a decoding step; both at the batch of this answer.");
    return table;
}

struct ResultCost {
    const Result* result = nullptr;
    Cost cost;
    std::optional<TokenCosts> tokens;
    double pue = 1;
};

static std::vector<ResultCost> result_costs(const Explained& e) {
    const CostOptions& options = e.explanations.conditions;
    std::vector<ResultCost> costs;
    for (const Result& result : e.results)
        if (result.ok() && result.device)
            costs.push_back({&result, cost_of(result, options), token_costs(result, options),
                             pue_of(*result.device, options.pue)});
    return costs;
}

static Members<ResultCost> result_cost_members() {
    using R = ResultCost;
    const auto price = [](std::optional<Price> Device::*which) {
        return [which](const R& r) -> const Price* {
            const std::optional<Price>& found = (*r.result->device).*which;
            return found && found->amount.known() ? &*found : nullptr;
        };
    };
    const Members<Price> price_members = {{"usd", "", [](auto& p) { return p.amount.value; }},
                                          {"date", "", &Price::date}};
    return Members<R>{{"model", "", [](const R& r) { return r.result->model->name; }},
                      {"hardware", "", [](const R& r) { return hardware_label(*r.result); }},
                      {"pue", "facility over device power", std::mem_fn(&R::pue)}}
        .with(cost_part_members(CostsOf::inferences).of<R>(std::mem_fn(&R::cost)))
        .with({{"tokens", "of a language model: those read and those written",
                [](const R& r) {
                    return Sometimes<std::optional<TokenCosts>>{
                        r.result->generation ? std::make_optional(r.tokens) : std::nullopt};
                },
                Members<TokenCosts>{{"prompt", "", &TokenCosts::prompt, cost_part_members(CostsOf::tokens)},
                                    {"output", "", &TokenCosts::output, cost_part_members(CostsOf::tokens)}}},
               {"cloud_price", "an hour; null: none is known", price(&Device::cloud_price), price_members},
               {"list_price", "null: none is known", price(&Device::list_price), price_members},
               {"server_price", "null: none is known", price(&Device::server_price), price_members}});
}

std::vector<Block> cost_blocks(std::span<const Result> results, const CostOptions& options) {
    check_cost_options(options);
    struct Row {
        const Result* result;
        Cost cost;
        std::optional<double> each;
    };
    const CostOptions basis = on_one_basis(results, options);
    std::vector<Row> rows;
    for (const Result& r : results)
        if (r.ok() && r.device)
            rows.push_back({&r, cost_of(r, options), cost_of(r, basis).best()});
    std::ranges::stable_sort(rows, [](const Row& a, const Row& b) {
        return a.each.value_or(INFINITY) < b.each.value_or(INFINITY);
    });
    std::vector<ColumnOf<Row>> columns = cost_columns<Row>(CostsOf::inferences);
    columns.insert(columns.begin() + 4, {least_best("A month", "USD", "usd_per_month"), 1, [&](const Row& r) {
                                             return times(r.each, r.cost.average_per_s * kSecondsPerMonth);
                                         }});
    columns.insert(columns.begin(),
                   {{{"", "", "model"}, [](const Row& r) { return r.result->model->name; }},
                    {{"Hardware", "", "hardware"}, [](const Row& r) { return hardware_label(*r.result); }}});
    columns.emplace_back(Column{"Price (date)", "", "price", Align::left, 2},
                         [&](const Row& r) { return price_text(*r.result, options); });
    Table table = table_of("Cost per million inferences, carbon per thousand", columns, rows);
    append(table.notes, assumption_notes(options));
    if (std::string said = cost_basis(results, options); !said.empty())
        table.notes.insert(table.notes.begin(), std::move(said));
    const auto devices = mapped(rows, [](const Row& row) { return row.result->device; });
    CostOptions both = options; // the table has what is rented beside what is bought
    both.tenure = Tenure::cheaper;
    append(table.notes, unused_prices(devices, both));
    std::vector<Block> blocks{std::move(table)};
    if (Table tokens = token_table(results, options); !tokens.rows.empty())
        blocks.push_back(std::move(tokens));
    Bullets bullets;
    for (const Crossing& c : crossings(results, options))
        bullets.items.push_back(crossing_text(c, options));
    if (!bullets.items.empty()) {
        blocks.push_back(Heading{3, "Break-even:"});
        blocks.push_back(std::move(bullets));
    }
    return blocks;
}

std::vector<Block> carbon_blocks(std::span<const Result> results, const CostOptions& options) {
    check_cost_options(options);
    std::string line;
    for (const Result& result : results)
        if (const Cost cost = cost_of(result, options); cost.carbon_g)
            line += fmt::format("{}{} {} g", line.empty() ? "" : ", ", hardware_label(result),
                                format_number(*cost.carbon_g * 1e3));
    if (line.empty())
        return {};
    return {Paragraph{
        fmt::format("Carbon, CO2e per 1,000 inferences at {:g} g/kWh, {}, {:g} % utilisation: {}.",
                    options.grid_intensity, pue_text(options.pue), 100 * options.utilization, line)}};
}

Members<Explained> cost_members() {
    return {{"assumptions", "", [](const Explained& e) { return e.explanations.conditions; },
             Members<CostOptions>{
                 {"kwh_price_usd", "", &CostOptions::kwh_price},
                 {"years", "that a device is used", &CostOptions::years},
                 {"utilization", "part of the time that it works", &CostOptions::utilization},
                 {"pue", "facility over device power; null: of each result's place",
                  [](const CostOptions& o) { return o.pue > 0 ? std::optional(o.pue) : std::nullopt; }},
                 {"grid_intensity_g_per_kwh", "", &CostOptions::grid_intensity}}},
            {"results", "that run", result_costs, result_cost_members()},
            {"break_even", "from where buying one costs less than the other",
             [](const Explained& e) { return crossings(e.results, e.explanations.conditions); },
             Members<Crossing>{{"bought", "", [](auto& c) { return hardware_label(*c.bought); }},
                               {"other", "", [](auto& c) { return hardware_label(*c.other); }},
                               {"inferences", "", [](auto& c) { return c.point.inferences; }},
                               {"years", "", [](auto& c) { return c.point.years; }},
                               {"within_life", "", [](auto& c) { return c.point.within_life; }}}}};
}

} // namespace archsim
