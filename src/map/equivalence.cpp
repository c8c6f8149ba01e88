#include "map/network_parts.hpp"

#include "hardware/energy_table.hpp"
#include "map/counts_of_structure.hpp"
#include "map/format_invariants.hpp"
#include "map/neighbours.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace archsim {

template <class Value>
static constexpr bool kPlain = std::is_arithmetic_v<Value> || std::is_enum_v<Value>;

/// Bytes of what is compared, one value after the other; lists are preceded by their length.
class Key {
  public:
    void clear() { used_ = 0; }
    std::string_view bytes() const { return {bytes_.data(), used_}; }

    template <class... Values>
    void put(const Values&... values) {
        if constexpr ((kPlain<Values> && ...)) {
            char* at = room((sizeof(Values) + ...)); // one look at the room for all of them
            (pack(values, at), ...);
        } else {
            (one(values), ...);
        }
    }

  private:
    /// That many bytes more, to be written.
    char* room(std::size_t bytes) {
        if (bytes_.size() - used_ < bytes)
            bytes_.resize(2 * bytes_.size() + bytes);
        used_ += bytes;
        return bytes_.data() + used_ - bytes;
    }
    template <class Value>
    static void pack(const Value& value, char*& at) {
        Value same = value;
        if constexpr (std::is_floating_point_v<Value>)
            same += 0.0; // -0 and 0 are one count
        std::memcpy(at, &same, sizeof same);
        at += sizeof same;
    }
    template <class Value>
    void one(const Value& value) {
        static_assert(kPlain<Value>);
        put(value);
    }
    template <std::size_t N>
    void one(const std::array<double, N>& values) {
        char* at = room(sizeof values);
        for (const double value : values)
            pack(value, at);
    }
    template <class Value>
    void one(const std::vector<Value>& values) {
        put(values.size());
        if constexpr (kPlain<Value>) {
            char* at = room(values.size() * sizeof(Value));
            for (const Value& value : values)
                pack(value, at);
        } else {
            for (const Value& value : values)
                one(value);
        }
    }
    template <class First, class Second>
    void one(const std::pair<First, Second>& pair) {
        put(pair.first, pair.second);
    }
    template <class Value>
    void one(const std::optional<Value>& value) {
        put(value.has_value());
        if (value)
            one(*value);
    }
    void one(const std::string& text) {
        put(text.size());
        std::copy(text.begin(), text.end(), room(text.size()));
    }
    // Each struct is taken apart into all of its members: one more, and this does not compile until it is
    // decided whether the new member tells subgraphs apart.
    void one(const Contraction& c) {
        const auto& [groups, m, n, k, weights_constant] = c;
        put(groups, m, n, k, weights_constant);
    }
    void one(const Window& w) {
        const auto& [batch, in_channels, out_channels, groups, in, out, kernel, stride, dilation,
                     transposed] = w;
        put(batch, in_channels, out_channels, groups, transposed);
        put(in, out, kernel, stride, dilation);
    }
    void one(const AttentionShape& a) {
        const auto& [batch, heads, kv_heads, query_length, kv_length, head_size, value_size, causal] = a;
        put(batch, heads, kv_heads, query_length, kv_length, head_size, value_size, causal);
    }
    void one(const OperatorWork& w) {
        const auto& [kind, fusion, macs, vector_ops, special_ops, contractions, window, attention,
                     serial_steps, partial_reads, partial_write, partial_writes, passes] = w;
        put(kind, fusion, macs, vector_ops, special_ops, serial_steps, passes);
        put(contractions, window, attention, partial_reads, partial_write, partial_writes);
    }

    std::vector<char> bytes_; ///< grown ahead
    std::size_t used_ = 0;
};

/// Gives equal keys one number: that of the first that has them.
class Numbering {
  public:
    std::uint32_t operator()(const Key& key, std::uint32_t next) {
        if (const auto known = seen_.find(key.bytes()); known != seen_.end())
            return known->second;
        return seen_.emplace(key.bytes(), next).first->second;
    }

  private:
    struct Hash {
        using is_transparent = void; // looks for bytes without making a string of them
        std::size_t operator()(std::string_view bytes) const { return std::hash<std::string_view>()(bytes); }
    };
    std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> seen_;
};

/// Writes a subgraph into a key: every tensor by its kind where it is first met, by its number from then on,
/// so that the pattern of who reads what is compared too.
class SubgraphKey {
  public:
    SubgraphKey(const ShapedGraph& graph, const GraphKinds& kinds)
        : graph_(graph), kinds_(kinds), number_(graph.tensors.size()) {}

