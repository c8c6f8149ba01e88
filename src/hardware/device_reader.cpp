#include "hardware/device_reader.hpp"

#include "core/text.hpp"
#include "hardware/device_files.hpp"
#include "hardware/family_facts.hpp"

#include <fmt/format.h>

namespace archsim {

using D = PhysicalDimension;

constexpr Bounds kBandwidth{1e3, 1e17};
constexpr Bounds kCapacity{0, 1e14};
constexpr Bounds kShare{0, 1};

static void read_engine(ObjectReader& entry, Device& device) {
    Engine engine{.name = entry.text("name", Need::required)};
    engine.kind = entry.choice<EngineClass>("class", Need::required);
    engine.unit = entry.text("unit");
    engine.count = entry.number("count", {1, 1e7}, Need::required);
    engine.isa = entry.text("isa");
    engine.shared = entry.flag("shared", false);
    engine.clock = entry.quantity("clock", D::frequency, kClock, Need::required);
    read_rates(entry, "ops_per_clock", engine.ops_per_clock);
    device.engines.push_back(std::move(engine));
}

/// Calls `read(table, precision, key)` for every number of an object whose keys are numeric formats.
template <class Read>
static void each_format(ObjectReader& owner, std::string_view key, Read read) {
    owner.object(key, [&](ObjectReader& table) {
        table.members([&](std::string_view name, const JsonPlace& place) {
            if (const auto precision = parse_precision(name))
                read(table, *precision, name);
            else
                table.context().report(
                    FindingKind::unknown_key, Severity::warning, place,
                    fmt::format("\"{}\" is not a numeric format", name),
                    "use fp64, fp32, tf32, bf16, fp16, fp8, fp4, int32, int16, int8 or int4");
        });
    });
}

static void read_peaks(ObjectReader& peaks, EngineClass kind, Device& device) {
    each_format(peaks, name_of(kind), [&](ObjectReader& table, Precision precision, std::string_view key) {
        StatedPeak peak{.kind = kind,
                        .precision = precision,
                        .ops_per_second = table.quantity(key, D::operation_rate, {1, 1e20})};
        const JsonValue* const nominal = table.member(key)->find("nominal");
        peak.nominal = nominal != nullptr && nominal->is_boolean() && nominal->boolean();
        if (peak.ops_per_second.known())
            device.peaks.push_back(std::move(peak));
    });
}

static void read_memory(ObjectReader& entry, Device& device) {
    const std::string name = entry.text("name", Need::required);
    MemoryLevel level = memory_level(name, entry.text("scope"));
    level.capacity = entry.quantity("capacity", D::bytes, kCapacity);
    const double count = entry.number("count", {1, 1e6});
    level.count = std::isnan(count) ? 1 : count;
    level.bandwidth = entry.quantity("bandwidth", D::bandwidth, kBandwidth);
    level.bytes_per_clock = entry.quantity("bytes_per_clock", D::bytes_per_clock, {0.01, 1e6});
    device.memory.push_back(std::move(level));
}

static void read_mode(ObjectReader& entry, Device& device) {
    PowerMode mode{.name = entry.text("name", Need::required),
                   .active_units = entry.quantity("active_units", D::one, {1, 1e7})};
    entry.text("unit");
    mode.clock = entry.quantity("clock", D::frequency, kClock);
    mode.memory_bandwidth = entry.quantity("memory_bandwidth", D::bandwidth, kBandwidth);
    mode.measured_bandwidth = entry.quantity("measured_bandwidth", D::bandwidth, kBandwidth);
    mode.limit = entry.quantity("limit", D::power, kPower);
    mode.uncapped = entry.flag("uncapped", false);
    mode.active_idle = entry.quantity("active_idle", D::power, kPower);
    mode.aliases = entry.texts("aliases");
    mode.cpu_cores = entry.quantity("cpu_cores", D::one, {0, 4096});
    mode.cpu_clock = entry.quantity("cpu_clock", D::frequency, kClock);
    device.power_modes.push_back(std::move(mode));
}

static std::optional<Price> read_price(ObjectReader& prices, std::string_view key,
                                       PhysicalDimension dimension) {
    const JsonValue* value = prices.member(key);
    if (value == nullptr)
        return std::nullopt;
    Price price{.amount = prices.quantity(key, dimension, {0, 1e8})};
    if (!price.amount.known())
        return std::nullopt;
    price.date = value->text_at("date");
    price.instance = value->text_at("instance");
    price.market = value->text_at("market");
    for (const JsonValue& size : value->items_at("instances"))
        if (const auto devices = size.number_at("devices"), usd = size.number_at("usd_per_hour");
            devices && usd)
            price.instances.push_back({std::string(size.text_at("name")), *devices, *usd});
    return price;
}

/// Values keyed by a parameter's name, of one stack or of all.
static void read_fitted(ObjectReader& block, const std::string& runtime, Device& device) {
    block.members([&](std::string_view key, const JsonPlace& place) {
        const JsonValue& value = *block.member(key);
        if (value.is_object() && !value.contains("value") && runtime.empty()) {
            block.object(key, [&](ObjectReader& inner) { read_fitted(inner, std::string(key), device); });
            return;
        }
        const auto parameter = parse_parameter(key);
        if (!parameter) {
            report_unknown_parameter(block.context(), key, place);
            return;
        }
        const Fact fact = read_parameter_value(block, key, *parameter);
        if (fact.known())
            device.fitted.push_back({std::string(key), fact, runtime});
    });
}

/// Energy constants are named by event; their unit says what they are counted in.
static void read_energy(ObjectReader& block, Device& device) {
    block.members([&](std::string_view key, const JsonPlace&) {
        PhysicalDimension dimension = D::energy;
        if (const Unit* unit = find_unit(block.member(key)->text_at("unit")))
            for (const PhysicalDimension accepted :
                 {D::energy_per_byte, D::energy_per_operation, D::power, D::one})
                if (unit->dimension == accepted)
                    dimension = accepted;
        const Fact fact = block.quantity(key, dimension);
        if (fact.known())
            device.energy.push_back({std::string(key), fact, {}});
    });
}

static void read_identity(ObjectReader& document, Device& device) {
    document.text("extends");
    device.id = document.text("id", Need::required);
    device.name = document.text("name");
    if (device.name.empty())
        device.name = device.id;
    device.aliases = document.texts("aliases");
    device.vendor = document.text("vendor");
    device.codename = document.text("codename");
    device.generation = document.text("generation");
    const std::string family = document.text("family", Need::required);
    if (!family.empty())
        device.family = stated_family(document, "family", family).value_or(device.family);
    const double year = document.number("year", {1970, 2100});
    device.year = std::isnan(year) ? 0 : static_cast<int>(year);
    device.process_nm = document.quantity("process", D::process, {1, 1000});
    device.embodied_carbon = document.quantity("embodied_carbon", D::mass, {1e-3, 1e5});
    device.notes = document.texts("notes");
}

static void read_rest(ObjectReader& document, Device& device) {
    document.object("clocks", [&](ObjectReader& clocks) {
        device.clock_base = clocks.quantity("base", D::frequency, kClock);
        device.clock_boost = clocks.quantity("boost", D::frequency, kClock);
        device.clock_all_core = clocks.quantity("all_core", D::frequency, kClock);
        device.clock_sustained = clocks.quantity("sustained", D::frequency, kClock);
        device.clock_vector = clocks.quantity("vector", D::frequency, kClock);
    });
    document.each("engines", [&](ObjectReader& entry) { read_engine(entry, device); });
    document.object("peaks", [&](ObjectReader& peaks) {
        for (const EngineClass kind : {EngineClass::matrix, EngineClass::vector, EngineClass::special})
            read_peaks(peaks, kind, device);
    });
    document.each("memory", [&](ObjectReader& entry) { read_memory(entry, device); });
    document.object("dram", [&](ObjectReader& entry) {
        Dram dram{.type = entry.text("type"),
                  .capacity = entry.quantity("capacity", D::bytes, kCapacity),
                  .bandwidth = entry.quantity("bandwidth", D::bandwidth, kBandwidth, Need::required),
                  .achievable_fraction = entry.quantity("achievable_fraction", D::one, kShare)};
        device.dram = std::move(dram);
    });
    document.object("dispatch", [&](ObjectReader& dispatch) {
        device.dispatch_kernel = dispatch.quantity("kernel", D::time, {0, 1});
        device.dispatch_graph_kernel = dispatch.quantity("graph_kernel", D::time, {0, 1});
        device.dispatch_inference = dispatch.quantity("inference", D::time, {0, 1});
    });
    document.object("power", [&](ObjectReader& power) {
        device.tdp = power.quantity("tdp", D::power, kPower);
        device.idle = power.quantity("idle", D::power, kPower);
        device.active_idle = power.quantity("active_idle", D::power, kPower);
        device.board_draw = power.quantity("board_draw", D::power, kPower);
    });
    document.each("power_modes", [&](ObjectReader& entry) { read_mode(entry, device); });
    document.each("slices", [&](ObjectReader& entry) {
        device.slices.push_back({entry.text("name", Need::required),
                                 entry.number("units", {1, 1e7}, Need::required),
                                 entry.number("compute", {1, 1e3}, Need::required),
                                 entry.number("memory", {1, 1e3}, Need::required)});
    });
    device.default_power_mode = document.text("default_power_mode");
    device.peak_power_mode = document.text("peak_power_mode");
    document.object("interconnect", [&](ObjectReader& link) {
        device.interconnect_type = link.text("type");
        device.link_bandwidth = link.quantity("bandwidth", D::bandwidth, kBandwidth);
        device.node_devices = link.number("node", {1, 1e5});
        device.network_bandwidth = link.quantity("network", D::bandwidth, kBandwidth);
    });
    document.object("host_link", [&](ObjectReader& link) {
        device.host_link_type = link.text("type");
        device.host_link_bandwidth = link.quantity("bandwidth", D::bandwidth, kBandwidth);
    });
    device.for_servers = document.text("sold_for") == "servers";
    document.object("price", [&](ObjectReader& prices) {
        device.list_price = read_price(prices, "list", D::money);
        device.cloud_price = read_price(prices, "cloud", D::money_rate);
        device.server_price = read_price(prices, "server", D::money);
        // An amount that is unknown, and why.
        const auto absent = [&](const char* key, std::optional<Price>& price, const char* contradiction) {
            prices.object(key, [&](ObjectReader& entry) {
                Price none;
                none.amount.note = entry.text("reason", Need::required);
                none.date = entry.text("date", Need::required);
                if (price)
                    prices.refuse(key, FindingKind::inconsistent, contradiction, "remove one of them");
                else
                    price = std::move(none);
            });
        };
        absent("not_rented", device.cloud_price,
               "the device has a price per hour, and a reason why it has none");
        absent("not_sold", device.list_price, "the device has a list price, and a reason why it has none");
    });
    document.object("energy", [&](ObjectReader& block) { read_energy(block, device); });
    document.object("fitted", [&](ObjectReader& block) { read_fitted(block, {}, device); });
    document.object("host", [&](ObjectReader& host) { device.host = host.text("cpu"); });
    device.runtimes = document.texts("runtimes");
    device.default_runtime = document.text("default_runtime");
}

/// Names inside the document that must agree.
static void check_names(ObjectReader& document, const Device& device) {
    const auto unknown = [&](std::string_view key, const std::string& name, std::string hint) {
        document.refuse(key, FindingKind::unknown_name,
                        fmt::format("\"{}\" is not in the device's list", name), std::move(hint));
    };
    if (device.engines.empty())
        document.missing("engines", "a device needs at least one engine with its clock and rates");
    for (const auto& [key, name] : {std::pair{"default_power_mode", &device.default_power_mode},
                                    std::pair{"peak_power_mode", &device.peak_power_mode}})
        if (!name->empty() && device.power_mode(*name) == nullptr)
            unknown(key, *name, "add a power mode of that name, or name one that is listed");
    const auto& stacks = device.runtimes;
    if (!device.default_runtime.empty() && std::ranges::find(stacks, device.default_runtime) == stacks.end())
        unknown("default_runtime", device.default_runtime, "add it to \"runtimes\"");
}

void read_rates(ObjectReader& owner, std::string_view key, std::array<Fact, kPrecisionCount>& rates) {
    each_format(owner, key, [&](ObjectReader& table, Precision precision, std::string_view name) {
        rates[static_cast<std::size_t>(precision)] =
            table.quantity(name, D::operations_per_clock, {1e-3, 1e9});
    });
}

DeviceReading read_device_fields(const JsonValue& document, const std::string& file) {
    DeviceReading reading;
    reading.device->file = file;
    ReadContext context = read_document(document, file, [&](ObjectReader& reader) {
        read_identity(reader, *reading.device);
        read_rest(reader, *reading.device);
        read_family(reader, *reading.device);
        check_names(reader, *reading.device);
    });
    reading.usable = std::ranges::none_of(context.findings, &Finding::is_error);
    reading.findings = std::move(context.findings);
    return reading;
}

std::shared_ptr<const Device> read_device(const JsonValue& document, const std::string& file,
                                          std::vector<Finding>& findings) {
    DeviceReading reading = read_device_fields(document, file);
    findings.insert(findings.end(), reading.findings.begin(), reading.findings.end());
    if (!reading.usable)
        return nullptr;
    reading.device->findings = std::move(reading.findings);
    return std::move(reading.device);
}

} // namespace archsim
