#include "map/sharding.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace archsim {

namespace {

/// How a tensor lies over the devices.
enum class Layout : std::uint8_t {
    whole,   ///< a copy on every chip
    columns, ///< the last axis, or the channels, in parts
    heads,   ///< an axis of independent heads in parts; the others are complete
};

struct State {
    Layout layout = Layout::whole;
    double share = 1;
    bool spread() const { return layout != Layout::whole; }
};

/// Busiest chip's part of `count` indivisible things.
double whole_share(double count, double devices) {
    return count > 0 ? std::ceil(count / devices) / count : 1;
}

double constant_products(const Operator& op) {
    return static_cast<double>(std::count_if(op.work.contractions.begin(), op.work.contractions.end(),
                                             [](const Contraction& c) { return c.weights_constant; }));
}

/// Several layers of weights in one operator: experts of a mixture.
bool joins_experts(const Operator& op) {
    return op.work.kind == OpKind::matmul && constant_products(op) > 1;
}

class Sharder {
  public:
    Sharder(const ShapedGraph& graph, const Sharing& sharing)
        : graph_(graph), sharing_(sharing), devices_(sharing.tensor),
          counts_(std::make_shared<DerivedCounts>()), states_(graph.tensors.size()),
          worker_(graph.tensors.size(), kNobody), reaches_product_(graph.tensors.size(), false),
          normed_(graph.tensors.size(), false), part_normed_(graph.tensors.size(), false) {
        counts_->operators = graph.operators;
        counts_->link_elements.assign(graph.operators.size(), 0);
        counts_->collectives.assign(graph.operators.size(), 0);
        weight_share_.assign(graph.tensors.size(), 0);
    }

    std::shared_ptr<const DerivedCounts> run() {
        find_products();
        for (TensorId in : graph_.inputs)
            if (in != kNoTensor && graph_.tensors[in].kv_cache)
                states_[in] = {Layout::heads, cache_share(graph_.tensors[in])};
        for (std::uint32_t i = 0; i < graph_.operators.size(); ++i)
            if (!graph_.operators[i].folded)
                place(i);
        for (TensorId out : graph_.outputs)
            if (out != kNoTensor && !graph_.tensors[out].kv_cache && worker_[out] != kNobody)
                gather(out, worker_[out]);
        counts_->tensor_share.resize(graph_.tensors.size());
        for (TensorId id = 0; id < graph_.tensors.size(); ++id)
            counts_->tensor_share[id] =
                is_constant(id) ? (weight_share_[id] > 0 ? weight_share_[id] : 1) : states_[id].share;
        return counts_;
    }

  private:
    static constexpr std::uint32_t kNobody = 0xFFFFFFFFu;

    bool is_constant(TensorId id) const {
        return graph_.tensors[id].constant || graph_.tensors[id].role == TensorRole::initializer;
    }
    double elements(TensorId id) const { return graph_.tensors[id].elements(); }

    /// Heads of a cache [batch, heads, positions, size], also with a leading axis of keys and values.
    double cache_share(const ShapedTensor& tensor) const {
        const std::size_t rank = tensor.shape.size();
        return rank >= 3 ? whole_share(static_cast<double>(tensor.shape[rank - 3]), devices_) : 1;
    }

    /// Which tensors feed a product, seen through views, copies and element-wise work, or are results: only
    /// then is it worth computing them in parts.
    void find_products() {
        for (TensorId out : graph_.outputs)
            if (out != kNoTensor)
                reaches_product_[out] = true;
        for (auto op = graph_.operators.rbegin(); op != graph_.operators.rend(); ++op) {
            const OpKind kind = op->work.kind;
            const bool passes = kind == OpKind::free || kind == OpKind::elementwise ||
                                kind == OpKind::data_movement || kind == OpKind::pooling;
            const bool product = kind == OpKind::convolution || kind == OpKind::attention ||
                                 (kind == OpKind::matmul && !joins_experts(*op));
            const bool reaches =
                product || (passes && std::any_of(op->outputs.begin(), op->outputs.end(), [&](TensorId id) {
                                return id != kNoTensor && reaches_product_[id];
                            }));
            for (TensorId in : op->inputs)
                if (in != kNoTensor && reaches)
                    reaches_product_[in] = true;
            if (kind == OpKind::normalization && op->work.passes > 1)
                normed_[op->inputs.front()] = true;
            // A product of which a part is normalised (the latent vector beside the rotated key) would be
            // gathered at once: it is computed on every chip.
            if ((kind == OpKind::free || kind == OpKind::data_movement) && op->outputs.size() > 1)
                for (TensorId out : op->outputs)
                    if (out != kNoTensor && normed_[out])
                        part_normed_[op->inputs.front()] = true;
        }
    }

