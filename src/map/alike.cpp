#include "map/alike.hpp"

#include "map/neighbours.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace archsim {

namespace {

template <class Value>
constexpr bool kPlain = std::is_arithmetic_v<Value> || std::is_enum_v<Value>;

/// Bytes of what is compared, one value after the other; lists are preceded by their length.
class Key {
  public:
    void clear() { bytes_.clear(); }
    const std::string& bytes() const { return bytes_; }

    template <class... Values>
    void put(const Values&... values) {
        if constexpr ((kPlain<Values> && ...)) {
            std::array<char, (sizeof(Values) + ...)> packed; // one growth of the key for all of them
            char* at = packed.data();
            (pack(values, at), ...);
            bytes_.append(packed.data(), packed.size());
        } else {
            (one(values), ...);
        }
    }

  private:
    template <class Value>
    static void pack(const Value& value, char*& at) {
        Value same = value;
        if constexpr (std::is_floating_point_v<Value>)
            same += 0.0; // -0 and 0 count alike
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
        for (const double value : values)
            put(value);
    }
    template <class Value>
    void one(const std::vector<Value>& values) {
        put(values.size());
        for (const Value& value : values)
            one(value);
    }
    template <class First, class Second>
    void one(const std::pair<First, Second>& pair) {
        put(pair.first, pair.second);
    }
    template <class Value, std::uint32_t N>
    void one(const InlineVector<Value, N>& values) {
        put(values.size());
        for (const Value& value : values)
            one(value);
    }
    template <class Value>
    void one(const std::optional<Value>& value) {
        maybe(value);
    }
    template <class Value>
    void one(const Boxed<Value>& value) {
        maybe(value);
    }
    template <class Maybe>
    void maybe(const Maybe& value) {
        put(value.has_value());
        if (value)
            one(*value);
    }
    void one(const std::string& text) {
        put(text.size());
        bytes_ += text;
    }
    void one(const Contraction& c) { put(c.groups, c.m, c.n, c.k, c.weights_constant); }
    void one(const Window& w) {
        put(w.batch, w.in_channels, w.out_channels, w.groups, w.transposed);
        put(w.in, w.out, w.kernel, w.stride, w.dilation);
    }
    void one(const AttentionShape& a) {
        put(a.batch, a.heads, a.kv_heads, a.query_length, a.kv_length, a.head_size, a.value_size, a.causal);
    }
    void one(const OperatorWork& w) {
        put(w.kind, w.fusion, w.macs, w.vector_ops, w.special_ops, w.serial_steps, w.passes);
        put(w.contractions, w.window, w.attention, w.partial_reads, w.partial_write, w.partial_writes);
    }

    std::string bytes_;
};

/// Numbers equal keys alike: by the first that has them.
class Numbering {
  public:
    std::uint32_t operator()(const Key& key, std::uint32_t next) {
        return seen_.try_emplace(key.bytes(), next).first->second;
    }

  private:
    std::unordered_map<std::string, std::uint32_t> seen_;
};

void put_tensor(TensorId id, const ShapedGraph& graph, Key& key) {
    key.put(id == kNoTensor);
    if (id == kNoTensor)
        return;
    const ShapedTensor& t = graph.tensors[id];
    key.put(t.type, t.role, t.constant, t.kv_cache);
    key.put(t.shape);
}

/// The tensor whose shape mappers look at: bytes and elements of all are counted in the subgraph's work.
void put_main(const TensorList& ids, const ShapedGraph& graph, Key& key) {
    put_tensor(ids.empty() ? kNoTensor : ids.front(), graph, key);
}

/// What the subgraph is by itself.
void put_own(const SubgraphWork& work, const ShapedGraph& graph, Key& key) {
    key.put(work.kind, work.repeat, work.precision, work.input_bytes, work.extra_bytes, work.output_bytes,
            work.weight_bytes, work.kv_bytes, work.unfused_bytes, work.link_bytes, work.collectives,
            work.macs, work.vector_ops, work.special_ops, work.anchor != nullptr, work.operators.size());
    bool anchor_is_member = false;
    for (const OperatorUse& use : work.operators) {
        anchor_is_member = anchor_is_member || &use.op->work == work.anchor;
        key.put(use.compute, use.anchor, use.supported, use.read_bytes, use.written_bytes, use.weight_bytes,
                use.output_elements, use.input_elements);
        key.put(use.op->type, use.op->work);
        put_main(use.op->inputs, graph, key);
        put_main(use.op->outputs, graph, key);
    }
    if (work.anchor && !anchor_is_member)
        key.put(*work.anchor);
}

} // namespace

std::vector<std::uint32_t> find_alike(const NetworkWork& network) {
    const auto& subgraphs = network.partition->subgraphs;
    const auto count = static_cast<std::uint32_t>(network.subgraphs.size());
    std::vector<std::uint32_t> own(count), alike(count);
    Key key;
    Numbering by_work, by_place;
    for (std::uint32_t i = 0; i < count; ++i) {
        key.clear();
        put_own(network.subgraphs[i], *network.graph, key);
        own[i] = by_work(key, i);
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        key.clear();
        key.put(own[i], i < network.memory.timeline.size() ? network.memory.timeline[i] : 0.0);
        key.put(subgraphs[i].inputs.size());
        for (const TensorId id : subgraphs[i].inputs)
            put_tensor(id, *network.graph, key);
        for_each_neighbour(network, i, [&](std::uint32_t j) { key.put(own[j]); });
        alike[i] = by_place(key, i);
    }
    return alike;
}

} // namespace archsim
