// Continuous batching: sequences at all stages of their answers share each step, together with the prompts of
// those that start (Yu et al., Orca, OSDI 2022; Agrawal et al., Sarathi, 2023).

#include "session/generation/step.hpp"

#include "core/data_dir.hpp"
#include "estimate/algebra.hpp"
#include "estimate/intervals.hpp"
#include "map/neighbours.hpp"
#include "session/server/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

namespace archsim {

static bool multiplies_activations(const SubgraphWork& work) {
    return std::ranges::any_of(work.operators, [](const OperatorUse& use) {
        return use.op->work.attention ||
               std::ranges::any_of(use.op->work.contractions,
                                   [](const Contraction& c) { return !c.weights_constant; });
    });
}

/// Weights of a step that reads them once for both: a prompt may need more of them than the decoding step
/// does (experts that no running sequence asks for), in the part of the steps that it is in. Worked: 40 of
/// 128 experts and all of them in one step of a hundred: 40 + 0.01 x 88.
static double join_weights(double decode, double prefill, double share) {
    return decode + std::min(share, 1.0) * std::max(0.0, prefill - decode);
}

/// Rows of both under one reading of the weights.
static Contraction join_rows(const Contraction& a, const Contraction& b, double share) {
    Contraction c = a;
    c.groups = join_weights(a.groups, b.groups, share);
    c.m = (a.groups * a.m + share * b.groups * b.m) / c.groups;
    return c;
}

static Operator join_operators(const Operator& a, const Operator& b, double share) {
    Operator op = a;
    for (std::size_t i = 0; i < op.work.contractions.size() && i < b.work.contractions.size(); ++i)
        op.work.contractions[i] = join_rows(a.work.contractions[i], b.work.contractions[i], share);
    op.work.macs += share * b.work.macs;
    op.work.vector_ops += share * b.work.vector_ops;
    op.work.special_ops += share * b.work.special_ops;
    return op;
}

static void join_bytes(SubgraphWork& a, const SubgraphWork& b, double share) {
    a.input_bytes += share * b.input_bytes;
    a.extra_bytes += share * b.extra_bytes;
    a.output_bytes += share * b.output_bytes;
    a.kv_bytes += share * b.kv_bytes;
    a.unfused_bytes += share * b.unfused_bytes;
    a.link_bytes += share * b.link_bytes;
    a.weight_bytes = join_weights(a.weight_bytes, b.weight_bytes, share);
    a.macs += share * b.macs;
    a.vector_ops += share * b.vector_ops;
    a.special_ops += share * b.special_ops;
}

static void join_uses(OperatorUse& a, const OperatorUse& b, double share) {
    a.read_bytes += share * b.read_bytes;
    a.written_bytes += share * b.written_bytes;
    a.weight_bytes = join_weights(a.weight_bytes, b.weight_bytes, share);
    a.output_elements += share * b.output_elements;
    a.input_elements += share * b.input_elements;
}

/// Operators of its own that a step points into; there is room for all of them from the start.
class OwnOperators {
  public:
    explicit OwnOperators(std::size_t most) {
        operators_.reserve(most);
        uses_.reserve(most);
    }
    /// Points a subgraph at copies of its operators. Returns what it now has of them, to be changed.
    template <class Copy>
    std::span<OperatorUse> add(SubgraphWork& work, Copy&& copy) {
        const std::size_t first = uses_.size();
        for (std::size_t i = 0; i < work.operators.size(); ++i) {
            const OperatorWork* before = &work.operators[i].op->work;
            operators_.push_back(copy(i));
            uses_.emplace_back(work.operators[i]).op = &operators_.back();
            if (work.anchor == before)
                work.anchor = &operators_.back().work;
        }
        const auto own = std::span(uses_).subspan(first);
        work.operators = own;
        return own;
    }
    /// Gives them to the step.
    void leave_to(NetworkWork& network) {
        network.uses = std::make_shared<const std::vector<OperatorUse>>(std::move(uses_));
        auto derived = std::make_shared<DerivedCounts>();
        derived->operators = std::move(operators_);
        network.derived = std::move(derived);
    }

