#include "map/alike.hpp"

#include "map/neighbours.hpp"

#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace archsim {

namespace {

/// Bytes of what is compared, one value after the other; lists are preceded by their length.
class Key {
  public:
    void clear() { bytes_.clear(); }
    const std::string& bytes() const { return bytes_; }

    template <class... Values>
    void put(const Values&... values) {
        (one(values), ...);
    }

  private:
    template <class Value>
    void one(const Value& value) {
        if constexpr (std::is_same_v<Value, double>) {
            const double same_zero = value + 0.0; // -0 and 0 count alike
            raw(&same_zero, sizeof same_zero);
        } else {
            static_assert(std::is_integral_v<Value> || std::is_enum_v<Value>);
            raw(&value, sizeof value);
        }
    }
    template <class Value, std::size_t N>
    void one(const std::array<Value, N>& values) {
        for (const Value& value : values)
            one(value);
    }
    template <class Value>
    void one(const std::vector<Value>& values) {
        one(values.size());
        for (const Value& value : values)
            one(value);
    }
    template <class First, class Second>
    void one(const std::pair<First, Second>& pair) {
        put(pair.first, pair.second);
    }
    template <class Value>
    void one(const std::optional<Value>& value) {
        one(value.has_value());
        if (value)
            one(*value);
    }
    void one(const std::string& text) {
        one(text.size());
        bytes_ += text;
    }
    void one(const Contraction& c) { put(c.groups, c.m, c.n, c.k, c.weights_constant); }
    void one(const Window& w) {
        put(w.batch, w.in_channels, w.out_channels, w.groups, w.in, w.out, w.kernel, w.stride, w.dilation,
            w.transposed);
    }
    void one(const AttentionShape& a) {
        put(a.batch, a.heads, a.kv_heads, a.query_length, a.kv_length, a.head_size, a.value_size, a.causal);
    }
    void one(const OperatorWork& w) {
        put(w.kind, w.fusion, w.macs, w.vector_ops, w.special_ops, w.contractions, w.window, w.attention,
            w.serial_steps, w.partial_reads, w.partial_write, w.partial_writes, w.passes);
    }
    void raw(const void* data, std::size_t size) { bytes_.append(static_cast<const char*>(data), size); }

    std::string bytes_;
};

/// Numbers equal keys alike, in order of appearance.
class Numbering {
  public:
    std::uint32_t operator()(const Key& key, std::uint32_t next) {
        return seen_.try_emplace(key.bytes(), next).first->second;
    }

  private:
    std::unordered_map<std::string, std::uint32_t> seen_;
};

void put_tensors(const std::vector<TensorId>& ids, const ShapedGraph& graph, Key& key) {
    key.put(ids.size());
    for (const TensorId id : ids) {
        key.put(id == kNoTensor);
        if (id == kNoTensor)
            continue;
        const ShapedTensor& t = graph.tensors[id];
        key.put(t.type, t.role, t.constant, t.kv_cache, t.shape);
    }
}

/// What the subgraph is by itself.
void put_own(const SubgraphWork& work, const ShapedGraph& graph, Key& key) {
    key.put(work.kind, work.repeat, work.precision, work.input_bytes, work.extra_bytes, work.output_bytes,
            work.weight_bytes, work.kv_bytes, work.unfused_bytes, work.link_bytes, work.collectives,
            work.macs, work.vector_ops, work.special_ops, work.anchor != nullptr, work.operators.size());
    if (work.anchor) // it may not be among the operators with work
        key.put(*work.anchor);
    for (const OperatorUse& use : work.operators) {
        key.put(use.compute, use.anchor, use.supported, use.read_bytes, use.written_bytes, use.weight_bytes,
                use.output_elements, use.input_elements);
        key.put(use.op->type, use.op->repeat, use.op->native_precision, use.op->work);
        put_tensors(use.op->inputs, graph, key);
        put_tensors(use.op->outputs, graph, key);
    }
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
        put_tensors(subgraphs[i].inputs, *network.graph, key);
        for_each_neighbour(network, i, [&](std::uint32_t j) { key.put(own[j]); });
        alike[i] = by_place(key, i);
    }
    return alike;
}

} // namespace archsim
