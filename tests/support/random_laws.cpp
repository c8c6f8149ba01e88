#include "support/random_laws.hpp"

#include "archsim/hardware/family.hpp"
#include "hardware/energy_table.hpp"
#include "map/on_chip.hpp"
#include "session/graph_run.hpp"

#include "laws/laws.hpp"
#include "support/random_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace archsim::test {

namespace {

/// Rounding.
constexpr double kRounding = 1e-6;
/// What the search for a clock leaves open where a limit leaves a fiftieth of it.
constexpr double kSearch = 1e-5;
/// Schedule and clock under a power limit are found in turns, few of them.
constexpr double kOfClock = 1e-3;

/// One question, but for its network.
struct Question {
    std::string device;
    std::int64_t batch = 1;
    Conditions conditions;
};

/// A network at several batches; each is bound once.
class Network {
  public:
    explicit Network(std::uint64_t seed) {
        RandomSource random(seed);
        model_ = random_network(random);
    }
    std::shared_ptr<const BoundModel> at(std::int64_t batch) {
        std::shared_ptr<const BoundModel>& bound = by_batch_[batch];
        if (!bound)
            bound = laws::session().bind(model_, batch);
        return bound;
    }
    Result run(const Question& q) { return run_graph(laws::session(), at(q.batch), q.device, q.conditions); }

