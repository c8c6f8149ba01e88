#include "session/generation/language_model.hpp"

#include "core/lists.hpp"
#include "ops/given_values.hpp"
#include "session/graph_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace archsim {

/// Symbols of the positions of the caches [batch, heads, positions, size], and of the new tokens of the first
/// integer input [batch, tokens].
struct Symbols {
    std::string sequence;
    std::vector<std::string> past;     ///< one, but where layers name the same length differently
    std::vector<std::int64_t> windows; ///< ascending: caches keep no more positions than that
    std::string total;   ///< of a mask over cached and new tokens, where it has a name of its own
    std::string branch;  ///< input that tells a merged decoder (Optimum) to read the cache
    bool states = false; ///< something is carried from step to step, of whatever size
};

/// Adds what is not there yet.
template <class T>
static void add_new(std::vector<T>& all, T one) {
    if (!contains(all, one))
        all.push_back(std::move(one));
}

/// `stated`: sizes that the catalogue or the user gives; they tell a cache of something else (of an encoder's
/// positions) from that of the tokens.
static Symbols find_symbols(const Graph& graph, const ShapedGraph& bound,
                            const std::map<std::string, std::int64_t>& stated) {
    Symbols symbols;
    for (TensorId in : graph.inputs) {
        const Tensor& tensor = graph.tensors[in];
        if (!tensor.shape)
            continue;
        const auto& shape = *tensor.shape;
        symbols.states = symbols.states || bound.tensors[in].kv_cache;
        if (shape.size() >= 3 && bound.tensors[in].kv_cache && !shape[shape.size() - 2].symbol.empty()) {
            CacheLength length = parse_cache_length(shape[shape.size() - 2].symbol);
            if (length.window > 0)
                add_new(symbols.windows, length.window);
            // Vectors that stand for several positions each: "floor(past_sequence / 4)".
            std::vector<std::string> names = names_in_expression(length.positions);
            if (names.empty())
                names.push_back(std::move(length.positions));
            for (std::string& name : names)
                if (symbols.past.empty() || !stated.contains(name))
                    add_new(symbols.past, std::move(name));
        }
        if (shape.size() == 2 && !is_floating(tensor.type) &&
            (symbols.sequence.empty() || tensor.name == "input_ids"))
            symbols.sequence = shape[1].symbol;
        if (shape.size() == 2 && tensor.name == "attention_mask")
            symbols.total = shape[1].symbol;
        if (tensor.name == "use_cache_branch")
            symbols.branch = tensor.name;
    }
    if (symbols.total == symbols.sequence || contains(symbols.past, symbols.total))
        symbols.total.clear();
    std::ranges::sort(symbols.windows);
    return symbols;
}

GenerationModel::GenerationModel(const Model& model, const Bindings& bindings,
                                 const OperatorRegistry& operators)
    : bindings_(bindings), operators_(operators) {
    if (model.parts.empty())
        language_ = model;
    for (std::size_t i = 0; i < model.parts.size(); ++i) {
        const Model& part = model.parts[i];
        if (part.info.language_model) {
            language_ = part;
        } else {
            before_.push_back(model.info.parts[i]);
            before_graphs_.push_back(part);
        }
    }
    if (const auto image = model.info.dims.find("image_tokens");
        !model.parts.empty() && image != model.info.dims.end())
        inserted_ = image->second;
    const auto refuse = [&] {
        // A checkpoint whose class generates nothing says what it does instead.
        if (language_.graph)
            for (const Finding& f : language_.graph->findings)
                if (f.severity == Severity::note && (f.where == "architectures" || f.where == "weight_map"))
                    throw UsageError(fmt::format("{}: {}; {}", model.name(), f.message, f.hint));
        throw UsageError(
            fmt::format("{}: not a decoder that is served token by token; compare_models --fps RATE says how "
                        "many devices carry a rate of it, analyze_batch what a batch gains",
                        model.name()));
    };
    if (!language_.graph)
        refuse();
    if (auto cut = with_kept_windows(*language_.graph))
        language_.graph = std::move(cut);
    Bindings any = bindings_;
    any.input_values.try_emplace("use_cache_branch", std::vector<std::int64_t>{1});
    const BoundModel bound(language_, any, operators_);
    stored_weights_ = bound.graph().stored_weights;
    if (!bound.graph().stored_products)
        stored_alone_ = stored_weights_;
    stored_cache_ = bound.graph().stored_cache;
    std::map<std::string, std::int64_t> stated = language_.info.dims;
    stated.insert(bindings_.dims.begin(), bindings_.dims.end());
    Symbols symbols = find_symbols(*language_.graph, bound.graph(), stated);
    sequence_symbol_ = symbols.sequence;
    past_symbols_ = std::move(symbols.past);
    windows_ = std::move(symbols.windows);
    total_symbol_ = symbols.total;
    branch_input_ = symbols.branch;
    // With states of fixed size alone (Mamba) a step reads as much whatever came before it.
    if (sequence_symbol_.empty() || (past_symbols_.empty() && !symbols.states))
        refuse();
}

