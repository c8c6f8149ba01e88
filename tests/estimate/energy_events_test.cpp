// Every event that a mapper counts has a price with a source, on every device; published fits come back from
// whole estimates.

#include "estimate/price.hpp"
#include "laws/laws.hpp"
#include "ops/graph_maker.hpp"
#include "session/graph_run.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

using namespace archsim;

TEST_CASE("every counted event has a price and a source on every device", "[energy][laws]") {
    std::size_t priced = 0;
    std::set<std::size_t> seen;
    for (const Precision precision : {Precision::fp32, Precision::fp16, Precision::int8})
        for (const std::string& hardware : laws::hardware())
            for (const std::string& model : laws::models()) {
                Conditions options;
                options.precision = PrecisionConfig::uniform(precision);
                options.scope = Scope::end_to_end; // transfers and host work are events too
                const Result r = run_graph(laws::session(), laws::bound(model, 1), hardware, options);
                if (!r.ok())
                    continue;
                INFO(model << " on " << hardware << " at " << name_of(precision));
                // Three devices publish no power at all: that their static power is missing is said.
                const bool stated = r.device->tdp.known() || r.device->active_idle.known();
                CHECK(unpriced_events(r.estimate.events, *r.machine).size() == (stated ? 0U : 1U));
                if (!stated)
                    continue;
                const EnergyTable& table = *r.machine->energy;
                for (std::size_t e = 0; e < kEventCount; ++e)
                    if (r.estimate.events.counts[e] > 0) {
                        INFO(name_of(static_cast<Event>(e)));
                        CHECK(table.event[e].value > 0);
                        CHECK(table.event[e].source);
                        seen.insert(e);
                        ++priced;
                    }
                for (Precision p : kPrecisions)
                    if (const auto i = static_cast<std::size_t>(p); r.estimate.events.macs[i] > 0) {
                        INFO(name_of(p));
                        CHECK(table.mac[i].value > 0);
                        CHECK(table.mac[i].source);
                    }
            }
    CHECK(priced > 5000);
    CHECK(seen.size() >= kEventCount - 2); // all but mac (counted by format), and at most one rare event
}

TEST_CASE("in every power mode power lies between idle and limit", "[energy][laws]") {
    for (const std::string& hardware : laws::hardware())
        for (const std::int64_t batch : {1, 16}) {
            const Result r = laws::run("resnet50", hardware, Precision::int8, batch);
            if (!r.ok())
                continue;
            INFO(hardware << " at batch " << batch);
            const Machine& m = *r.machine;
            if (!m.energy) { // nobody states what such a chip draws
                CHECK(std::isnan(r.estimate.power_w));
                continue;
            }
            // Without a rating and a figure of its own a chip has the energy of its events alone.
            if (m.energy->static_power.known() || m.power_limit_w > 0)
                CHECK(m.static_power_w > 0);
            CHECK(r.estimate.power_w >= m.static_power_w * (1 - 1e-9));
            if (m.power_limit_w > 0) {
                CHECK(m.static_power_w < m.power_limit_w);
                CHECK(r.estimate.power_w <= m.power_limit_w * (1 + 1e-6));
            }
            CHECK(r.estimate.power_w * r.estimate.batch / r.estimate.throughput_per_s ==
                  Approx(r.estimate.energy.total()).epsilon(1e-9));
        }
}

TEST_CASE("DRAM takes no more energy for a fused graph than for an unfused one, on every device",
          "[energy][laws]") {
    const FusionPolicy nothing{false, false, false, false, false, false, false, false, false, false};
    std::size_t less = 0, devices = 0;
    for (const std::string& hardware : laws::hardware()) {
        if (hardware.find('@') != std::string::npos)
            continue;
        const Result fused = laws::run("resnet50", hardware, Precision::int8);
        if (!fused.ok())
            continue;
        Conditions options;
        options.precision = PrecisionConfig::uniform(Precision::int8);
        options.fusion = nothing;
        const Result plain = run_graph(laws::session(), laws::bound("resnet50", 1), hardware, options);
        INFO(hardware);
        REQUIRE(plain.ok());
        if (!fused.machine->energy)
            continue;
        // Before an estimated power budget bounds them.
        const double with = fused.estimate.energy[Event::dram_byte] / fused.estimate.energy_scale,
                     without = plain.estimate.energy[Event::dram_byte] / plain.estimate.energy_scale;
        CHECK(with <= without * (1 + 2e-3));
        less += with < without * 0.999;
        ++devices;
    }
    CHECK(devices > 80);
    CHECK(less > devices / 3); // on the others all activations stay on the chip
}

