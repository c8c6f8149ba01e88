// An array of memory banks that multiplies by looking products up: facts, their scaling and the mapper, in
// one file.

#include "support/lookup_array.hpp"

#include "archsim/extend/mapper.hpp"

#include "hardware/temporary_database.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace archsim::test {

namespace {

struct LookupFacts : FactsOf<LookupFacts> {
    Fact banks;          ///< each answers for its own outputs
    Fact lookups;        ///< operands that a bank looks up per clock
    Fact buffer_bytes;   ///< for activations
    Fact rewriting_time; ///< of all tables, once per inference
    std::string tables;
};

constexpr std::array<std::string_view, 2> kTables = {"products", "sums"};

constexpr std::array kFacts = {
    FactRow{.name = "banks",
            .member = fact_at(&LookupFacts::banks),
            .doc = "Banks of tables.",
            .high = 65536,
            .scales_with = Structure::units,
            .required = true},
    FactRow{.name = "lookups",
            .member = fact_at(&LookupFacts::lookups),
            .doc = "Look-ups of a bank per clock.",
            .high = 65536,
            .scales_with = Structure::array},
    FactRow{.name = "buffer",
            .member = fact_at(&LookupFacts::buffer_bytes),
            .doc = "Memory for activations.",
            .unit = "B",
            .low = 0,
            .scales_with = Structure::on_chip_memory},
    FactRow{.name = "rewriting_time",
            .member = fact_at(&LookupFacts::rewriting_time),
            .doc = "Time to rewrite all tables.",
            .unit = "s",
            .low = 0,
            .high = 1},
    FactRow{.name = "tables",
            .member = fact_at(&LookupFacts::tables),
            .doc = "What a table holds.",
            .words = kTables},
};

const LookupFacts& facts_of(const Machine& machine) {
    return machine.device->facts.as<LookupFacts>();
}

double buffer(const Machine& machine) {
    return facts_of(machine).buffer_bytes.value_or(0);
}

class LookupMapper final : public Mapper {
  public:
    std::string_view name() const override { return "table look-up"; }

    void map(const SubgraphWork& work, const NetworkWork& network, const Machine& machine,
             Mapping& out) const override {
        const LookupFacts& facts = facts_of(machine);
        const double rate = machine.matrix_ops(work.precision);
        const double per_clock = facts.banks.value_or(1) * facts.lookups.value_or(1);
        double padded = 0;
        for (const OperatorUse& use : work.operators)
            for (const Contraction& c : use.op->work.contractions)
                padded += c.groups * c.m * c.k * std::ceil(c.n / per_clock) * per_clock;
        if (rate > 0 && work.macs > 0) {
            out.add(Resource::matrix_cycles, Lane::compute, 2 * padded / rate);
            out.ideal_cycles = 2 * work.macs / rate;
            out.events.mac(work.precision) += work.macs;
        }
        const double vector = work.vector_ops + work.special_ops;
        out.add(Resource::vector_cycles, Lane::compute, vector / machine.vector_ops(Precision::fp16));
        out.events[Event::vector_op] += vector;
        // Items of a batch pass one after another: what the buffer holds of one stays. Tables are rewritten
        // with the weights of every layer.
        const double activations = work.activation_bytes();
        const double moved = activations / network.batch > buffer(machine) ? activations : 0;
        out.add(Resource::dram_bytes, Lane::memory, moved);
        out.add(Resource::weight_bytes, Lane::memory, work.weight_bytes);
        out.events[Event::dram_byte] += moved + work.weight_bytes;
        out.events[Event::l1_byte] += activations;
        out.allocation.units_total = out.allocation.units_used = facts.banks.value_or(1);
        out.allocation.scheme = "table look-up";
    }