    /// The largest spread input; nothing when all are whole.
    std::optional<TensorId> spread_input(const Operator& op) const {
        std::optional<TensorId> best;
        for (TensorId in : op.inputs)
            if (in != kNoTensor && !is_constant(in) && states_[in].spread() &&
                (!best || elements(in) > elements(*best)))
                best = in;
        return best;
    }

    void place(std::uint32_t i) {
        const Operator& op = graph_.operators[i];
        for (TensorId out : op.outputs)
            if (out != kNoTensor)
                worker_[out] = i;
        switch (op.work.kind) {
        case OpKind::free:
            return place_view(i);
        case OpKind::convolution:
        case OpKind::matmul:
            return place_product(i);
        case OpKind::attention:
            return place_attention(i);
        case OpKind::elementwise:
        case OpKind::pooling:
        case OpKind::data_movement:
            return place_beside(i);
        case OpKind::normalization:
            return op.work.passes > 1 ? place_row_wise(i) : place_beside(i); // one pass: per channel
        case OpKind::softmax:
        case OpKind::reduction:
            return place_row_wise(i);
        case OpKind::recurrent:
        case OpKind::sorting:
            return place_whole(i);
        }
    }

    void place_view(std::uint32_t i) {
        const Operator& op = graph_.operators[i];
        const auto source = spread_input(op);
        for (TensorId out : op.outputs) {
            if (out == kNoTensor)
                continue;
            for (TensorId in : op.inputs)
                if (in != kNoTensor && !is_constant(in) && worker_[in] != kNobody) {
                    worker_[out] =
                        worker_[in]; // a view has no kernel: whoever made its source answers for it
                    break;
                }
            if (source && !is_constant(out))
                states_[out] = reshaped(*source, out);
        }
    }

    /// Splitting the last axis turns columns into heads, joining them back.
    State reshaped(TensorId from, TensorId to) const {
        State state = states_[from];
        const Shape &a = graph_.tensors[from].shape, &b = graph_.tensors[to].shape;
        if (a.empty() || b.empty() || a.back() == b.back())
            return state;
        state.layout = b.back() < a.back() ? Layout::heads : Layout::columns;
        return state;
    }

    void place_beside(std::uint32_t i) {
        const auto source = spread_input(graph_.operators[i]);
        if (source)
            spread(i, states_[*source]);
        else
            keep_weights(i);
    }

    /// Needs complete rows: independent heads have them, columns must be gathered.
    void place_row_wise(std::uint32_t i) {
        const auto source = spread_input(graph_.operators[i]);
        if (source && states_[*source].layout == Layout::heads)
            spread(i, states_[*source]);
        else
            place_whole(i);
    }

    void place_whole(std::uint32_t i) {
        for (TensorId in : graph_.operators[i].inputs)
            if (in != kNoTensor && !is_constant(in))
                gather(in, i);
        keep_weights(i);
    }

    void place_product(std::uint32_t i) {
        const Operator& op = graph_.operators[i];
        const auto source = spread_input(op);
        if (op.work.contractions.empty())
            return place_beside(i);
        if (joins_experts(op))
            return place_experts(i);
        const Contraction& c = op.work.contractions.front();
        const bool grouped = op.work.window && op.work.window->groups > 1;
        if (!c.weights_constant || (grouped && source)) {
            if (source)
                place_groups(i, states_[*source].layout);
            return;
        }
        if (has_blocks(op))
            return place_blocks(i);
        if (source && multiplies(op, *source))
            return place_rows(i, states_[*source].share);
        const TensorId out = op.outputs.front();
        if (grouped || c.n < devices_ || !reaches_product_[out] || part_normed_[out])
            return keep_weights(i);
        spread(i, {Layout::columns, 1 / devices_}, false);
        for (Contraction& part : counts_->operators[i].work.contractions)
            part.n /= devices_;
        scale_window(i, 1, 1 / devices_);
    }

