#include "map/sharding.hpp"

#include "core/same_everywhere.hpp"
#include "map/chip_counts.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <set>
#include <vector>

namespace archsim {

/// Products with weights in one operator.
static double constant_products(const Operator& op) {
    return static_cast<double>(std::ranges::count_if(op.work.contractions, &Contraction::weights_constant));
}

/// Several layers of weights in one operator: experts of a mixture.
static bool joins_experts(const Operator& op) {
    return op.work.kind == OpKind::matmul && constant_products(op) > 1;
}

/// Which tensors of a network it is worth computing in parts on several devices: those that reach a product,
/// or the heads of an attention.
class ProductFlow {
  public:
    explicit ProductFlow(const ShapedGraph& graph)
        : reaches_product_(graph.tensors.size(), false), reaches_heads_(graph.tensors.size(), false),
          normed_(graph.tensors.size(), false), part_normed_(graph.tensors.size(), false) {
        for (TensorId out : graph.outputs)
            if (out != kNoTensor)
                reaches_product_[out] = true;
        for (auto op = graph.operators.rbegin(); op != graph.operators.rend(); ++op) {
            const OpKind kind = op->work.kind;
            const bool passes = kind == OpKind::free || kind == OpKind::elementwise ||
                                kind == OpKind::data_movement || kind == OpKind::pooling;
            const bool product = kind == OpKind::convolution || kind == OpKind::attention ||
                                 (kind == OpKind::matmul && !joins_experts(*op));
            const auto any_result = [&](const std::vector<bool>& reaches) {
                return std::ranges::any_of(op->outputs,
                                           [&](TensorId id) { return id != kNoTensor && reaches[id]; });
            };
            const bool reaches = product || (passes && any_result(reaches_product_));
            const bool reaches_heads =
                kind == OpKind::attention ||
                ((passes || kind == OpKind::normalization) && any_result(reaches_heads_));
            for (TensorId in : op->inputs)
                if (in != kNoTensor) {
                    reaches_product_[in] = reaches_product_[in] || reaches;
                    reaches_heads_[in] = reaches_heads_[in] || reaches_heads;
                }
            if (op->inputs.empty() || op->inputs.front() == kNoTensor)
                continue;
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

    /// True where the tensor feeds a product, seen through views, copies and element-wise work, or is a
    /// result.
    bool reaches_product(TensorId id) const { return reaches_product_[id]; }
    /// True where the tensor feeds an attention, seen through the same and norms of queries and keys.
    bool reaches_heads(TensorId id) const { return reaches_heads_[id]; }
    /// True where one of the parts that the tensor is split into is normalised.
    bool part_normed(TensorId id) const { return part_normed_[id]; }

  private:
    std::vector<bool> reaches_product_, reaches_heads_, normed_, part_normed_;
};

/// How a tensor lies over the devices.
enum class TensorLayout : std::uint8_t {
    whole,   ///< a copy on every chip
    columns, ///< the last axis, or the channels, in parts
    heads,   ///< an axis of independent heads in parts; the others are complete
};

struct State {
    TensorLayout layout = TensorLayout::whole;
    double share = 1;
    bool spread() const { return layout != TensorLayout::whole; }
};

/// Busiest chip's part of `count` indivisible things.
static double whole_share(double count, double devices) {
    return count > 0 ? std::ceil(count / devices) / count : 1;
}

/// Mean of the largest of n standard normal deviates (Tippett, Biometrika 17, 1925): 0.564, 1.029, 1.424 for
/// 2, 4 and 8. Of a distribution F it is the integral of 1 - F^n over what is above 0, less that of F^n
/// below.
static double largest_of(double n) {
    constexpr int kSteps = 128;
    constexpr double kFar = 8, kStep = kFar / kSteps; // as many deviations; F is 1 there
    double sum = 0;
    for (int i = 0; i <= kSteps; ++i) {
        const double x = i * kStep, weight = i == 0 ? 0.5 : 1;
        const double above = 0.5 * std::erfc(x / std::numbers::sqrt2);
        sum += weight * (1 - std::pow(1 - above, n) - std::pow(above, n));
    }
    return same_everywhere(sum * kStep);
}

class Sharder {
  public:
    Sharder(const ShapedGraph& graph, const Sharing& sharing)
        : graph_(graph), sharing_(sharing), devices_(sharing.tensor), counts_(graph, sharing), flow_(graph),
          states_(graph.tensors.size()), worker_(graph.tensors.size(), kNobody) {}

    std::shared_ptr<const DerivedCounts> run() {
        for (TensorId in : graph_.inputs)
            if (in != kNoTensor && graph_.tensors[in].kv_cache)
                states_[in] = {TensorLayout::heads, cache_share(graph_.tensors[in])};
        for (std::uint32_t i = 0; i < graph_.operators.size(); ++i)
            if (!graph_.operators[i].folded)
                place(i);
        for (TensorId out : graph_.outputs)
            if (out != kNoTensor && !graph_.tensors[out].kv_cache && worker_[out] != kNobody)
                gather(out, worker_[out]);
        return counts_.finished([&](TensorId id) { return states_[id].share; });
    }

  private:
    static constexpr std::uint32_t kNobody = 0xFFFFFFFFu;

    bool is_constant(TensorId id) const { return counts_.is_constant(id); }
    double elements(TensorId id) const { return counts_.elements(id); }

    /// Heads of a cache [batch, heads, positions, size], also with a leading axis of keys and values.
    double cache_share(const ShapedTensor& tensor) const {
        const std::size_t rank = tensor.shape.size();
        return rank >= 3 ? whole_share(static_cast<double>(tensor.shape[rank - 3]), devices_) : 1;
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
            return looks_up(op) ? place_table(i) : place_beside(i);
        case OpKind::normalization:
            return op.work.passes > 1 ? place_norm(i) : place_beside(i); // one pass: per channel
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
        state.layout = b.back() < a.back() ? TensorLayout::heads : TensorLayout::columns;
        return state;
    }

    /// Rows of a learned table, one for each token.
    bool looks_up(const Operator& op) const {
        // Tables of positions are shorter, and whole on every chip.
        constexpr std::int64_t kVocabulary = 16384;
        if (op.type != "Gather" || op.inputs.front() == kNoTensor || spread_input(op))
            return false;
        const ShapedTensor& table = graph_.tensors[op.inputs.front()];
        return table.learned && table.shape.size() == 2 && table.shape.front() >= kVocabulary;
    }

    /// Each chip has some rows of the table, and those of the others as zeros; the sums are all rows.
    void place_table(std::uint32_t i) {
        Operator& part = counts_.part(i);
        counts_.limit_read(part, 0, 1 / devices_);
        counts_.all_reduce(i);
    }

    void place_beside(std::uint32_t i) {
        const auto source = spread_input(graph_.operators[i]);
        if (source)
            spread(i, states_[*source]);
        else
            counts_.keep_weights(i);
    }

    /// Chips that have columns of the rows add what these sum up to, a number in fp32 for each row; norms of
    /// what is made of one tensor, such as queries and keys, in one go (vllm-project/vllm#31493).
    void place_norm(std::uint32_t i) {
        const auto source = spread_input(graph_.operators[i]);
        if (!source || states_[*source].layout != TensorLayout::columns)
            return place_row_wise(i);
        spread(i, states_[*source]);
        const double width = std::max(1.0, static_cast<double>(graph_.tensors[*source].shape.back()));
        const std::uint32_t maker = worker_[*source];
        const TensorId origin = maker == kNobody ? kNoTensor : graph_.operators[maker].inputs.front();
        counts_.add_up(i, elements(*source) / width, origin == kNoTensor || normed_.insert(origin).second);
    }

    /// Needs complete rows: independent heads have them, columns must be gathered.
    void place_row_wise(std::uint32_t i) {
        const auto source = spread_input(graph_.operators[i]);
        if (source && states_[*source].layout == TensorLayout::heads)
            spread(i, states_[*source]);
        else
            place_whole(i);
    }

    void place_whole(std::uint32_t i) {
        for (TensorId in : graph_.operators[i].inputs)
            if (in != kNoTensor && !is_constant(in))
                gather(in, i);
        counts_.keep_weights(i);
    }

    void place_product(std::uint32_t i) {
        const Operator& op = graph_.operators[i];
        const auto source = spread_input(op);
        if (op.work.contractions.empty() || op.outputs.empty() || op.outputs.front() == kNoTensor)
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
        if (grouped || c.n < devices_ || !(flow_.reaches_product(out) || flow_.reaches_heads(out)) ||
            flow_.part_normed(out))
            return counts_.keep_weights(i);
        spread(i, {TensorLayout::columns, 1 / devices_}, false);
        for (Contraction& part : counts_.part(i).work.contractions)
            part.n /= devices_;
        counts_.scale_window(i, 1, 1 / devices_);
    }

    /// One matrix for each head, side by side in a table of rank two (latent attention, absorbed).
    bool has_blocks(const Operator& op) const {
        const auto table = [&](TensorId in) {
            return in != kNoTensor && is_constant(in) && graph_.tensors[in].shape.size() == 2;
        };
        return op.work.contractions.size() == 1 && op.work.contractions.front().groups > 1 &&
               !op.work.window && std::ranges::any_of(op.inputs, table);
    }

    /// Heads share nothing: each chip has some of them.
    void place_blocks(std::uint32_t i) {
        Contraction& c = counts_.part(i).work.contractions.front();
        const double share = whole_share(c.groups, devices_);
        spread(i, {TensorLayout::columns, share});
        c.groups *= share;
    }

    /// Caches and what nothing is read of are no factors of the product.
    bool multiplies(const Operator& op, TensorId in) const {
        if (graph_.tensors[in].kv_cache)
            return false;
        const auto& reads = op.work.partial_reads;
        return std::ranges::none_of(
            reads, [&](const auto& read) { return op.inputs[read.first] == in && read.second <= 0; });
    }

    /// Independent products side by side: heads, or channel groups.
    void place_groups(std::uint32_t i, TensorLayout layout) {
        Operator& part = counts_.part(i);
        const Shape& shape = graph_.tensors[part.outputs.front()].shape;
        const double groups = part.work.window    ? part.work.window->groups
                              : shape.size() >= 3 ? static_cast<double>(shape[shape.size() - 3])
                                                  : part.work.contractions.front().groups;
        const double share = whole_share(groups, devices_);
        spread(i, {layout, share});
        for (Contraction& c : part.work.contractions)
            c.groups *= share;
        counts_.scale_window(i, share, share);
    }

    /// Each chip has its part of the reduction; the sums meet in an all-reduce.
    void place_rows(std::uint32_t i, double share) {
        Operator& part = counts_.part(i);
        for (Contraction& c : part.work.contractions)
            c.k *= share;
        part.work.macs *= share;
        for (std::size_t in = 0; in < part.inputs.size(); ++in)
            if (const TensorId id = part.inputs[in]; id != kNoTensor)
                // The bias is added once, after the sum.
                counts_.limit_read(part, in,
                                   is_constant(id) && elements(id) <= elements_per_column(part) ? 1 : share);
        counts_.scale_window(i, share, 1);
        counts_.all_reduce(i);
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
        Operator& part = counts_.part(i);
        for (std::size_t c = 0; c < part.work.contractions.size(); ++c)
            (c + 1 < part.work.contractions.size() ? part.work.contractions[c].n
                                                   : part.work.contractions[c].k) /= devices_;
        ChipCounts::scale_work(part, 1 / devices_);
        for (std::size_t in = 0; in < part.inputs.size(); ++in)
            if (part.inputs[in] != kNoTensor && is_constant(part.inputs[in]))
                counts_.limit_read(part, in, 1 / devices_);
        counts_.all_reduce(i);
    }

    /// Whole experts on every chip; see shard().
    void place_whole_experts(std::uint32_t i) {
        Operator& part = counts_.part(i);
        const double experts = experts_of(part), devices = std::min(sharing_.experts, experts),
                     groups = sharing_.groups();
        const Contraction first = part.work.contractions.front();
        const double tokens = elements(part.inputs.front()) / first.k, chosen = first.groups * first.m,
                     picks = chosen / tokens;
        const double own = std::ceil(experts / devices), share = own / experts, all = chosen * groups;
        // A chip reads those of its experts that somebody picked, the busiest as many standard deviations
        // above the mean as its rows are.
        const double picked = 1 - same_everywhere(std::pow(1 - picks / experts, tokens * groups));
        if (devices != spread_over_)
            largest_ = largest_of(spread_over_ = devices);
        const double active =
            std::min({own, all, own * picked + largest_ * std::sqrt(own * picked * (1 - picked))});
        const double mean = all * share, busiest = std::min(all, mean + largest_ * std::sqrt(mean));
        for (Contraction& c : part.work.contractions) {
            c.groups = active;
            c.m = busiest / active;
        }
        ChipCounts::scale_work(part, busiest / chosen);
        for (std::size_t in = 0; in < part.inputs.size(); ++in)
            if (const TensorId id = part.inputs[in]; id != kNoTensor && is_constant(id)) {
                counts_.limit_read(part, in, active / first.groups);
                counts_.hold_weights(id, share);
            }
        if (groups <= 1)
            return counts_.all_reduce(i); // every chip has the tokens already
        // Every chip of a group sends its part of the group's tokens, and gets as many results back.
        const double others =
            (devices - 1) * (1 - same_everywhere(std::pow(1 - 1 / devices, picks))) * busiest / mean;
        const double sent = 2 * tokens / devices_ * others * first.k;
        const double outside =
            sharing_.node > 0 && sharing_.node < devices ? (devices - sharing_.node) / (devices - 1) : 0;
        // A token there or back starts as late as so many all-reduces between other kernels: 10.3 and 11.2 us
        // to 9 us on eight H100, 16.5 and 16.8 to 11.3 on B200 (DeepEP's low-latency kernels of SGLang
        // 0.5.12, NVIDIA's tables of AIConfigurator); 102.7 and 62.7 us between two nodes of eight H100
        // (perplexityai/pplx-kernels).
        const double starts = outside > 0 ? 9.2 : 1.3;
        const double way = sent * (1 - outside + outside * sharing_.network) / 2;
        counts_.send(i, way, starts);
        counts_.send(i, way, starts);
        for (TensorId out : part.outputs)
            if (out != kNoTensor && devices_ > 1)
                counts_.send(i, (devices_ - 1) / devices_ * elements(out));
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
        Operator& part = counts_.part(i);
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
        ChipCounts::scale_work(part, share);
        // The first operand has the query heads; keys, values and their caches follow.
        bool query = true;
        for (std::size_t in = 0; in < part.inputs.size(); ++in) {
            const TensorId id = part.inputs[in];
            if (id == kNoTensor || (is_constant(id) && elements(id) <= 1))
                continue;
            counts_.limit_read(part, in, query ? share : is_constant(id) ? share : kv_share);
            query = false;
        }
        for (std::size_t out = 0; out < part.outputs.size(); ++out) {
            const TensorId id = part.outputs[out];
            if (id == kNoTensor)
                continue;
            // A cache of one narrow vector for all heads is on every chip.
            states_[id] = out == 0 ? State{TensorLayout::columns, share}
                          : graph_.tensors[id].kv_cache
                              ? State{TensorLayout::heads, cache_share(graph_.tensors[id])}
                              : State{TensorLayout::heads, kv_share};
            counts_.limit_write(part, out, states_[id].share);
        }
    }

    /// Every input is read and every output written in part.
    void spread(std::uint32_t i, const State& state, bool inputs = true) {
        Operator& part = counts_.part(i);
        for (std::size_t in = 0; in < part.inputs.size(); ++in) {
            const TensorId id = part.inputs[in];
            if (id != kNoTensor && elements(id) > 1 && (inputs || is_constant(id)))
                counts_.limit_read(part, in, state.share);
        }
        for (std::size_t out = 0; out < part.outputs.size(); ++out) {
            const TensorId id = part.outputs[out];
            if (id == kNoTensor)
                continue;
            states_[id] = state;
            counts_.limit_write(part, out, state.share);
        }
        ChipCounts::scale_work(part, state.share);
    }

    /// Makes a tensor complete on every chip, charged to operator `i`.
    void gather(TensorId id, std::uint32_t i) {
        if (!states_[id].spread())
            return;
        states_[id] = {};
        counts_.gather(id, i);
    }

    const ShapedGraph& graph_;
    const Sharing sharing_;
    const double devices_;                 ///< that share every matrix
    double spread_over_ = 0, largest_ = 0; ///< devices of experts, and largest_of() as many
    ChipCounts counts_;
    const ProductFlow flow_;
    std::vector<State> states_;
    std::set<TensorId> normed_;         ///< whose products are normed in parts
    std::vector<std::uint32_t> worker_; ///< operator with a kernel that made each tensor
};

std::shared_ptr<const DerivedCounts> shard(const ShapedGraph& graph, const Sharing& sharing) {
    return Sharder(graph, sharing).run();
}

bool is_of_experts(const Operator& op) {
    return joins_experts(op);
}

bool has_experts(const ShapedGraph& graph) {
    return std::ranges::any_of(graph.operators, joins_experts);
}

} // namespace archsim