    void put(const Subgraph& s, Key& key) {
        for (const TensorId id : met_)
            number_[id] = 0;
        met_.clear();
        // Names and predecessors tell nothing that counts.
        const auto& [name, anchor, kind, repeat, members, inputs, weights, outputs, predecessors, relaid,
                     gathered] = s;
        const auto at = std::ranges::find(members, anchor, &SubgraphMember::op);
        key.put(kind, repeat, members.size(), at - members.begin());
        for (const auto& [op, reason] : members)
            put(reason, op, key);
        if (at == members.end())
            put(FusionReason::starts_subgraph, anchor, key);
        for (const auto* tensors : {&inputs, &weights, &outputs, &relaid, &gathered})
            put(*tensors, key);
    }

  private:
    void put(FusionReason reason, std::uint32_t op, Key& key) {
        key.put(reason, kinds_.of_operator[op]);
        put(graph_.operators[op].inputs, key);
        put(graph_.operators[op].outputs, key);
    }
    void put(const TensorList& tensors, Key& key) {
        key.put(tensors.size());
        for (const TensorId id : tensors) {
            if (id == kNoTensor || number_[id] != 0) {
                key.put(id == kNoTensor ? kNoTensor : number_[id]);
                continue;
            }
            key.put(std::uint32_t{0}, kinds_.of_tensor[id]);
            met_.push_back(id);
            number_[id] = static_cast<std::uint32_t>(met_.size());
        }
    }

    const ShapedGraph& graph_;
    const GraphKinds& kinds_;
    std::vector<std::uint32_t> number_; ///< per tensor from 1, in the order they are met; 0: not yet
    std::vector<TensorId> met_;
};

/// Numbers of what a subgraph's place and the bytes alive tell apart, in a table without lists: most networks
/// have few hundred subgraphs, and every format asks.
class PlacesAndBytes {
  public:
    explicit PlacesAndBytes(std::size_t most) : slots_(std::bit_ceil(2 * most + 1)) {}

    /// `index`, or the one that came with the same place and bytes before.
    std::uint32_t first(std::uint32_t place, double alive, std::uint32_t index) {
        constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15; // Knuth's multiplicative hash: 2^64 / golden ratio
        const std::uint64_t hash = (std::bit_cast<std::uint64_t>(alive + 0.0) ^ place) * kOdd;
        std::size_t at = static_cast<std::size_t>(hash >> 32) & (slots_.size() - 1);
        while (slots_[at].index != kFree && (slots_[at].place != place || slots_[at].alive != alive))
            at = (at + 1) & (slots_.size() - 1);
        if (slots_[at].index == kFree)
            slots_[at] = {alive, place, index};
        return slots_[at].index;
    }

  private:
    static constexpr std::uint32_t kFree = UINT32_MAX;
    struct Slot {
        double alive = 0;
        std::uint32_t place = 0, index = kFree;
    };
    std::vector<Slot> slots_;
};

std::shared_ptr<const GraphKinds> find_kinds(const ShapedGraph& graph, const DerivedCounts* derived) {
    const std::vector<Operator>& operators = derived ? derived->operators : graph.operators;
    GraphKinds kinds{.lm_head = find_lm_head_weights(graph), .wide = find_wide_tensors(graph)};
    kinds.of_operator.reserve(operators.size());
    kinds.of_tensor.reserve(graph.tensors.size());
    Key key;
    Numbering operator_kinds, tensor_kinds;
    for (std::uint32_t i = 0; i < operators.size(); ++i) {
        // Tensors are compared where subgraphs read them. A subgraph repeats with its operators, and has none
        // that are folded.
        const auto& [name, type, inputs, outputs, repeat, folded, native_precision, work] = operators[i];
        key.clear();
        key.put(type, native_precision, work);
        if (derived)
            key.put(derived->link_elements[i], derived->collectives[i]);
        kinds.of_operator.push_back(operator_kinds(key, i));
    }
    std::vector<std::uint8_t> results(graph.tensors.size());
    for (const TensorId out : graph.outputs)
        if (out != kNoTensor)
            results[out] = 1;
    for (TensorId id = 0; id < graph.tensors.size(); ++id) {
        // The role of a tensor for people (learned, a statistic, of data-dependent size), whether callers may
        // replace it, which has decided how operators fuse, and how its stored elements pack values, which
        // storage_bits counts, change no work.
        const auto& [name, type, value_kind, role, known, data_dependent, at_upper_bound, buffer, replaceable,
                     constant, kv_cache, learned, weight_only, storage_bits, packing, shape] =
            graph.tensors[id];
        key.clear();
        key.put(type, role, known, constant, kv_cache, weight_only, storage_bits, kinds.lm_head[id],
                kinds.wide[id], results[id]);
        key.put(shape);
        if (derived)
            key.put(derived->tensor_share[id]);
        kinds.of_tensor.push_back(tensor_kinds(key, id));
    }
    return std::make_shared<const GraphKinds>(std::move(kinds));
}