TEST_CASE("between modes, a lower clock never costs more per event", "[energy][laws]") {
    std::size_t pairs = 0;
    for (const std::string& hardware : laws::hardware()) {
        const auto at = hardware.find('@');
        if (at == std::string::npos)
            continue;
        const auto mode = laws::session().machine(hardware, {});
        const auto device = laws::session().machine(hardware.substr(0, at), {});
        const auto clock = [](const Machine& m) { return m.rate(Resource::overhead_cycles); };
        const auto factor = [&](const Machine& m) { return m.energy->voltage_factor(clock(m)); };
        if (clock(*mode) >= clock(*device) || device->energy->clock_exponent.value <= 1)
            continue;
        INFO(hardware);
        CHECK(factor(*mode) <= factor(*device));
        pairs += factor(*mode) < factor(*device);
    }
    CHECK(pairs > 10);
}

namespace {

/// Power of a device that streams or multiplies without pause, and dynamic joules per byte and operation.
struct Probe {
    double static_w, per_byte, per_operation;
    double voltage; ///< dynamic energy relative to the nominal clock, at which constant-clock fits hold
    double awake, dram, chip; ///< multiples of public prices that measured power asks for
};

Probe probe(const std::string& hardware, const Graph& graph, Precision precision) {
    ImportedGraph model{{}, std::make_shared<const Graph>(graph)};
    model.info.name = "probe";
    Conditions options;
    options.precision = PrecisionConfig::uniform(precision);
    const Result r =
        run_graph(laws::session(), std::make_shared<const BoundModel>(model, Bindings{}), hardware, options);
    INFO(hardware << ": " << r.estimate.reason);
    REQUIRE(r.ok());
    const Estimate& e = r.estimate;
    const double dynamic = e.energy.total() - e.energy.static_joules;
    const double macs = e.events.macs[static_cast<std::size_t>(precision)];
    const auto multiple = [&](PriceGroup group) {
        return r.machine->energy->multiple[static_cast<std::size_t>(group)].value_or(1);
    };
    return {r.machine->static_power_w,
            dynamic / e.events[Event::dram_byte],
            dynamic / (2 * macs),
            r.machine->energy->voltage_factor(r.machine->rate(Resource::overhead_cycles) * e.clock_ratio),
            multiple(PriceGroup::awake),
            multiple(PriceGroup::dram),
            multiple(PriceGroup::chip)};
}

Graph stream() {
    test::GraphMaker maker;
    const Shape shape{1 << 14, 1 << 14}; // 1 GiB in fp32: beyond every cache
    const TensorId x = maker.input("x", shape), y = maker.input("y", shape);
    maker.node("Add", {x, y}, {maker.output("z")});
    return maker.graph;
}

Graph product() {
    test::GraphMaker maker;
    const TensorId x = maker.input("x", {8192, 8192});
    maker.node("MatMul", {x, maker.weight("w", {8192, 8192})}, {maker.output("z")});
    return maker.graph;
}

} // namespace

TEST_CASE("the fitted constants of measured GPUs come back from whole estimates", "[energy]") {
    // Static power and all-in DRAM energy from power logs: 65.7 W and 14.7 pJ/bit, 15.3 pJ/bit, 68.9 W and
    // 24.75 pJ/bit; on H200 132 units of 0.87 W with 141 GB at 0.06 W. Traffic is priced with its multiple,
    // and what the caches and instructions of a stream take of it with that of the chip.
    for (const auto& [name, watts, awake, picojoules] : {std::tuple{"A100-40GB", 65.7, 0.0, 14.7},
                                                         {"H200", 141 * 0.06, 132 * 0.87, 15.3},
                                                         {"A40", 68.9, 0.0, 24.75}}) {
        INFO(name);
        const Probe p = probe(name, stream(), Precision::fp32);
        CHECK(p.static_w == Approx(watts + awake * p.awake).epsilon(0.01));
        CHECK(p.per_byte / 8 < picojoules * 1e-12 * 1.1 * std::max(p.dram, p.chip));
        CHECK(p.per_byte / 8 > picojoules * 1e-12 * 0.9 * p.voltage * std::min(p.dram, p.chip));
    }
    // Upper bound (TDP - static) / best measured rate of tensor cores, with some DRAM traffic on top.
    const Probe a100 = probe("A100", product(), Precision::bf16);
    CHECK(a100.static_w == Approx(66).epsilon(0.02));
    CHECK(a100.per_operation == Approx(1.2e-12 * a100.chip).epsilon(0.1));
}