  private:
    ImportedGraph model_;
    std::map<std::int64_t, std::shared_ptr<const BoundModel>> by_batch_;
};

std::string text_of(const Question& q) {
    std::string text = fmt::format("{} batch {} {} {}", q.device, q.batch,
                                   name_of(q.conditions.precision.compute), name_of(q.conditions.scenario));
    if (!q.conditions.stack.empty())
        text += " on " + q.conditions.stack;
    if (q.conditions.scope == Scope::end_to_end)
        text += " end to end";
    return text;
}

/// What a law says of one question: nothing where it does not apply, an empty text where it holds.
using Verdict = std::optional<std::string>;

/// Not slower: neither the time of a batch nor the interval between batches grows.
std::string not_slower(const Result& less, const Result& more, std::string_view what, double times = 1,
                       double allowed = kRounding) {
    const Estimate &a = less.estimate, &b = more.estimate;
    if (!more.ok())
        return fmt::format("{}: {}", what, b.reason);
    if (b.latency_s > a.latency_s * times * (1 + allowed))
        return fmt::format("{}: latency {:.6g} -> {:.6g} ms ({:.2f}x)", what, a.latency_s * times * 1e3,
                           b.latency_s * 1e3, b.latency_s / a.latency_s / times);
    const double interval_a = a.batch / a.throughput_per_s * times, interval_b = b.batch / b.throughput_per_s;
    if (interval_b > interval_a * (1 + allowed))
        return fmt::format("{}: interval {:.6g} -> {:.6g} ms ({:.2f}x)", what, interval_a * 1e3,
                           interval_b * 1e3, interval_b / interval_a);
    return {};
}

/// What a larger structure may cost: its choices are those of least cycles, which may move more bytes, and
/// take more energy where power is limited.
constexpr double kOfStructure = 0.05;

/// Not slower, or not by more than it saves: a batch is cut where energy times time does not grow either,
/// which more memory makes a sharper demand, so that a slower schedule with less energy may be the one that
/// is left.
std::string not_worse(const Result& less, const Result& more, std::string_view what, double allowed) {
    std::string slower = not_slower(less, more, what, 1, allowed);
    if (slower.empty() || !more.ok() || more.estimate.pieces <= 1)
        return slower;
    const auto product = [](const Result& r) {
        return r.estimate.latency_s * r.estimate.energy_per_inference_j;
    };
    return product(more) <= product(less) * (1 + allowed) ? "" : slower;
}

constexpr double kFactors[] = {1.01, 1.1, 1.25, 1.5, 2, 2, 2, 3, 4, 8};

Verdict answers_are_numbers(Network& network, const Question& q, RandomSource&) {
    const Result r = network.run(q);
    const Estimate& e = r.estimate;
    if (!r.ok())
        return e.reason.empty() ? "no answer and no reason" : Verdict();
    const auto positive = [](double x) { return std::isfinite(x) && x > 0; };
    if (!positive(e.latency_s) || !positive(e.throughput_per_s))
        return fmt::format("latency {} s, throughput {}/s", e.latency_s, e.throughput_per_s);
    if (r.machine->energy && !(positive(e.energy_per_inference_j) && positive(e.power_w)))
        return fmt::format("energy {} J, power {} W", e.energy_per_inference_j, e.power_w);
    if (!(e.utilization >= 0 && e.utilization <= 1 + kRounding))
        return fmt::format("utilisation {}", e.utilization);
    if (!positive(e.latency_interval.low) || !std::isfinite(e.latency_interval.high) ||
        e.latency_interval.low > e.latency_s * (1 + kRounding) ||
        e.latency_interval.high < e.latency_s * (1 - kRounding))
        return fmt::format("latency {} s in {} to {}", e.latency_s, e.latency_interval.low,
                           e.latency_interval.high);
    return "";
}

bool is_of(const Question& q, std::string_view family) {
    return name_of(laws::session().hardware().device(q.device).device->family) == family;
}

/// Cuts of a batch are chosen also for energy, which decides how fast a limited part runs; kernels of GPUs
/// for the cycles of one inference, whatever bytes they move and however many inferences share the chip.
double of_choices(const Result& r) {
    const bool of_kernels = r.device->family == Family("gpu");
    return r.estimate.power_limited || r.estimate.pieces > 1 || of_kernels ? kOfStructure : kRounding;
}

/// Not the caches of processors: a byte waits for the level alone that holds it, and what stacks were
/// measured to take from a cache (2.9 bytes per clock and core) may be less than what DRAM gives, so that a
/// larger cache holds more of what is slow. That is of the fitted rates, not of physics. Their cores run
/// streams side by side for throughput, each of which may take longer beside more others.
Verdict more_structure(Network& network, const Question& q, RandomSource& random, Structure part) {
    if (part == Structure::on_chip_memory && is_of(q, "cpu"))
        return {};
    Question more = q;
    double factor = random.one_of(kFactors);
    if (part == Structure::units) { // parts of different numbers stay in proportion, and have their memory
        factor = std::max(2.0, std::floor(factor));
        if (!is_of(q, "cpu"))
            more.conditions.structure[Structure::on_chip_memory] = factor;
    }
    if (part == Structure::array && is_of(q, "gpu")) // whose tiles are chosen alone
        return {};
    if (part == Structure::array)
        factor = std::min(factor, 2.0);
    more.conditions.structure[part] = factor;
    Result base = network.run(q);
    if (!base.ok())
        return {};
    const Result larger = network.run(more);
    if (part == Structure::units && is_of(q, "cpu") && q.conditions.scenario == Scenario::throughput)
        base.estimate.latency_s = std::max(base.estimate.latency_s, larger.estimate.latency_s);
    const std::string what = fmt::format("{} x {}", name_of(part), factor);
    // Columns are cut by the width of a systolic array alone, so that a wider one fills for longer: of
    // networks of microseconds a fifth. A limit of the model: whether compilers cut finer was not looked at.
    constexpr double kOfFilling = 0.2;
    const bool array = part == Structure::array;
    return not_worse(base, larger, what,
                     part == Structure::clock    ? kSearch
                     : array && is_of(q, "tpu")  ? kOfFilling
                     : array && is_of(q, "cgra") ? kRounding
                                                 : kOfStructure);
}

template <Structure part>
Verdict more_of_structure(Network& network, const Question& q, RandomSource& random) {
    return more_structure(network, q, random, part);
}

template <Lever lever>
Verdict more_of_rate(Network& network, const Question& q, RandomSource& random) {
    Question more = q;
    const double factor = random.one_of(kFactors);
    more.conditions.changes[lever] = factor;
    const Result base = network.run(q);
    if (!base.ok())
        return {};
    const Result faster = network.run(more);
    return not_slower(base, faster, fmt::format("{} x {}", info_of(lever).name, factor), 1,
                      of_choices(faster));
}

/// Where software manages the memory: libraries for caches run a batch whole, however it falls out of them.
Verdict batch_in_parts(Network& network, const Question& q, RandomSource& random) {
    static constexpr std::int64_t kParts[] = {2, 2, 2, 3, 4, 8};
    const std::int64_t parts = random.one_of(kParts);
    Question more = q;
    more.batch *= parts;
    const Result base = network.run(q);
    if (!base.ok() || managed_memory_bytes(*base.machine) <= 0)
        return {};
    const Result whole = network.run(more);
    if (!whole.ok()) // the parts need less memory
        return {};
    std::string slower =
        not_slower(base, whole, fmt::format("batch {} in {} parts", more.batch, parts),
                   static_cast<double>(parts), whole.estimate.power_limited ? kOfClock : kRounding);
    if (!slower.empty())
        return slower;
    // A core without an image of its own leaves its memory unused.
    const double unused = is_of(q, "tpu") ? 2 * kOfStructure : kOfStructure;
    if (whole.estimate.latency_s < base.estimate.latency_s * (1 - unused))
        return fmt::format("batch {}: latency {:.6g} -> {:.6g} ms", more.batch, base.estimate.latency_s * 1e3,
                           whole.estimate.latency_s * 1e3);
    return "";
}

Verdict narrower_format(Network& network, const Question& q, RandomSource& random) {
    static constexpr std::pair<Precision, Precision> kPairs[] = {{Precision::fp32, Precision::fp16},
                                                                 {Precision::fp16, Precision::int8},
                                                                 {Precision::fp32, Precision::int8},
                                                                 {Precision::fp16, Precision::fp8},
                                                                 {Precision::fp8, Precision::fp4}};
    const auto [wide, narrow] = random.one_of(kPairs);
    Question one = q, other = q;
    one.conditions.precision = PrecisionConfig::uniform(wide);
    other.conditions.precision = PrecisionConfig::uniform(narrow);
    const Result a = network.run(one), b = network.run(other);
    if (!a.ok() || !b.ok() || b.estimate.executed.compute != narrow || a.estimate.executed.compute != wide ||
        !a.estimate.precision_note.empty() || !b.estimate.precision_note.empty())
        return {};
    // What both have no engine for, or a slower one, is converted.
    const EngineClass engine = b.machine->matrix_ops(narrow) > 0 ? EngineClass::matrix : EngineClass::vector;
    if (engine != EngineClass::matrix || a.machine->matrix_ops(wide) <= 0 ||
        b.machine->peak_ops(narrow) <= a.machine->peak_ops(wide))
        return {};
    return not_slower(a, b, fmt::format("{} for {}", name_of(narrow), name_of(wide)), 1, of_choices(b));
}

/// A device, and one that has at least as much of everything.
struct Pair {
    std::string less, more;
};

/// Whether `b` has at least as much of everything that the formulas read as `a`, at the same parameters.
bool dominates(const Machine& a, const Machine& b) {
    if (a.device->family == Family("cpu") || a.device->family != b.device->family ||
        a.runtime->id != b.runtime->id || a.device->id == b.device->id)
        return false;
    for (std::size_t p = 0; p < a.parameters.facts.size(); ++p) {
        const Fact &x = a.parameters.facts[p], &y = b.parameters.facts[p];
        if (x.known() != y.known() || (x.known() && x.value != y.value))
            return false;
    }
    for (std::size_t r = 0; r < kResourceCount; ++r)
        if (b.rates[r].value < a.rates[r].value)
            return false;
    for (const Precision p : kPrecisions)
        if (b.matrix_ops(p) < a.matrix_ops(p) || b.vector_ops(p) < a.vector_ops(p) ||
            (b.matrix_ops(p) > 0) != (a.matrix_ops(p) > 0) || (b.vector_ops(p) > 0) != (a.vector_ops(p) > 0))
            return false;
    // A product that is too small for all units has a few of them.
    for (const EngineClass kind : {EngineClass::matrix, EngineClass::vector})
        for (const Precision p : kPrecisions)
            if (b.device->peak(kind, p) / b.units < a.device->peak(kind, p) / a.units)
                return false;
    if (b.units < a.units || b.memory_capacity_bytes < a.memory_capacity_bytes ||
        (b.power_limit_w > 0 && (a.power_limit_w <= 0 || b.power_limit_w < a.power_limit_w)))
        return false;
    if (a.device->memory.size() != b.device->memory.size())
        return false;
    for (std::size_t i = 0; i < a.device->memory.size(); ++i) {
        const MemoryLevel &x = a.device->memory[i], &y = b.device->memory[i];
        if (x.rank != y.rank || y.capacity.value_or(0) < x.capacity.value_or(0) || y.count < x.count)
            return false;
    }
    // A chip that shares the memory of its host has nothing to transfer.
    const auto transfer = [](const Machine& m) { return m.device->host_link_bandwidth.value_or(0); };
    if ((transfer(a) > 0) != (transfer(b) > 0) || transfer(b) < transfer(a))
        return false;
    for (const FactRow& row : a.device->family.row().facts) {
        const Fact &x = family_number(*a.device, row.name), &y = family_number(*b.device, row.name);
        if (x.known() != y.known() || (x.known() && y.value < x.value))
            return false;
    }
    return true;
}

const std::vector<Pair>& siblings() {
    static const std::vector<Pair> pairs = [] {
        std::vector<std::shared_ptr<const Machine>> machines;
        std::vector<std::string> names;
        for (const std::string& name : laws::hardware())
            try {
                machines.push_back(laws::session().machine(name));
                names.push_back(name);
            } catch (const Error&) {
                continue;
            }
        std::vector<Pair> found;
        for (std::size_t i = 0; i < machines.size(); ++i)
            for (std::size_t k = 0; k < machines.size(); ++k)
                if (dominates(*machines[i], *machines[k]))
                    found.push_back({names[i], names[k]});
        return found;
    }();
    return pairs;
}

/// Whether nothing that `b` does takes more energy than on `a`: otherwise a limit of power holds `b` back
/// more.
bool draws_no_more(const Machine& a, const Machine& b) {
    if (!a.energy || !b.energy)
        return false;
    const auto no_more = [](const Fact& x, const Fact& y) { return !y.known() || y.value <= x.value_or(0); };
    const EnergyTable &x = *a.energy, &y = *b.energy;
    return b.static_power_w <= a.static_power_w && std::ranges::equal(x.mac, y.mac, no_more) &&
           std::ranges::equal(x.event, y.event, no_more) && y.rated_mac == x.rated_mac;
}

Verdict bigger_sibling(Network& network, const Question& q, RandomSource& random) {
    if (siblings().empty())
        return {};
    const Pair& pair = siblings()[random.below(siblings().size())];
    Question one = q, other = q;
    one.device = pair.less;
    other.device = pair.more;
    one.conditions.stack = other.conditions.stack = {};
    const Result a = network.run(one);
    if (!a.ok())
        return {};
    const Result b = network.run(other);
    if (b.estimate.power_limited && !draws_no_more(*a.machine, *b.machine))
        return {};
    return not_slower(a, b, pair.less + " -> " + pair.more, 1, kOfStructure);
}

struct Law {
    const char* name;
    Verdict (*check)(Network&, const Question&, RandomSource&);
};

constexpr std::array kLaws = {
    Law{"an answer is a positive number", answers_are_numbers},
    Law{"more units are never slower", more_of_structure<Structure::units>},
    Law{"larger arrays are never slower", more_of_structure<Structure::array>},
    Law{"more on-chip memory is never slower", more_of_structure<Structure::on_chip_memory>},
    Law{"a higher clock is never slower", more_of_structure<Structure::clock>},
    Law{"more peak is never slower", more_of_rate<Lever::peak>},
    Law{"more bandwidth is never slower", more_of_rate<Lever::bandwidth>},
    Law{"more on-chip bandwidth is never slower", more_of_rate<Lever::on_chip>},
    Law{"a higher power limit is never slower", more_of_rate<Lever::power_limit>},
    Law{"more memory is never slower", more_of_rate<Lever::capacity>},
    Law{"a batch never costs more than its parts", batch_in_parts},
    Law{"a narrower format is never slower", narrower_format},
    Law{"a bigger sibling is never slower", bigger_sibling},
};

Question random_question(const LawOptions& options, RandomSource& random) {
    Question q;
    q.device =
        options.device.empty() ? laws::hardware()[random.below(laws::hardware().size())] : options.device;
    static constexpr Precision kFormats[] = {Precision::fp32, Precision::fp16, Precision::int8,
                                             Precision::int8, Precision::bf16, Precision::fp8};
    static constexpr std::int64_t kBatches[] = {1, 1, 1, 1, 2, 3, 4, 8, 16, 32};
    q.conditions.precision = PrecisionConfig::uniform(random.one_of(kFormats));
    q.batch = random.one_of(kBatches);
    if (random.percent(30))
        q.conditions.scenario = Scenario::throughput;
    if (random.percent(20))
        q.conditions.scope = Scope::end_to_end;
    if (random.percent(30)) {
        const auto device = laws::session().hardware().device(q.device).device;
        if (!device->runtimes.empty())
            q.conditions.stack = device->runtimes[random.below(device->runtimes.size())];
    }
    q.conditions.keep_subgraphs = false;
    return q;
}

} // namespace

std::vector<LawTally> check_random_laws(const LawOptions& options) {
    constexpr int kQuestions = 4; // of one network and law
    constexpr std::size_t kShown = 10;
    std::vector<LawTally> tallies;
    for (const Law& law : kLaws)
        tallies.push_back({law.name, 0, 0, {}});
    for (std::uint64_t asked = 0; options.go_on(asked); ++asked) {
        const std::uint64_t seed = options.seed + asked;
        Network network(seed);
        for (std::size_t i = 0; i < kLaws.size(); ++i) {
            const Law& law = kLaws[i];
            if (std::string_view(law.name).find(options.only) == std::string_view::npos)
                continue;
            RandomSource random(seed * 1000003 + i);
            for (int k = 0; k < kQuestions; ++k) {
                const Question q = random_question(options, random);
                const Verdict verdict = law.check(network, q, random);
                if (!verdict)
                    continue;
                LawTally& tally = tallies[i];
                tally.checks += 1;
                if (verdict->empty())
                    continue;
                tally.violations += 1;
                if (tally.first_violations.size() < kShown)
                    tally.first_violations.push_back(
                        fmt::format("seed {}: {}: {}", seed, text_of(q), *verdict));
            }
        }
    }
    return tallies;
}

} // namespace archsim::test
