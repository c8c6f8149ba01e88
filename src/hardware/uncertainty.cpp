#include "archsim/hardware/uncertainty.hpp"

#include "core/text_file.hpp"
#include "hardware/json_reader.hpp"
#include "hardware/plain_json.hpp"
#include "hardware/text.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <vector>

namespace archsim {

namespace {

using P = Parameter;

/// Parameters that price memory traffic, and those that price a fixed cost; all others price arithmetic.
constexpr std::array kMemory = {P::dram_efficiency,
                                P::fabric_efficiency,
                                P::simple_bandwidth_efficiency,
                                P::resident_fraction,
                                P::depthwise_bandwidth_efficiency,
                                P::unit_load_bytes_per_clock,
                                P::weight_traffic,
                                P::normalization_traffic,
                                P::l2_bytes_per_clock,
                                P::llc_bytes_per_clock,
                                P::llc_bandwidth,
                                P::core_dram_bytes_per_clock,
                                P::weight_port,
                                P::spill_share,
                                P::spilled_score_efficiency,
                                P::input_refetch,
                                P::link_efficiency,
                                P::host_link_efficiency,
                                P::convolution_input_passes,
                                P::depthwise_input_passes,
                                P::winograd_input_passes,
                                P::convolution_output_passes,
                                P::pointwise_weight_passes,
                                P::window_weight_passes};
constexpr std::array kOverhead = {P::inference_overhead,
                                  P::guest_overhead,
                                  P::host_time,
                                  P::kernel_overhead,
                                  P::submission_time,
                                  P::kernel_floor_cycles,
                                  P::simple_kernel_floor_cycles,
                                  P::stream_overlap,
                                  P::split_cycles,
                                  P::link_latency,
                                  P::first_token_time,
                                  P::uncaptured_launch,
                                  P::sync_time,
                                  P::sync_time_per_core,
                                  P::kernels_per_convolution,
                                  P::kernels_per_attention_product,
                                  P::layer_cycles,
                                  P::small_operator_work,
                                  P::conversion_work,
                                  P::conversion_channels,
                                  P::frame_interval,
                                  P::context_switch,
                                  P::fallback_switch,
                                  P::fallback_operation_time};

enum class Priced : std::uint8_t { arithmetic, memory, overhead };

constexpr auto kPriced = [] {
    std::array<Priced, kParameterCount> by{};
    for (const P p : kMemory)
        by[static_cast<std::size_t>(p)] = Priced::memory;
    for (const P p : kOverhead)
        by[static_cast<std::size_t>(p)] = Priced::overhead;
    return by;
}();

Priced priced_in(std::string_view regime) {
    return regime == "memory" ? Priced::memory : regime == "overhead" ? Priced::overhead : Priced::arithmetic;
}

/// Whether a list has "FIRST SECOND".
bool has_pair(const std::vector<std::string>& list, std::string_view first, std::string_view second) {
    return std::any_of(list.begin(), list.end(), [&](const std::string& entry) {
        return entry.size() == first.size() + 1 + second.size() && entry[first.size()] == ' ' &&
               entry.ends_with(second) && entry.starts_with(first);
    });
}

} // namespace

Evidence evidence_for(const Device& device, const Runtime& runtime, std::string_view regime) {
    const Priced part = priced_in(regime);
    const auto prices = [part](Parameter parameter) {
        return kPriced[static_cast<std::size_t>(parameter)] == part;
    };
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
        const auto own = std::find_if(entry.by_generation.begin(), entry.by_generation.end(),
                                      [&](const auto& pair) { return pair.first == device.generation; });
        if (measured(own == entry.by_generation.end() ? entry.value : own->second))
            return Evidence::stack;
    }
    return Evidence::none;
}

namespace {

/// Selectors are alternatives of one class of residuals; an empty one covers everything.
struct ResidualClass {
    SpreadOf metric = SpreadOf::latency;
    std::optional<Family> family;
    std::optional<Evidence> evidence;
    std::string generation, device, runtime, regime;
    double low = 1, high = 1;
    int rows = 0;
    std::string basis;