    /// One matrix for each head, side by side in a table of rank two (latent attention, absorbed).
    bool has_blocks(const Operator& op) const {
        const auto table = [&](TensorId in) {
            return in != kNoTensor && is_constant(in) && graph_.tensors[in].shape.size() == 2;
        };
        return op.work.contractions.size() == 1 && op.work.contractions.front().groups > 1 &&
               !op.work.window && std::any_of(op.inputs.begin(), op.inputs.end(), table);
    }

    /// Heads share nothing: each chip has some of them.
    void place_blocks(std::uint32_t i) {
        Contraction& c = counts_->operators[i].work.contractions.front();
        const double share = whole_share(c.groups, devices_);
        spread(i, {Layout::columns, share});
        c.groups *= share;
    }

    /// Caches and what nothing is read of are no factors of the product.
    bool multiplies(const Operator& op, TensorId in) const {
        if (graph_.tensors[in].kv_cache)
            return false;
        const auto& reads = op.work.partial_reads;
        return std::none_of(reads.begin(), reads.end(), [&](const auto& read) {
            return op.inputs[read.first] == in && read.second <= 0;
        });
    }

    /// Independent products side by side: heads, or channel groups.
    void place_groups(std::uint32_t i, Layout layout) {
        Operator& part = counts_->operators[i];
        const Shape& shape = graph_.tensors[part.outputs.front()].shape;
        const double groups = part.work.window    ? part.work.window->groups
                              : shape.size() >= 3 ? static_cast<double>(shape[shape.size() - 3])
                                                  : part.work.contractions.front().groups;
        const double share = whole_share(groups, devices_);
        spread(i, {layout, share});
        for (Contraction& c : part.work.contractions)
            c.groups *= share;
        scale_window(i, share, share);
    }

    /// Each chip has its part of the reduction; the sums meet in an all-reduce.
    void place_rows(std::uint32_t i, double share) {
        Operator& part = counts_->operators[i];
        for (Contraction& c : part.work.contractions)
            c.k *= share;
        part.work.macs *= share;
        for (std::size_t in = 0; in < part.inputs.size(); ++in)
            if (const TensorId id = part.inputs[in]; id != kNoTensor)
                // The bias is added once, after the sum.
                limit_read(part, in,
                           is_constant(id) && elements(id) <= elements_per_column(part) ? 1 : share);
        scale_window(i, share, 1);
        all_reduce(i);
    }

    double elements_per_column(const Operator& op) const {
        return op.work.contractions.empty() ? 0 : op.work.contractions.front().n;
    }

    /// Columns of the first layers, rows of the last, in one operator.
    void place_experts(std::uint32_t i) {
        for (TensorId in : graph_.operators[i].inputs)
            if (in != kNoTensor && !is_constant(in))
                gather(in, i);
        if (sharing_.experts > 1)
            return place_whole_experts(i);
        Operator& part = counts_->operators[i];
        for (std::size_t c = 0; c < part.work.contractions.size(); ++c)
            (c + 1 < part.work.contractions.size() ? part.work.contractions[c].n
                                                   : part.work.contractions[c].k) /= devices_;
        part.work.macs /= devices_;
        part.work.vector_ops /= devices_;
        part.work.special_ops /= devices_;
        for (std::size_t in = 0; in < part.inputs.size(); ++in)
            if (part.inputs[in] != kNoTensor && is_constant(part.inputs[in]))
                limit_read(part, in, 1 / devices_);
        all_reduce(i);
    }

