#include "hardware/uncertainty.hpp"

#include "core/text.hpp"
#include "hardware/json_reader.hpp"

#include <fmt/format.h>
#include <mutex>
#include <tuple>

namespace archsim {

static Priced priced_in(std::string_view regime) {
    return regime == "memory" ? Priced::memory : regime == "overhead" ? Priced::overhead : Priced::arithmetic;
}

Evidence evidence_for(const Device& device, const Runtime& runtime, std::string_view regime) {
    const Priced part = priced_in(regime);
    const auto prices = [part](Parameter parameter) { return info_of(parameter).prices == part; };
    const auto measured = [](const Fact& fact) {
        return fact.known() && fact.source != nullptr && rests_on_measurements(fact.source->kind);
    };
    for (const FittedParameter& parameter : device.fitted) {
        if (!measured(parameter.fact) || !(parameter.runtime.empty() || parameter.runtime == runtime.id))
            continue;
        if (const auto known = parse_parameter(parameter.name); known && prices(*known))
            return Evidence::device;
    }
    for (const ParameterEntry& entry : runtime.parameters) {
        if (!prices(entry.parameter))
            continue;
        const auto own = std::ranges::find_if(
            entry.by_generation, [&](const auto& pair) { return pair.first == device.generation; });
        if (measured(own == entry.by_generation.end() ? entry.value : own->second))
            return Evidence::stack;
    }
    return Evidence::none;
}

/// Says that a member's text is none of those known.
static void unknown(ObjectReader& entry, std::string_view key, std::string_view text,
                    const std::string& hint) {
    entry.context().report(FindingKind::unknown_name, Severity::error, entry.place_of(key),
                           fmt::format("\"{}\" is not known here", text), hint);
}

static std::string read_family(ObjectReader& entry) {
    std::string family = entry.text("family");
    if (!family.empty() && !parse_family(family))
        unknown(entry, "family", family, "use " + either_of(family_names()));
    return family;
}

static int read_metric(ObjectReader& entry, Need need) {
    const std::string metric = entry.text("metric", need);
    const auto known = value_named<SpreadOf>(metric);
    if (!metric.empty() && !known)
        unknown(entry, "metric", metric, "see docs/evidence/validation.md");
    return known ? static_cast<int>(*known) : -1;
}

constexpr Bounds kDeviation{0, 10}; ///< of a logarithm

static double read_variance(ObjectReader& entry, std::string_view key) {
    const double deviation = entry.number(key, kDeviation, Need::required);
    return deviation * deviation;
}

static ErrorModel::Within read_within(ObjectReader& entry) {
    return {.family = read_family(entry),
            .runtime = entry.text("runtime"),
            .metric = read_metric(entry, Need::optional),
            .variance = read_variance(entry, "deviation"),
            .rows = static_cast<int>(entry.number("rows", {0, 1e6}, Need::required))};
}

static ErrorModel::Fresh read_fresh(ObjectReader& entry) {
    return {.family = read_family(entry),
            .draw = entry.text("of", Need::required) == "draw",
            .variance = read_variance(entry, "deviation"),
            .scatter = entry.number("scatter", {0.1, 100}, Need::required),
            .devices = static_cast<int>(entry.number("devices", {0, 1e6}, Need::required))};
}

static ErrorModel::Set read_set(ObjectReader& entry) {
    ErrorModel::Set set{.family = read_family(entry),
                        .device = entry.text("device", Need::required),
                        .runtime = entry.text("runtime", Need::required)};
    const int metric = read_metric(entry, Need::required);
    set.metric = static_cast<SpreadOf>(std::max(0, metric));
    set.networks = static_cast<int>(entry.number("networks", {0, 1e6}, Need::required));
    return set;
}

/// The stack's file itself says that products on this generation of chips are assumed: what was fitted beside
/// them is of others.
static bool assumed_generation(const Device& device, const Runtime& runtime) {
    for (const ParameterEntry& entry : runtime.parameters)
        if (entry.parameter == Parameter::matrix_efficiency)
            for (const auto& [generation, fact] : entry.by_generation)
                if (generation == device.generation)
                    return fact.source != nullptr && fact.source->kind == SourceKind::assumed;
    return false;
}

/// True where measurements decided what prices arithmetic, or fixed costs where nothing does arithmetic.
static bool is_kin(const Device& device, const Runtime& runtime) {
    if (assumed_generation(device, runtime))
        return false;
    return evidence_for(device, runtime, "compute") != Evidence::none ||
           evidence_for(device, runtime, "overhead") != Evidence::none;
}

/// "gpu, tensorrt, latency: left-out networks, 354 rows", for each kind of evidence.
static std::array<std::string, 3> basis_of(const ErrorModel::Within& row) {
    std::string subject;
    const auto add = [&](std::string_view part) {
        if (!part.empty())
            subject += (subject.empty() ? "" : ", ") + std::string(part);
    };
    add(row.family);
    add(row.runtime);
    add(row.metric < 0 ? std::string_view() : name_of(static_cast<SpreadOf>(row.metric)));
    if (subject.empty())
        subject = "all families";
    const std::string known = fmt::format("{}: left-out networks, {} rows", subject, row.rows);
    return {known, known + "; and first runs of chips that nobody had measured",
            known + "; and first runs of chips and stacks that nobody had measured"};
}

struct UncertaintyTable::Memo {
    using Subject = std::tuple<std::string, std::string, std::string, std::string, SpreadOf, bool, bool>;
    std::mutex mutex;
    std::map<Subject, std::pair<ErrorParts, Spread>> known;
};

UncertaintyTable::UncertaintyTable(const std::filesystem::path& file) : memo_(std::make_shared<Memo>()) {
    read_table(file, [this](ObjectReader& reader) {
        model_.degrees_of_freedom = reader.number("degrees_of_freedom", {2, 100}, Need::required);
        model_.unmeasured_stack = read_variance(reader, "unmeasured_stack");
        model_.device_share = reader.number("device_share", {0, 1}, Need::required);
        model_.lane_share = reader.number("lane_share", {0, 1}, Need::required);
        model_.network_share = reader.number("network_share", {0, 0.5}, Need::required);
        model_.cell_share = reader.number("cell_share", {0, 0.5}, Need::required);
        model_.generation_share = reader.number("generation_share", {0, 0.9}, Need::required);
        model_.difference_scale = reader.number("difference_scale", {0.1, 10}, Need::required);
        reader.each("within", [&](ObjectReader& entry) { model_.within.push_back(read_within(entry)); });
        reader.each("fresh", [&](ObjectReader& entry) { model_.fresh.push_back(read_fresh(entry)); });
        reader.each("sets", [&](ObjectReader& entry) { model_.sets.push_back(read_set(entry)); });
    }).require_sound();
    reach_ = model_.reach();
    for (const ErrorModel::Within& row : model_.within)
        bases_.push_back(basis_of(row));
    held_ = read_held_rows(file.parent_path() / "evidence.json");
}

UncertaintyTable UncertaintyTable::given(std::vector<GivenRow> rows) const {
    UncertaintyTable table = *this;
    table.given_ = std::move(rows);
    return table;
}

ErrorSubject UncertaintyTable::subject(SpreadOf metric, const Device& device, const Runtime& runtime) {
    return {name_of(device.family), device.id, runtime.id, runtime.base, metric, is_kin(device, runtime)};
}

const std::pair<ErrorParts, Spread>& UncertaintyTable::known(SpreadOf metric, const Device& device,
                                                             const Runtime& runtime) const {
    ErrorSubject of = subject(metric, device, runtime);
    const bool kin = of.kin;
    of.kin = kin && (held_.sets.empty() || held_.same_vendor(device, runtime));
    const std::lock_guard lock(memo_->mutex);
    const auto [at, fresh] =
        memo_->known.try_emplace({std::string(of.family), std::string(of.device), std::string(of.runtime),
                                  std::string(of.base), metric, kin, of.kin});
    auto& [parts, spread] = at->second;
    if (!fresh)
        return at->second;
    parts = model_.parts(of);
    const double factor = interval_factor(reach_, parts.total());
    spread = {1 / factor, factor, 0, "no measurements to compare with"};
    if (const ErrorModel::Within* row = model_.row_for(of)) {
        spread.rows = row->rows;
        spread.basis = bases_[static_cast<std::size_t>(row - model_.within.data())]
                             [static_cast<std::size_t>(evidence(device, runtime, metric))];
    }
    return at->second;
}

ErrorParts UncertaintyTable::parts(SpreadOf metric, const Device& device, const Runtime& runtime) const {
    return known(metric, device, runtime).first;
}

Evidence UncertaintyTable::evidence(const Device& device, const Runtime& runtime, SpreadOf metric) const {
    const ErrorSubject of = subject(metric, device, runtime);
    return model_.networks(of) > 0  ? Evidence::device
           : model_.devices(of) > 0 ? Evidence::stack
                                    : Evidence::none;
}

Spread UncertaintyTable::spread(SpreadOf metric, const Device& device, const Runtime& runtime) const {
    return known(metric, device, runtime).second;
}

} // namespace archsim