    bool covers(SpreadOf m, const Device& d, const Runtime& r, std::string_view g, Evidence e) const {
        return metric == m && (!family || *family == d.family) && (!evidence || *evidence == e) &&
               (generation.empty() || generation == d.generation) && (device.empty() || device == d.id) &&
               (runtime.empty() || runtime == r.id) && (regime.empty() || regime == g);
    }
    int narrowness = 0; ///< each selector outweighs all that follow it
    void set_narrowness() {
        narrowness = 32 * !device.empty() + 16 * !generation.empty() + 8 * !runtime.empty() +
                     4 * family.has_value() + 2 * evidence.has_value() + !regime.empty();
    }
};

/// Says that a member's text is none of those known.
void unknown(ObjectReader& entry, std::string_view key, std::string_view text, const std::string& hint) {
    entry.context().report(FindingKind::unknown_name, Severity::error, entry.place_of(key),
                           fmt::format("\"{}\" is not known here", text), hint);
}
void unknown(FlatObject& entry, std::string_view, std::string_view, std::string_view) {
    entry.refuse();
}

template <class Value, class Entry, std::size_t N>
std::optional<Value> read_choice(Entry& entry, std::string_view key,
                                 const std::array<std::pair<std::string_view, Value>, N>& choices,
                                 Need need = Need::optional) {
    const auto text = entry.text(key, need);
    if (text.empty())
        return std::nullopt;
    for (const auto& [name, value] : choices)
        if (name == text)
            return value;
    unknown(entry, key, text, "see docs/validation.md");
    return std::nullopt;
}

constexpr std::array kMetrics = {std::pair{std::string_view("latency"), SpreadOf::latency},
                                 std::pair{std::string_view("throughput"), SpreadOf::throughput},
                                 std::pair{std::string_view("prefill"), SpreadOf::prefill},
                                 std::pair{std::string_view("decode"), SpreadOf::decode},
                                 std::pair{std::string_view("energy"), SpreadOf::energy},
                                 std::pair{std::string_view("power"), SpreadOf::power},
                                 std::pair{std::string_view("first_token"), SpreadOf::first_token},
                                 std::pair{std::string_view("later_token"), SpreadOf::later_token}};
constexpr std::array kEvidence = {std::pair{std::string_view("device"), Evidence::device},
                                  std::pair{std::string_view("stack"), Evidence::stack},
                                  std::pair{std::string_view("none"), Evidence::none}};

/// Of an entry that is an ObjectReader or a FlatObject.
template <class Entry>
ResidualClass read_class(Entry& entry) {
    ResidualClass c;
    c.metric = read_choice(entry, "metric", kMetrics, Need::required).value_or(SpreadOf::latency);
    if (const auto family = entry.text("family"); !family.empty()) {
        c.family = parse_family(family);
        if (!c.family)
            unknown(entry, "family", family, "use " + either_of(family_names()));
    }
    c.evidence = read_choice(entry, "evidence", kEvidence);
    c.generation = entry.text("generation");
    c.device = entry.text("device");
    c.runtime = entry.text("runtime");
    c.regime = entry.text("regime");
    c.low = entry.number("low", {1e-3, 1}, Need::required);
    c.high = entry.number("high", {1, 1e3}, Need::required);
    c.rows = static_cast<int>(entry.number("rows", {0, 1e6}, Need::required));
    c.basis = entry.text("basis", Need::required);
    c.set_narrowness();
    return c;
}

} // namespace

std::string_view name_of(SpreadOf metric) {
    return kMetrics[static_cast<std::size_t>(metric)].first;
}

std::string_view name_of(Evidence evidence) {
    return kEvidence[static_cast<std::size_t>(evidence)].first;
}

struct UncertaintyTable::State {
    std::vector<ResidualClass> classes;    ///< narrowest first
    std::vector<ResidualClass> projection; ///< least widths where nothing was measured
    std::vector<std::string> devices;      ///< that were measured
    std::vector<std::string> stacks;       ///< "npu hailort": measured on some chip of the family
    std::vector<std::string> pairs;        ///< "Hailo-8 hailort": measured on this very device
};