  private:
    std::vector<Operator> operators_;
    std::vector<OperatorUse> uses_;
};

static bool same_structure(const NetworkWork& a, const NetworkWork& b) {
    return a.subgraphs.size() == b.subgraphs.size() &&
           std::equal(a.subgraphs.begin(), a.subgraphs.end(), b.subgraphs.begin(),
                      [](const SubgraphWork& x, const SubgraphWork& y) {
                          return x.name == y.name && x.operators.size() == y.operators.size();
                      });
}

/// Classes of subgraphs that are made of two others each, as NetworkWork::representatives has them.
class FirstOfPair {
  public:
    explicit FirstOfPair(std::vector<std::uint32_t>& classes) : classes_(classes) {}
    /// The first subgraph since forget() that was made of the same two; the next one itself where none was.
    std::uint32_t of(std::uint32_t a, std::uint32_t b) {
        const auto next = static_cast<std::uint32_t>(classes_.size());
        classes_.push_back(first_.try_emplace({a, b}, next).first->second);
        return classes_.back();
    }
    void forget() { first_.clear(); }

  private:
    std::vector<std::uint32_t>& classes_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> first_;
};

/// The counts of one subgraph at the name and place of another.
static SubgraphWork named_as(SubgraphWork counts, const SubgraphWork& other) {
    counts.name = other.name;
    counts.index = other.index;
    return counts;
}

static std::size_t operator_count(const NetworkWork& network) {
    std::size_t count = 0;
    for (const SubgraphWork& work : network.subgraphs)
        count += work.operators.size();
    return count;
}

NetworkWork mixed_step(const NetworkWork& decode, const NetworkWork& prefill, double share) {
    NetworkWork mixed = decode;
    mixed.representatives.clear();
    mixed.classes = nullptr; // those of `decode` alone
    OwnOperators own_operators(operator_count(decode) + operator_count(prefill));
    const bool aligned = same_structure(decode, prefill);
    // Equal where both parts are: the joined subgraph is made once for all of them.
    FirstOfPair firsts(mixed.representatives);
    const auto part = [](const NetworkWork& of, std::size_t i, bool there) {
        const bool classified = of.representatives.size() == of.subgraphs.size();
        return !there ? kNoPlace : classified ? of.representatives[i] : static_cast<std::uint32_t>(i);
    };
    std::vector<std::uint32_t> beside; // places in `prefill`, of what runs for the prompt alone
    std::vector<bool> for_each(prefill.subgraphs.size());
    for (std::size_t i = 0; i < prefill.subgraphs.size(); ++i) {
        const std::uint32_t like = part(prefill, i, true);
        for_each[i] = like < i ? for_each[like] : !aligned || multiplies_activations(prefill.subgraphs[i]);
        if (for_each[i])
            beside.push_back(static_cast<std::uint32_t>(i));
    }
    for (std::size_t i = 0; i < mixed.subgraphs.size(); ++i) {
        SubgraphWork& a = mixed.subgraphs[i];
        const std::uint32_t first = firsts.of(part(decode, i, true), part(prefill, i, aligned));
        if (first < i) {
            a = named_as(mixed.subgraphs[first], a);
            continue;
        }
        if (!aligned || for_each[i]) {
            own_operators.add(a, [&](std::size_t op) { return *a.operators[op].op; });
            continue;
        }
        const SubgraphWork& b = prefill.subgraphs[i];
        const auto uses = own_operators.add(a, [&](std::size_t op) {
            return join_operators(*a.operators[op].op, *b.operators[op].op, share);
        });
        for (std::size_t op = 0; op < uses.size(); ++op)
            join_uses(uses[op], b.operators[op], share);
        join_bytes(a, b, share);
    }
    firsts.forget();
    mixed.subgraphs.reserve(mixed.subgraphs.size() + beside.size());
    for (const std::uint32_t i : beside) {
        SubgraphWork own = prefill.subgraphs[i];
        if (!aligned) // its place is in another partition than that of the decoding step
            own.index = kNoPlace;
        const std::uint32_t first = firsts.of(part(decode, i, aligned), part(prefill, i, true));
        if (first < mixed.subgraphs.size()) {
            own = named_as(mixed.subgraphs[first], own);
        } else {
            own_operators.add(own, [&](std::size_t op) { return *prefill.subgraphs[i].operators[op].op; });
            own.repeat *= share;
        }
        mixed.subgraphs.push_back(own);
    }
    mixed.macs += share * prefill.macs;
    mixed.operations += share * prefill.operations;
    mixed.largest_activation_bytes =
        std::max(decode.largest_activation_bytes, prefill.largest_activation_bytes);
    own_operators.leave_to(mixed);
    return mixed;
}

SaturatedServing serve_saturated(const StepRunner& runner, const Prompt& q, Estimate& step, double at_most) {
    SaturatedServing serving;
    const Machine& machine = runner.machine();
    const auto refuse = [&](Status status, std::string reason) {
        step.status = status;
        step.reason = std::move(reason);
        return serving;
    };
    if (machine.memory_capacity_bytes <= 0)
        return refuse(Status::incomplete,
                      "the device's memory capacity is unknown, and with it how many sequences "
                      "it serves at once");
    const auto generated = static_cast<double>(q.generate);
    const std::int64_t end = q.tokens + q.generate;
    const auto one = runner.work(1, 1, std::max<std::int64_t>(end - 1, 0));
    // Beams share the cache of the prompt, but for what leaves a window: each has its own answer.
    double cache = one->memory.kv_cache_bytes;
    if (q.beams > 1)
        cache += (q.beams - 1) *
                 runner.work(1, 1, std::max<std::int64_t>(q.generate - 1, 0))->memory.kv_cache_bytes;
    const double per_request = cache + q.beams * one->memory.arena_bytes;
    const double weights = held_weights(*one, machine);
    const double room = machine.memory_capacity_bytes - weights -
                        server_memory(machine, 0, data_table("servers.json")).reserved_bytes;
    const double largest = machine.param(Parameter::largest_batch, 1e9);
    const double most = at_most > 0 ? std::min(at_most, largest) : largest;
    const double requests =
        std::min(most, std::floor(machine.param(Parameter::cache_memory_share, 1) * room / per_request));
    if (requests < 1)
        return refuse(
            Status::does_not_fit,
            fmt::format("no room for the keys and values of one sequence beside {:.1f} GB of weights",
                        weights / 1e9));
    // On average a running sequence is half done; beams keep their own copy of the prompt's keys and values.
    const auto running = static_cast<std::int64_t>(requests * q.beams);
    const std::int64_t context = q.tokens + q.generate / 2;
    const auto decode = runner.work(running, 1, runner.context_read(context, std::max(q.context, end)));
    const auto prefill = runner.work(1, q.tokens, 0);
    NetworkWork mixed = mixed_step(*decode, *prefill, requests / generated);
    mixed.batch = requests;
    // In memory all sequences grow to their end.
    mixed.memory.kv_cache_bytes = requests * cache;
    step = runner.price(mixed, true);
    if (step.status != Status::ok)
        return serving;
    add_intervals(machine, SpreadOf::decode, step);
    step = runner.with_sampling(std::move(step), requests, q.sampled);
    serving.sequences = requests;
    serving.step_s = step.latency_s;
    serving.tokens_per_s = requests / step.latency_s;
    serving.tokens_interval = {requests / step.latency_interval.high, requests / step.latency_interval.low};
    serving.energy_per_token_j = step.energy.total() / requests;
    return serving;
}

} // namespace archsim