    NetworkMapping map_network(const NetworkWork& network, const Machine& machine) const override {
        NetworkMapping result = Mapper::map_network(network, machine);
        result.fixed.add(Resource::seconds, Lane::overhead, facts_of(machine).rewriting_time.value_or(0));
        return result;
    }
};

constexpr FamilyRow kLookupArray{.name = "lut",
                                 .title = "LUT",
                                 .block = "lookup_array",
                                 .doc = "Array of look-up tables.",
                                 .facts = kFacts,
                                 .make_facts = empty_facts<LookupFacts>,
                                 .mapper = only_mapper<LookupMapper>,
                                 .managed_memory = buffer};

constexpr const char* kDevice = R"({
  "$schema": "../schema.json",
  "id": "LUT-256", "name": "Look-up array of 256 banks", "vendor": "Acme", "family": "lut",
  "generation": "lut-1", "year": 2024,
  "clocks": {"boost": {"value": 500, "unit": "MHz", "source": "S1"}},
  "engines": [
    {"name": "bank", "class": "matrix", "unit": "bank", "count": 256,
     "clock": {"value": 500, "unit": "MHz", "source": "S1"},
     "ops_per_clock": {"int8": 16, "fp16": 8}, "source": "S1"},
    {"name": "lanes", "class": "vector", "unit": "bank", "count": 256,
     "clock": {"value": 500, "unit": "MHz", "source": "S1"}, "ops_per_clock": {"fp16": 2}, "source": "S1"}
  ],
  "peaks": {"matrix": {"int8": {"value": 2.048, "unit": "TOPS", "source": "S1"}}},
  "memory": [{"name": "tables", "scope": "chip", "bandwidth": {"value": 4000, "unit": "GB/s", "source": "S1"}}],
  "dram": {"type": "LPDDR5", "capacity": {"value": 8, "unit": "GB", "source": "S1"},
           "bandwidth": {"value": 50, "unit": "GB/s", "source": "S1"}},
  "power": {"tdp": {"value": 8, "unit": "W", "source": "S1"},
            "active_idle": {"value": 0.5, "unit": "W", "source": "S1"}},
  "energy": {
    "mac_int8": {"value": 0.2, "unit": "pJ/op", "source": "S1"},
    "vector_op": {"value": 2, "unit": "pJ", "source": "S1"},
    "l1_byte": {"value": 1, "unit": "pJ/B", "source": "S1"},
    "dram_byte": {"value": 60, "unit": "pJ/B", "source": "S1"}
  },
  "lookup_array": {
    "banks": {"value": 256, "unit": "1", "source": "S1"},
    "lookups": {"value": 8, "unit": "1", "source": "S1"},
    "buffer": {"value": 256, "unit": "KiB", "source": "S1"},
    "rewriting_time": {"value": 20, "unit": "us", "source": "S1"},
    "tables": "products"
  },
  "runtimes": ["lut-compiler"], "default_runtime": "lut-compiler",
  "sources": {"S1": {"kind": "assumed", "cite": "an example, no such chip exists"}}
})";

constexpr const char* kStack = R"({
  "$schema": "../runtime_schema.json",
  "id": "lut-compiler", "name": "Table compiler", "description": "Turns layers into tables.",
  "families": ["lut"],
  "fusion": {"batch_norm": true, "activation": true, "elementwise_chain": true},
  "combine_exponent": {"value": "overlapped", "source": "S1"},
  "parameters": {"inference_overhead": {"value": 10, "unit": "us", "source": "S1"}},
  "fallback": "none",
  "sources": {"S1": {"kind": "assumed", "cite": "an example"}}
})";

} // namespace

const FamilyRow& lookup_array() {
    return kLookupArray;
}

const std::filesystem::path& lookup_array_files() {
    static const TemporaryDatabase folder;
    static const bool written = [] {
        folder.write("lut/LUT-256.json", kDevice);
        folder.write("runtimes/lut-compiler.json", kStack);
        return true;
    }();
    static_cast<void>(written);
    return folder.root();
}

} // namespace archsim::test