SubgraphClasses classify_subgraphs(const ShapedGraph& graph, const GraphKinds& kinds,
                                   const Partition& partition) {
    const auto count = static_cast<std::uint32_t>(partition.subgraphs.size());
    SubgraphClasses classes{std::vector<std::uint32_t>(count), std::vector<std::uint32_t>(count)};
    SubgraphKey writer(graph, kinds);
    Key key;
    Numbering by_work, by_input, by_place;
    // The surroundings of products of one tensor are alike, and found once for all: there may be very many.
    constexpr std::uint32_t kNone = UINT32_MAX;
    std::vector<std::uint32_t> around(count, kNone);
    for (std::uint32_t i = 0; i < count; ++i) {
        key.clear();
        writer.put(partition.subgraphs[i], key);
        classes.by_work[i] = by_work(key, i);
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        if (around[i] == kNone) {
            key.clear();
            for_each_neighbour(partition, i, [&](std::uint32_t j) { key.put(classes.by_work[j]); });
            if (!key.bytes().empty()) {
                key.put(classes.by_work[i]);
                around[i] = by_input(key, i);
                for_each_neighbour(partition, i, [&](std::uint32_t j) { around[j] = around[i]; });
            }
        }
        key.clear();
        key.put(classes.by_work[i], around[i]);
        classes.by_place[i] = by_place(key, i);
    }
    return classes;
}

std::vector<std::uint32_t> find_representatives(const SubgraphClasses& classes,
                                                const std::vector<double>& timeline) {
    const auto count = static_cast<std::uint32_t>(classes.by_place.size());
    std::vector<std::uint32_t> first(count);
    PlacesAndBytes seen(count);
    for (std::uint32_t i = 0; i < count; ++i)
        first[i] = seen.first(classes.by_place[i], timeline[i], i);
    return first;
}

bool CountsOfStructure::counts_depend_on(Lever, const Machine&) const {
    return false;
}

const std::vector<std::uint32_t>& classes_for(const Mapper& mapper, const NetworkWork& work) {
    const auto* const known = dynamic_cast<const CountsOfStructure*>(&mapper);
    if (known == nullptr || !work.classes)
        return work.representatives;
    switch (known->looks_at()) {
    case LooksAt::work:
        return work.classes->by_work;
    case LooksAt::neighbours:
        return work.classes->by_place;
    case LooksAt::memory:
        break;
    }
    return work.representatives;
}

bool counts_depend_on(Lever lever, const Machine& machine) {
    const Mapper& mapper = machine.mapper ? *machine.mapper : mapper_for(machine.device->family);
    const auto* const known = dynamic_cast<const CountsOfStructure*>(&mapper);
    if (known == nullptr)
        return true;
    switch (lever) {
    case Lever::peak:
    case Lever::bandwidth:
    case Lever::on_chip:
        return known->counts_depend_on(lever, machine);
    case Lever::fixed_cost:
    case Lever::host_time:
        return true; // parameters, which mappers turn into demands
    default:
        return false; // limits and prices of events
    }
}

bool runs_alike(Precision a, Precision b, const Machine& machine) {
    if (a == b)
        return true;
    if (is_integer(a) || is_integer(b) || bits_of(a) != bits_of(b) ||
        machine.peak_ops(a) != machine.peak_ops(b))
        return false;
    if (machine.energy) {
        const Fact& price = machine.energy->mac[static_cast<std::size_t>(a)];
        const Fact& other = machine.energy->mac[static_cast<std::size_t>(b)];
        if (price.known() != other.known() || (price.known() && price.value != other.value))
            return false;
    }
    const Mapper& mapper = machine.mapper ? *machine.mapper : mapper_for(machine.device->family);
    const auto* const known = dynamic_cast<const CountsOfStructure*>(&mapper);
    return known != nullptr && !known->tells_apart(a, b, machine);
}

} // namespace archsim