    /// Whole experts on every chip; see shard().
    void place_whole_experts(std::uint32_t i) {
        Operator& part = counts_->operators[i];
        const double experts = experts_of(part), devices = std::min(sharing_.experts, experts),
                     groups = sharing_.groups();
        const Contraction first = part.work.contractions.front();
        const double tokens = elements(part.inputs.front()) / first.k, chosen = first.groups * first.m,
                     picks = chosen / tokens;
        const double own = std::ceil(experts / devices), share = own / experts, all = chosen * groups;
        const double active = own * (1 - std::pow(1 - picks / experts, tokens * groups));
        const double mean = all * share,
                     busiest = std::min(all, mean + std::sqrt(2 * mean * std::log(devices)));
        for (Contraction& c : part.work.contractions) {
            c.groups = active;
            c.m = busiest / active;
        }
        part.work.macs *= busiest / chosen;
        part.work.vector_ops *= busiest / chosen;
        part.work.special_ops *= busiest / chosen;
        for (std::size_t in = 0; in < part.inputs.size(); ++in)
            if (const TensorId id = part.inputs[in]; id != kNoTensor && is_constant(id)) {
                limit_read(part, in, active / first.groups);
                weight_share_[id] = share;
            }
        if (groups <= 1)
            return all_reduce(i); // every chip has the tokens already
        // Every chip of a group sends its part of the group's tokens, and gets as many results back.
        const double others = (devices - 1) * (1 - std::pow(1 - 1 / devices, picks)) * busiest / mean;
        const double sent = 2 * tokens / devices_ * others * first.k;
        const double outside =
            sharing_.node > 0 && sharing_.node < devices ? (devices - sharing_.node) / (devices - 1) : 0;
        counts_->link_elements[i] += sent * (1 - outside + outside * sharing_.network);
        counts_->collectives[i] += 2;
        for (TensorId out : part.outputs)
            if (out != kNoTensor && devices_ > 1) {
                counts_->link_elements[i] += (devices_ - 1) / devices_ * elements(out);
                counts_->collectives[i] += 1;
            }
    }

    /// Experts lie along the first axis of their weights.
    double experts_of(const Operator& op) const {
        double most = 1;
        for (TensorId in : op.inputs)
            if (in != kNoTensor && is_constant(in) && graph_.tensors[in].shape.size() >= 3)
                most = std::max(most, static_cast<double>(graph_.tensors[in].shape.front()));
        return most;
    }

    void place_attention(std::uint32_t i) {
        const Operator& op = graph_.operators[i];
        if (!op.work.attention || (!spread_input(op) && constant_products(op) == 0))
            return place_whole(i);
        Operator& part = counts_->operators[i];
        const double share = whole_share(op.work.attention->heads, devices_);
        const double kv_share = whole_share(op.work.attention->kv_heads, devices_);
        part.work.attention->heads *= share;
        part.work.attention->kv_heads *= kv_share;
        for (Contraction& c : part.work.contractions) {
            if (c.weights_constant) {
                c.n *= share;
            } else {
                c.groups *= kv_share;
                c.m *= share / kv_share;
            }
        }
        part.work.macs *= share;
        part.work.vector_ops *= share;
        part.work.special_ops *= share;
        // The first operand has the query heads; keys, values and their caches follow.
        bool query = true;
        for (std::size_t in = 0; in < part.inputs.size(); ++in) {
            const TensorId id = part.inputs[in];
            if (id == kNoTensor || (is_constant(id) && elements(id) <= 1))
                continue;
            limit_read(part, in, query ? share : is_constant(id) ? share : kv_share);
            query = false;
        }
        for (std::size_t out = 0; out < part.outputs.size(); ++out) {
            const TensorId id = part.outputs[out];
            if (id == kNoTensor)
                continue;
            // A cache of one narrow vector for all heads is on every chip.
            states_[id] = out == 0 ? State{Layout::columns, share}
                          : graph_.tensors[id].kv_cache
                              ? State{Layout::heads, cache_share(graph_.tensors[id])}
                              : State{Layout::heads, kv_share};
            limit_write(part, out, states_[id].share);
        }
    }

