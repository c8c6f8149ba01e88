#include "answers/difference/factor_terms.hpp"

#include "answers/difference/difference.hpp"
#include "core/lists.hpp"
#include "hardware/energy_table.hpp"
#include "hardware/parameter_site.hpp"
#include "result/common_regions.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace archsim {

/// Amounts that where a kernel's data lie decides.
constexpr std::array kPlaced = {Factor::achieved,     Factor::on_chip,    Factor::bandwidth_share,
                                Factor::memory_bytes, Factor::overlap,    Factor::fixed_cost,
                                Factor::host,         Factor::operations, Factor::control,
                                Factor::near_bytes,   Factor::far_bytes,  Factor::fabric_bytes};

/// The same device with nothing to do.
static GraphRecord without_work(const GraphRecord& graph) {
    GraphRecord empty = graph;
    empty.operators.clear();
    empty.kernels.clear();
    empty.network = {};
    empty.latency_s = empty.interval_s = 0;
    return empty;
}

static std::vector<std::size_t> kernels_of_operators(const GraphRecord& graph, std::size_t first) {
    std::vector<std::size_t> kernel(graph.operators.size(), std::size_t(-1));
    for (std::size_t k = 0; k < graph.kernels.size(); ++k)
        for (std::uint32_t op : graph.kernels[k].operators)
            kernel[op] = first + k;
    return kernel;
}

static void add_regions(const GraphPair& graphs, std::size_t part, AlignedEstimates& out) {
    const GraphRecord &a = *graphs.a, &b = *graphs.b;
    DisjointSets sets(a.kernels.size() + b.kernels.size());
    const auto in_a = kernels_of_operators(a, 0), in_b = kernels_of_operators(b, a.kernels.size());
    const auto pairs = align_operators(a.operators, b.operators);
    out.aligned += pairs.size();
    std::vector<std::size_t> equal_operators(a.kernels.size() + b.kernels.size()); // by kernel
    for (const auto& [i, j] : pairs) {
        if (in_a[i] == std::size_t(-1) || in_b[j] == std::size_t(-1))
            continue;
        sets.join(in_a[i], in_b[j]);
        if (a.operators[i].shape == b.operators[j].shape) {
            ++equal_operators[in_a[i]];
            ++equal_operators[in_b[j]];
        }
    }
    std::vector<std::size_t> region(a.kernels.size() + b.kernels.size(), std::size_t(-1));
    std::vector<double> largest;
    for (std::size_t k = 0; k < region.size(); ++k) {
        const bool first = k < a.kernels.size();
        const KernelRecord& kernel = first ? a.kernels[k] : b.kernels[k - a.kernels.size()];
        std::size_t& at = region[sets.root(k)];
        if (at == std::size_t(-1)) {
            at = out.regions.size();
            out.regions.emplace_back();
            out.regions.back().part = part;
            out.regions.back().subgraphs.resize(2);
            out.regions.back().name = kernel.name;
            out.unchanged.push_back(true);
        }
        if (equal_operators[k] != kernel.operators.size())
            out.unchanged[at] = false;
        CommonRegion& r = out.regions[at];
        r.subgraphs[first ? 0 : 1].push_back(static_cast<std::uint32_t>(first ? k : k - a.kernels.size()));
        if (kernel.time.operations > r.operations) {
            r.operations = kernel.time.operations;
            r.name = kernel.name;
        }
    }
}

// The value of each factor over the whole network of one device, and the facts behind it.

/// Facts named per input at most: the ones that weigh most.
constexpr std::size_t kMostSources = 3;

static void add_source(std::string_view name, const Fact* fact, std::string_view unit, FactorInput& out) {
    if (fact && fact->known() && fact->source)
        out.sources.push_back({std::string(name), *fact, unit});
}

static void add_parameter(const Result& r, Parameter parameter, FactorInput& out) {
    const ParameterInfo& info = info_of(parameter);
    add_source(info.name, &r.machine->parameters.fact(parameter), info.unit, out);
}