std::string GenerationModel::not_understood() const {
    const auto& findings = language_.graph->findings;
    const auto error = std::ranges::find(findings, Severity::error, &Finding::severity);
    return error == findings.end() ? std::string() : to_string(*error);
}

double GenerationModel::broken_rows(std::int64_t block) const {
    double all = 0, broken = 0;
    for (const Node& node : language_.graph->nodes) {
        if (node.op_type != "MatMul" && node.op_type != "MoE")
            continue;
        for (const TensorId id : node.inputs) {
            if (id == kNoTensor || language_.graph->tensors[id].role != TensorRole::initializer)
                continue;
            const auto& shape = language_.graph->tensors[id].shape;
            if (!shape || shape->size() < 2)
                continue;
            double elements = 1;
            for (const Dimension& size : *shape)
                elements *= static_cast<double>(std::max<std::int64_t>(1, size.value));
            all += elements;
            // A row is what one result reads: the axis before the last.
            broken += (*shape)[shape->size() - 2].value % block != 0 ? elements : 0;
        }
    }
    return all > 0 ? broken / all : 0;
}

std::shared_ptr<const BoundModel> GenerationModel::bound(std::int64_t batch, std::int64_t sequence,
                                                         std::int64_t past) const {
    const std::lock_guard lock(mutex_);
    const Sizes sizes{batch, sequence, past};
    // The last of the list was used last.
    const auto known =
        std::find_if(entries_.rbegin(), entries_.rend(), [&](const Entry& e) { return e.sizes == sizes; });
    if (known != entries_.rend()) {
        std::rotate(std::prev(known.base()), known.base(), entries_.end());
        entries_.back().again = true;
        return entries_.back().model;
    }
    Bindings all = bindings_;
    all.dims[sequence_symbol_] = sequence;
    for (const std::string& symbol : past_symbols_)
        all.dims[symbol] = past;
    if (!total_symbol_.empty())
        all.dims[total_symbol_] = past + sequence;
    if (!branch_input_.empty())
        all.input_values[branch_input_] = {past > 0 ? 1 : 0};
    auto model = bind_graph(language_, batch, all, operators_, unlike_);
    if (std::ranges::none_of(unlike_, [&](const auto& first) { return first->shares_partitions(*model); }))
        unlike_.push_back(model);
    keep({sizes, model});
    return model;
}

void GenerationModel::keep(Entry entry) const {
    if (!contains(asked_, entry.sizes))
        asked_.push_back(entry.sizes);
    else
        entry.again = true;
    entries_.push_back(std::move(entry));
    const auto once = [](const Entry& e) { return !e.again; };
    // Fewer of large models: each takes some kilobytes an operator.
    constexpr std::size_t kMostOperators = 100'000, kFewest = 64;
    const std::size_t operators = std::max<std::size_t>(1, language_.graph->nodes.size());
    if (std::ranges::count_if(entries_, once) > static_cast<std::ptrdiff_t>(kMostOnce))
        entries_.erase(std::ranges::find_if(entries_, once));
    else if (entries_.size() > std::clamp(kMostOperators / operators, kFewest, kMost))
        entries_.erase(entries_.begin());
}

std::shared_ptr<const BoundModel> GenerationModel::bound_before(std::size_t part, std::int64_t batch) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, models] : before_bound_)
        if (known == batch)
            return models[part];
    std::vector<std::shared_ptr<const BoundModel>> models;
    for (std::size_t i = 0; i < before_.size(); ++i) {
        Bindings all = bindings_;
        for (const auto& [name, size] : before_[i].dims)
            all.dims[name] = size;
        models.push_back(bind_graph(before_graphs_[i], batch, all, operators_));
    }
    before_bound_.emplace_back(batch, std::move(models));
    return before_bound_.back().second[part];
}

} // namespace archsim