    /// Every input is read and every output written in part.
    void spread(std::uint32_t i, const State& state, bool inputs = true) {
        Operator& part = counts_->operators[i];
        for (std::size_t in = 0; in < part.inputs.size(); ++in) {
            const TensorId id = part.inputs[in];
            if (id != kNoTensor && elements(id) > 1 && (inputs || is_constant(id)))
                limit_read(part, in, state.share);
        }
        for (std::size_t out = 0; out < part.outputs.size(); ++out) {
            const TensorId id = part.outputs[out];
            if (id == kNoTensor)
                continue;
            states_[id] = state;
            limit_write(part, out, state.share);
        }
        part.work.macs *= state.share;
        part.work.vector_ops *= state.share;
        part.work.special_ops *= state.share;
    }

    void limit_read(Operator& part, std::size_t input, double share) {
        const TensorId id = part.inputs[input];
        if (is_constant(id))
            weight_share_[id] = std::max(weight_share_[id], share);
        if (share >= 1)
            return;
        for (auto& [index, read] : part.work.partial_reads)
            if (index == input) {
                read *= share;
                return;
            }
        part.work.partial_reads.emplace_back(static_cast<std::uint16_t>(input), elements(id) * share);
    }

    void limit_write(Operator& part, std::size_t output, double share) {
        if (share >= 1)
            return;
        for (auto& [index, written] : part.work.partial_writes)
            if (index == output) {
                written *= share;
                return;
            }
        part.work.partial_writes.emplace_back(
            static_cast<std::uint16_t>(output),
            part.work.partial_write.value_or(elements(part.outputs[output])) * share);
    }

    void keep_weights(std::uint32_t i) {
        for (TensorId in : graph_.operators[i].inputs)
            if (in != kNoTensor && is_constant(in))
                weight_share_[in] = 1;
    }

    void scale_window(std::uint32_t i, double inputs, double outputs) {
        if (auto& window = counts_->operators[i].work.window) {
            window->in_channels *= inputs;
            window->out_channels *= outputs;
            if (window->groups > 1)
                window->groups *= inputs;
        }
    }

    /// The sum over the devices that share a matrix: within nodes first, then each chip's part between them.
    void all_reduce(std::uint32_t i) {
        if (devices_ <= 1)
            return;
        const double near = sharing_.node > 0 ? std::min(devices_, sharing_.node) : devices_;
        const double nodes = devices_ / near;
        const double passes = 2 * (near - 1) / near + 2 * (nodes - 1) / nodes / near * sharing_.network;
        for (TensorId out : graph_.operators[i].outputs)
            if (out != kNoTensor) {
                counts_->link_elements[i] += passes * elements(out);
                counts_->collectives[i] += nodes > 1 ? 2 : 1;
            }
    }

    /// Makes a tensor complete on every chip, charged to operator `i`.
    void gather(TensorId id, std::uint32_t i) {
        if (!states_[id].spread())
            return;
        states_[id] = {};
        if (devices_ <= 1)
            return;
        const double near = sharing_.node > 0 ? std::min(devices_, sharing_.node) : devices_;
        const double nodes = devices_ / near;
        // What lies in other nodes comes over their network once, by the chip that has the same place there.
        counts_->link_elements[i] +=
            ((devices_ - 1) / devices_ + (nodes - 1) / devices_ * (sharing_.network - 1)) * elements(id);
        counts_->collectives[i] += nodes > 1 ? 2 : 1;
    }

    const ShapedGraph& graph_;
    const Sharing sharing_;
    const double devices_; ///< that share every matrix
    std::shared_ptr<DerivedCounts> counts_;
    std::vector<State> states_;
    std::vector<std::uint32_t> worker_; ///< operator with a kernel that made each tensor
    std::vector<bool> reaches_product_;
    std::vector<bool> normed_, part_normed_; ///< whole, or one of the parts that it is split into
    std::vector<double> weight_share_;
};

} // namespace

std::shared_ptr<const DerivedCounts> shard(const ShapedGraph& graph, const Sharing& sharing) {
    return Sharder(graph, sharing).run();
}

bool has_experts(const ShapedGraph& graph) {
    return std::any_of(graph.operators.begin(), graph.operators.end(), joins_experts);
}

} // namespace archsim