static void add_rate_sources(const Machine& machine, Resource resource, FactorInput& out) {
    for (const Fact* fact : machine.rates[static_cast<std::size_t>(resource)].facts)
        add_source(name_of(resource), fact, {}, out);
}

/// Every subgraph of the result with its repeats.
template <class F>
static void for_each_mapping(const Result& result, F&& f) {
    for (const ResultLeaf& leaf : leaves_of(result)) {
        for (const SubgraphEstimate& s : leaf.result->estimate.subgraphs)
            f(s.mapping, leaf.repeat * leaf.result->work->subgraphs[s.index].repeat, *leaf.result);
        f(leaf.result->estimate.network.fixed, leaf.repeat, *leaf.result);
    }
}

/// Parameters behind the demands of a lane, those with the longest times first.
static void add_parameters(const Result& result, Lane lane, FactorInput& out) {
    std::map<Parameter, double> seconds;
    for_each_mapping(result, [&](const Mapping& mapping, double repeat, const Result& leaf) {
        for (const Demand& d : mapping.all())
            if (d.lane == lane && d.reason != Parameter::count_)
                seconds[d.reason] += repeat * d.amount / (leaf.machine->rate(d.resource) * d.efficiency);
    });
    std::vector<std::pair<double, Parameter>> order;
    for (const auto& [parameter, time] : seconds)
        order.emplace_back(-time, parameter);
    std::ranges::sort(order);
    for (const auto& [time, parameter] : order)
        if (out.sources.size() < kMostSources)
            add_parameter(result, parameter, out);
}

/// Prices of the events that cost most.
static void add_prices(const Result& r, std::initializer_list<Event> list, FactorInput& out) {
    if (!r.machine->energy)
        return;
    std::vector<Event> order = kept(list, [&](Event e) { return r.estimate.energy[e] > 0; });
    std::ranges::sort(order, [&](Event x, Event y) { return r.estimate.energy[x] > r.estimate.energy[y]; });
    for (Event e : order) {
        if (out.sources.size() >= kMostSources)
            break;
        if (e != Event::mac) {
            add_source(name_of(e), &(*r.machine->energy)[e], "J", out);
            continue;
        }
        const auto most = std::ranges::max_element(r.estimate.events.macs);
        const auto p = static_cast<std::size_t>(most - r.estimate.events.macs.begin());
        add_source("mac_" + std::string(name_of(static_cast<Precision>(p))), &r.machine->energy->mac[p], "J",
                   out);
    }
}

