#include "archsim/run/generation.hpp"

#include "archsim/core/finding.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace archsim {

namespace {

/// Symbol of the positions of a cache [batch, heads, positions, size], and of the new tokens of the first
/// integer input [batch, tokens].
struct Symbols {
    std::string sequence, past;
    std::string total;  ///< of a mask over cached and new tokens, where it has a name of its own
    std::string branch; ///< input that tells a merged decoder (Optimum) to read the cache
};

Symbols find_symbols(const Graph& graph, const ShapedGraph& bound) {
    Symbols symbols;
    for (TensorId in : graph.inputs) {
        const Tensor& tensor = graph.tensors[in];
        if (!tensor.shape)
            continue;
        const auto& shape = *tensor.shape;
        if (symbols.past.empty() && shape.size() >= 3 && bound.tensors[in].kv_cache)
            symbols.past = shape[shape.size() - 2].symbol;
        if (shape.size() == 2 && !is_floating(tensor.type) &&
            (symbols.sequence.empty() || tensor.name == "input_ids"))
            symbols.sequence = shape[1].symbol;
        if (shape.size() == 2 && tensor.name == "attention_mask")
            symbols.total = shape[1].symbol;
        if (tensor.name == "use_cache_branch")
            symbols.branch = tensor.name;
    }
    if (symbols.total == symbols.sequence || symbols.total == symbols.past)
        symbols.total.clear();
    return symbols;
}

} // namespace

GenerationModel::GenerationModel(const Session& session, std::string_view name_or_path,
                                 const Bindings& bindings)
    : session_(session), bindings_(bindings) {
    const CatalogueEntry* entry = session.catalogue().find(name_or_path);
    std::string language(name_or_path);
    if (entry && !entry->parts.empty()) {
        for (const ModelPart& part : entry->parts) {
            const CatalogueEntry* own = session.catalogue().find(part.model);
            if (own && own->language_model)
                language = part.model;
            else
                before_.push_back(part);
        }
        if (const auto image = entry->dims.find("image_tokens"); image != entry->dims.end())
            inserted_ = image->second;
    }
    if (!entry || entry->parts.empty() || language != name_or_path)
        language_ = session.load(language);
    const auto refuse = [&] {
        throw UsageError(
            fmt::format("{}: not a language model with cached keys and values, so it has no prompt and "
                        "no generated tokens",
                        name_or_path));
    };
    if (!language_.graph)
        refuse();
    Bindings any = bindings_;
    any.input_values.try_emplace("use_cache_branch", std::vector<std::int64_t>{1});
    const Symbols symbols = find_symbols(*language_.graph, BoundModel(language_, any).graph());
    sequence_symbol_ = symbols.sequence;
    past_symbol_ = symbols.past;
    total_symbol_ = symbols.total;
    branch_input_ = symbols.branch;
    if (sequence_symbol_.empty() || past_symbol_.empty())
        refuse();
}

std::shared_ptr<const BoundModel> GenerationModel::bound(std::int64_t batch, std::int64_t sequence,
                                                         std::int64_t past) const {
    const std::lock_guard lock(mutex_);
    for (const Entry& known : entries_)
        if (known.batch == batch && known.sequence == sequence && known.past == past)
            return known.model;
    Bindings all = bindings_;
    all.dims[sequence_symbol_] = sequence;
    all.dims[past_symbol_] = past;
    if (!total_symbol_.empty())
        all.dims[total_symbol_] = past + sequence;
    if (!branch_input_.empty())
        all.input_values[branch_input_] = {past > 0 ? 1 : 0};
    auto model = session_.bind(language_, batch, all);
    entries_.push_back({batch, sequence, past, model});
    return model;
}

std::shared_ptr<const BoundModel> GenerationModel::bound_before(std::size_t part, std::int64_t batch) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, models] : before_bound_)
        if (known == batch)
            return models[part];
    std::vector<std::shared_ptr<const BoundModel>> models;
    for (const ModelPart& stage : before_) {
        Bindings all = bindings_;
        for (const auto& [name, size] : stage.dims)
            all.dims[name] = size;
        models.push_back(session_.bind(session_.load(stage.model), batch, all));
    }
    before_bound_.emplace_back(batch, std::move(models));
    return before_bound_.back().second[part];
}

} // namespace archsim