UncertaintyTable::UncertaintyTable(const std::filesystem::path& file) : state_(std::make_unique<State>()) {
    ReadContext context;
    context.file = file.string();
    int minimum = 0;
    const std::string text = read_text_file(file);
    const auto passing = [](std::string_view key, std::vector<ResidualClass>& classes) {
        return PassingRows{key, [&classes](FlatObject& row) { classes.push_back(read_class(row)); }};
    };
    const std::array rows = {passing("classes", state_->classes), passing("projection", state_->projection)};
    auto document = parse_plain_json(text, rows);
    if (!document || !document->root.is_object()) {
        state_->classes.clear();
        state_->projection.clear();
        document = parse_document_text(text, context.file, context.findings);
    }
    if (document) {
        ObjectReader reader(context, document->root, JsonPlace{});
        reader.text("$schema");
        reader.texts("description");
        read_sources(reader);
        minimum = static_cast<int>(reader.number("minimum_rows", {0, 1e6}, Need::required));
        reader.each("classes", [&](ObjectReader& entry) { state_->classes.push_back(read_class(entry)); });
        reader.each("projection",
                    [&](ObjectReader& entry) { state_->projection.push_back(read_class(entry)); });
        reader.object("measured", [&](ObjectReader& block) {
            state_->devices = block.texts("devices");
            state_->stacks = block.texts("stacks");
            state_->pairs = block.texts("pairs");
        });
        reader.finish();
    }
    const auto first = std::find_if(context.findings.begin(), context.findings.end(),
                                    [](const Finding& f) { return f.severity == Severity::error; });
    if (first != context.findings.end())
        throw InputError(to_string(*first), context.findings);
    // A class that covers everything stays even with few rows: something must answer.
    std::erase_if(state_->classes,
                  [&](const ResidualClass& c) { return c.rows < minimum && c.narrowness > 0; });
    for (auto* classes : {&state_->classes, &state_->projection})
        std::stable_sort(classes->begin(), classes->end(),
                         [](const auto& a, const auto& b) { return a.narrowness > b.narrowness; });
}
UncertaintyTable::~UncertaintyTable() = default;
UncertaintyTable::UncertaintyTable(UncertaintyTable&&) noexcept = default;
UncertaintyTable& UncertaintyTable::operator=(UncertaintyTable&&) noexcept = default;

bool UncertaintyTable::measured(const Device& device, const Runtime& runtime) const {
    const auto& devices = state_->devices;
    if (std::find(devices.begin(), devices.end(), device.id) != devices.end())
        return true;
    const std::string_view family = name_of(device.family);
    return has_pair(state_->stacks, family, runtime.id) ||
           (!runtime.base.empty() && has_pair(state_->stacks, family, runtime.base));
}

Evidence UncertaintyTable::evidence(const Device& device, const Runtime& runtime,
                                    std::string_view regime) const {
    const Evidence fitted = evidence_for(device, runtime, regime);
    return fitted == Evidence::stack && has_pair(state_->pairs, device.id, runtime.id) ? Evidence::device
                                                                                       : fitted;
}

Spread UncertaintyTable::spread(SpreadOf metric, const Device& device, const Runtime& runtime,
                                std::string_view regime) const {
    const Evidence evidence = this->evidence(device, runtime, regime);
    const auto find = [&](const std::vector<ResidualClass>& classes, Spread otherwise) -> Spread {
        for (const ResidualClass& c : classes)
            if (c.covers(metric, device, runtime, regime, evidence))
                return {c.low, c.high, c.rows, c.basis};
        return otherwise;
    };
    const Spread found =
        find(state_->classes, {0.5, 2.0, 0, "no measurements to compare with: a factor of two"});
    if (measured(device, runtime))
        return found;
    const Spread least = find(state_->projection, found);
    Spread wider = least;
    wider.low = std::min(found.low, least.low);
    wider.high = std::max(found.high, least.high);
    return wider;
}

} // namespace archsim