TEST_CASE("the scaling table of the document is that of the database", "[energy][docs]") {
    const std::string root = ARCHSIM_SOURCE_DIR;
    std::ifstream json(root + "/hardware_db/energy.json"), text(root + "/docs/energy.md");
    const auto scaling = nlohmann::json::parse(json)["scaling"];
    std::map<std::string, std::vector<std::string>> rows;
    for (std::string line; std::getline(text, line);) {
        std::vector<std::string> cells;
        std::istringstream in(line);
        for (std::string cell; std::getline(in, cell, '|');) {
            const auto begin = cell.find_first_not_of(' ');
            cells.push_back(
                begin == std::string::npos ? "" : cell.substr(begin, cell.find_last_not_of(' ') - begin + 1));
        }
        if (cells.size() > 10)
            rows.try_emplace(cells[1], cells);
    }
    REQUIRE(rows.contains("nm"));
    for (const char* kind : {"logic", "sram", "wire"}) {
        const std::string heading = kind == std::string("sram") ? "SRAM" : kind;
        REQUIRE(rows.contains(heading));
        std::size_t entries = 0;
        for (std::size_t c = 2; c < rows["nm"].size(); ++c) {
            const std::string& node = rows["nm"][c];
            const std::string cell = c < rows[heading].size() ? rows[heading][c] : "";
            INFO(heading << " at " << node << " nm");
            CHECK(cell.empty() != scaling[kind].contains(node));
            if (!cell.empty() && scaling[kind].contains(node))
                CHECK(std::stod(cell) == Approx(scaling[kind][node].get<double>()));
            entries += !cell.empty();
        }
        CHECK(entries + 1 == scaling[kind].size()); // and its source
    }
}

TEST_CASE("the engine figures and worked numbers of the document are those of the database",
          "[energy][docs]") {
    const std::string root = ARCHSIM_SOURCE_DIR;
    const auto parsed = [&](const std::string& file) {
        std::ifstream json(root + "/hardware_db/" + file);
        return nlohmann::json::parse(json);
    };
    std::ifstream file(root + "/docs/energy.md");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    std::replace(text.begin(), text.end(), '\n', ' ');
    const auto says = [&](const std::string& words) {
        INFO(words);
        CHECK(text.find(words) != std::string::npos);
    };
    const auto families = parsed("energy.json")["families"];
    const auto gpu = families["gpu"];
    const auto matrix = gpu["matrix_engine"]["bf16"]["by_process"],
               vector = gpu["vector_engine"]["by_process"], clock = gpu["figure_clock"]["by_process"];
    const auto own = [&](const char* card, const char* name) {
        return parsed(std::string("gpu/") + card + ".json")["energy"][name]["value"].get<double>();
    };
    const auto of = [](const nlohmann::json& prices, const char* node) {
        return prices[node]["value"].get<double>();
    };
    says(fmt::format("| {:g} / {:g}; {:.2f} | derived, upper bounds", own("A100", "mac_bf16"),
                     own("H100", "mac_bf16"), own("H100", "mac_fp8")));
    says(fmt::format("at {:g} / {:g} GHz | {:g} / {:g} |", of(clock, "8"), of(clock, "12"), of(matrix, "8"),
                     of(matrix, "12")));
    says(fmt::format("| {:g} / {:g} / {:g} | derived from power logs", own("A100", "mac_fp32"),
                     own("H200", "mac_fp32"), own("A40", "mac_fp32")));
    CHECK(own("A40", "mac_fp32") == of(vector, "8"));
    CHECK(own("H200", "mac_fp32") == of(vector, "5"));
    says(fmt::format("5 nm {:g} GHz, 7 nm {:g}, 8 nm {:g}, 12 nm {:g}", of(clock, "5"), of(clock, "7"),
                     of(clock, "8"), of(clock, "12")));
    const auto cpu = families["cpu"];
    const double turbo = cpu["nominal_clock"]["value"], exponent = cpu["clock_exponent"]["value"];
    says(fmt::format("at 2.5 GHz {:.2f} of it | {:g} |", std::pow(2.5 / turbo, exponent - 1),
                     cpu["matrix_engine"]["bf16"]["energy"]["value"].get<double>()));
    // Static power without the multiple, which every fit moves.
    const double each = gpu["awake"]["by_generation"]["hopper"]["value"], awake = 132 * each;
    says(fmt::format("132 multiprocessors x {:g} W at 1.98 GHz = {:.0f} W", each, awake));
    says(fmt::format("H100's {:.0f} W become 5 + {:.0f} x 0.49 = {:.0f} W", awake + 4.8, awake,
                     4.8 + 0.49 * awake));
    says(fmt::format("({:.0f} W and {:.0f} pJ per byte:", awake + 4.8, own("H100", "dram_byte")));
}