static double ratio_or_zero(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

/// Facts of the engine that has the executed precision, and of its clock.
static void add_peak_sources(const Result& r, FactorInput& out) {
    const Precision p = r.estimate.executed.compute;
    const bool matrix = r.machine->matrix_ops(p) > 0;
    for (const Engine& engine : r.device->engines)
        if (engine.supports(p) && engine.kind == (matrix ? EngineClass::matrix : EngineClass::vector))
            add_source(fmt::format("{:g} {}s, operations per clock each", engine.count, engine.unit),
                       &engine.rate(p), "1", out);
    for (const Fact* clock : r.machine->rates[static_cast<std::size_t>(Resource::matrix_cycles)].facts)
        add_source("clock", clock, "Hz", out);
    if (out.sources.size() > kMostSources)
        out.sources.resize(kMostSources);
}

static void fill_bytes(const Result& r, FactorInput& out) {
    for_each_mapping(r, [&](const Mapping& mapping, double repeat, const Result&) {
        out.value += mapping.events[Event::dram_byte] * repeat / r.estimate.batch;
    });
    const MemoryLevel* largest = nullptr;
    for (const MemoryLevel& level : r.device->memory)
        if (level.capacity.known() && (!largest || level.capacity.value > largest->capacity.value))
            largest = &level;
    if (largest)
        add_source(largest->name + " capacity per " + largest->scope_name, &largest->capacity, "B", out);
}

double count_of(const EventCounts& events, std::initializer_list<Event> list) {
    double sum = 0;
    for (Event e : list)
        sum +=
            e == Event::mac ? std::accumulate(events.macs.begin(), events.macs.end(), events[e]) : events[e];
    return sum;
}

double joules_of(const EnergyBreakdown& energy, std::initializer_list<Event> list) {
    double sum = 0;
    for (Event e : list)
        sum += energy[e];
    return sum;
}

void add_function(std::size_t region, const std::vector<Factor>& factors,
                  const std::function<double(std::uint32_t mask)>& f, PartSums& sums) {
    const std::vector<double> parts = shapley(factors.size(), f);
    for (std::size_t i = 0; i < factors.size(); ++i)
        sums.add(region, factors[i], parts[i]);
}

void add_product(std::size_t region, double scale, const std::vector<std::pair<Factor, Pair>>& factors,
                 PartSums& sums) {
    std::vector<Factor> different;
    std::vector<Pair> pairs;
    for (const auto& [factor, pair] : factors)
        if (pair.equal()) {
            scale *= pair.a;
        } else {
            different.push_back(factor);
            pairs.push_back(pair);
        }
    if (different.empty() || scale == 0)
        return;
    add_function(
        region, different,
        [&](std::uint32_t mask) {
            double product = scale;
            for (std::size_t i = 0; i < pairs.size(); ++i)
                product *= pairs[i].of(mask >> i & 1U);
            return product;
        },
        sums);
}

// The same layer on the same device costs another time where the rest of the network takes the room that it
// had on the chip: weights that stayed are loaded for every inference, a pipeline of the whole network
// becomes contexts in turn, activations move to memory. Nothing of the layer itself changed, so that its
// work, bytes and fixed costs are no causes; the blocks that displace it are.

void attribute_displacement(const Sides& sides, PartSums& sums) {
    for (std::size_t region = 0; region < sides.displaced.size(); ++region)
        if (sides.displaced[region])
            for (const Factor factor : kPlaced)
                sums.move(region, factor, Factor::placement);
}

std::vector<bool> displaced_regions(const EstimateRecord& a, const EstimateRecord& b,
                                    const AlignedEstimates& aligned) {
    const bool same_place = a.hardware == b.hardware && a.stack == b.stack && a.precision == b.precision &&
                            a.batch == b.batch && a.graphs.size() == b.graphs.size();
    // Where everything computes the same, it is the device that changed.
    if (!same_place || !contains(aligned.unchanged, false))
        return {};
    std::vector<bool> displaced = aligned.unchanged;
    for (std::size_t r = 0; r < displaced.size(); ++r) {
        const CommonRegion& region = aligned.regions[r];
        const GraphPair& graphs = aligned.graphs[region.part];
        displaced[r] = displaced[r] && graphs.a->peak == graphs.b->peak &&
                       graphs.a->bandwidth == graphs.b->bandwidth && graphs.a->repeat == graphs.b->repeat &&
                       region.subgraphs[0].size() == region.subgraphs[1].size();
    }
    return displaced;
}

AlignedEstimates align(const EstimateRecord& a, const EstimateRecord& b) {
    AlignedEstimates out;
    std::vector<bool> taken(b.graphs.size());
    std::vector<std::size_t> partner(a.graphs.size(), std::size_t(-1));
    const auto pair_where = [&](auto same) {
        for (std::size_t i = 0; i < a.graphs.size(); ++i)
            for (std::size_t j = 0; j < b.graphs.size() && partner[i] == std::size_t(-1); ++j)
                if (!taken[j] && same(i, j)) {
                    partner[i] = j;
                    taken[j] = true;
                }
    };
    pair_where([&](std::size_t i, std::size_t j) { return a.graphs[i].name == b.graphs[j].name; });
    if (a.graphs.size() == 1 && b.graphs.size() == 1)
        pair_where([](std::size_t, std::size_t) { return true; });
    const auto stand_in = [&](const EstimateRecord& record) {
        return &out.stand_ins.emplace_back(without_work(record.graphs.front()));
    };
    for (std::size_t i = 0; i < a.graphs.size(); ++i)
        out.graphs.push_back(
            {&a.graphs[i], partner[i] == std::size_t(-1) ? stand_in(b) : &b.graphs[partner[i]]});
    for (std::size_t j = 0; j < b.graphs.size(); ++j)
        if (!taken[j])
            out.graphs.push_back({stand_in(a), &b.graphs[j]});
    for (std::size_t part = 0; part < out.graphs.size(); ++part)
        add_regions(out.graphs[part], part, out);
    return out;
}

/// Sums of the factored model over all regions.
struct FactorInputs::Totals {
    RegionTime sum;
    double capacity = 0; ///< operations that the compute time had room for
    double lanes = 0;    ///< compute, on-chip and memory time one after another
    double fixed = 0, on_chip = 0;
    double peak = 0, bandwidth = 0, clock = 1, concurrency = 1;

    void add(const RegionTime& t, const DeviceTime& d) {
        sum += t;
        capacity += t.compute_s * d.peak * d.clock_ratio;
        const double paths = t.on_chip_clocked_s / d.clock_ratio + t.on_chip_s;
        on_chip += paths;
        lanes += t.compute_s + paths + t.memory_s + t.weight_s;
        fixed += t.fixed_clocked_s / d.clock_ratio + t.fixed_s;
    }
};

FactorInputs::FactorInputs(const Result& result, const CostOptions& cost) : result_(result), cost_(cost) {}
FactorInputs::~FactorInputs() = default;

const FactorInputs::Totals& FactorInputs::totals() {
    if (totals_)
        return *totals_;
    totals_ = std::make_unique<Totals>();
    const std::array<const Result*, 1> one = {&result_};
    const auto regions = common_regions(one);
    const auto leaves = leaves_of(result_);
    for (std::size_t part = 0; part < leaves.size(); ++part) {
        const GraphRecord graph = record_of_graph(*leaves[part].result, RecordDetail::numbers);
        const DeviceTime d = time_model(graph, regions, 0, part, leaves[part].repeat);
        for (const RegionTime& t : d.regions)
            totals_->add(t, d);
        totals_->add(d.network, d);
        totals_->peak = d.peak;
        totals_->bandwidth = d.bandwidth;
        totals_->clock = d.clock_ratio / d.stretch;
        totals_->concurrency = d.concurrency;
    }
    return *totals_;
}

void FactorInputs::fill_time(Factor factor, FactorInput& out) {
    const Result& r = result_;
    const Totals& t = totals();
    switch (factor) {
    case Factor::peak:
        out.value = t.peak;
        add_peak_sources(r, out);
        break;
    case Factor::achieved:
        out.value = ratio_or_zero(t.sum.device_operations, t.capacity);
        add_parameters(r, Lane::compute, out);
        break;
    case Factor::on_chip:
        out.value = t.on_chip;
        for (Resource level : {Resource::l1_bytes, Resource::l2_bytes, Resource::llc_bytes})
            add_rate_sources(*r.machine, level, out);
        break;
    case Factor::bandwidth:
        out.value = t.bandwidth;
        add_rate_sources(*r.machine, Resource::dram_bytes, out);
        add_parameter(r, Parameter::dram_efficiency, out);
        break;
    case Factor::bandwidth_share:
        out.value =
            ratio_or_zero(t.sum.bytes + t.sum.weight_bytes, (t.sum.memory_s + t.sum.weight_s) * t.bandwidth);
        add_parameters(r, Lane::memory, out);
        break;
    case Factor::overlap: // time that hiding one lane behind another saves, and serial subgraphs give back
        out.value = t.lanes > 0 ? 1 - t.sum.body_s / t.lanes : 0;
        add_source("combine_exponent", &r.runtime->combine_exponent, "1", out);
        break;
    case Factor::fixed_cost:
        out.value = t.fixed;
        add_parameters(r, Lane::overhead, out);
        break;
    case Factor::work:
        out.value = t.sum.operations;
        break;
    case Factor::kernels:
        out.value = t.sum.starts;
        break;
    case Factor::power_limit:
        out.value = t.clock;
        add_source("power limit",
                   r.machine->mode && r.machine->mode->limit.known() ? &r.machine->mode->limit
                                                                     : &r.device->tdp,
                   "W", out);
        break;
    default:
        out.value = t.concurrency;
        break;
    }
}

FactorInput FactorInputs::of(Factor factor) {
    FactorInput out;
    const Result& r = result_;
    const auto priced = [&](bool price, std::initializer_list<Event> events) {
        const double count = count_of(r.estimate.events, events) / r.estimate.batch;
        out.value =
            price ? ratio_or_zero(joules_of(r.estimate.energy, events) / r.estimate.batch, count) : count;
        if (price)
            add_prices(r, events, out);
    };
    switch (factor) {
    case Factor::memory_bytes:
        fill_bytes(r, out);
        break;
    case Factor::host:
        out.value = totals().sum.host_s;
        for (Parameter p : kParametersOf<ParameterRole::fallback>)
            add_parameter(r, p, out);
        break;
    case Factor::operations:
    case Factor::operation_energy:
        priced(factor == Factor::operation_energy, {Event::mac, Event::vector_op, Event::special_op});
        break;
    case Factor::control: {
        const auto events = {Event::instruction, Event::coherence, Event::scheduling, Event::domain_token,
                             Event::configuration_byte};
        out.value = joules_of(r.estimate.energy, events) / r.estimate.batch;
        add_prices(r, events, out);
        break;
    }
    case Factor::near_bytes:
    case Factor::near_energy:
        priced(factor == Factor::near_energy,
               {Event::register_byte, Event::l1_byte, Event::accumulator_byte});
        break;
    case Factor::far_bytes:
    case Factor::far_energy:
        priced(factor == Factor::far_energy, {Event::l2_byte, Event::llc_byte});
        break;
    case Factor::fabric_bytes:
    case Factor::fabric_energy:
        priced(factor == Factor::fabric_energy,
               {Event::systolic_hop, Event::weight_load_byte, Event::streamer_byte, Event::routing_byte});
        break;
    case Factor::memory_energy:
        priced(true, {Event::dram_byte});
        break;
    case Factor::static_power:
        out.value = r.machine->static_power_w;
        if (r.machine->mode && r.machine->mode->active_idle.known())
            add_source("active idle power", &r.machine->mode->active_idle, "W", out);
        else if (r.machine->energy)
            add_source("static power", &r.machine->energy->static_power, "W", out);
        break;
    case Factor::time:
        out.value = 1 / r.estimate.throughput_per_s;
        break;
    case Factor::surroundings: {
        CostOptions at_chip = cost_;
        at_chip.power_at = PowerBoundary::chip;
        out.value =
            value_of(r, metric::power, cost_).value_or(0) - value_of(r, metric::power, at_chip).value_or(0);
        if (r.machine->host)
            add_source("idle power of " + r.machine->host->id, &r.machine->host->idle, "W", out);
        break;
    }
    case Factor::weights:
    case Factor::placement:
        out.value = r.estimate.memory.weight_bytes;
        break;
    case Factor::activations:
        out.value = r.estimate.memory.activation_bytes;
        break;
    case Factor::kv_cache:
        out.value = r.estimate.memory.kv_cache_bytes;
        break;
    case Factor::workspace:
        out.value = r.estimate.memory.workspace_bytes;
        break;
    case Factor::device_price:
    case Factor::electricity: {
        const Cost cost = cost_of(r, cost_);
        const bool owned = cost.way() == Tenure::buy;
        const double electricity = owned ? *cost.electricity : 0;
        out.value = factor == Factor::electricity
                        ? electricity
                        : (cost.best().value_or(0) - electricity) * cost.inferences_per_s;
        if (r.device->cloud_price && r.device->cloud_price->amount.known() && !owned)
            add_source("cloud price", &r.device->cloud_price->amount, {}, out);
        if (r.device->list_price && r.device->list_price->amount.known() && owned)
            add_source("list price", &r.device->list_price->amount, {}, out);
        if (r.device->server_price && owned)
            add_source("server price", &r.device->server_price->amount, {}, out);
        break;
    }
    default:
        fill_time(factor, out);
        break;
    }
    return out;
}

} // namespace archsim
