#include "session/parts.hpp"

#include "core/lists.hpp"
#include "estimate/algebra.hpp"
#include "estimate/memory_pools.hpp"
#include "ops/given_values.hpp"
#include "result/memory_fit.hpp"
#include "session/graph_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>

namespace archsim {

using WeightKey = std::tuple<std::string, DataType, Shape>;

/// One graph for the facts of the whole: all operators with their executions, shared weights once. It is
/// never bound to a device: each part is estimated on its own.
class Union {
  public:
    /// Returns the weights that an earlier part brought already.
    std::vector<TensorId> add(const ShapedGraph& part, double repeat) {
        std::vector<TensorId> known, place(part.tensors.size());
        for (TensorId id = 0; id < part.tensors.size(); ++id) {
            const ShapedTensor& tensor = part.tensors[id];
            const auto fresh = static_cast<TensorId>(graph_.tensors.size());
            place[id] = fresh;
            if (tensor.role == TensorRole::initializer) {
                const auto [at, first] =
                    weights_.try_emplace({tensor.name, tensor.type, tensor.shape}, fresh);
                place[id] = at->second;
                if (!first) {
                    known.push_back(id);
                    continue;
                }
            }
            graph_.tensors.push_back(tensor);
        }
        const auto moved = [&](TensorList ids) {
            for (TensorId& id : ids)
                id = id == kNoTensor ? kNoTensor : place[id];
            return ids;
        };
        for (const Operator& op : part.operators) {
            graph_.operators.push_back(op);
            graph_.operators.back().inputs = moved(op.inputs);
            graph_.operators.back().outputs = moved(op.outputs);
            graph_.operators.back().repeat *= repeat;
        }
        for (const auto& [name, size] : part.dims)
            graph_.dims.try_emplace(name, size);
        append(graph_.findings, part.findings);
        return known;
    }
    ShapedGraph take() { return std::move(graph_); }

  private:
    ShapedGraph graph_;
    std::map<WeightKey, TensorId> weights_;
};

/// Whether a size of an input is the symbol, or follows from it.
static bool has_symbol(const Graph& graph, std::string_view name) {
    return std::ranges::any_of(graph.inputs, [&](TensorId input) {
        const auto& shape = graph.tensors[input].shape;
        return shape && std::ranges::any_of(*shape, [&](const Dimension& d) {
                   const auto names = names_in_expression(d.symbol);
                   return d.symbol == name || contains(names, name);
               });
    });
}

/// Sizes: the part's own defaults, then those of the whole entry, then the user's, then what the entry fixes
/// for the part (a decoder's single token).
static Bindings bindings_of(const CatalogueEntry& entry, const ModelPart& part, const Graph& graph,
                            const Bindings& user) {
    Bindings all = user;
    std::erase_if(all.dims, [&](const auto& size) { // of the whole, for other parts
        return entry.dims.contains(size.first) && !has_symbol(graph, size.first);
    });
    for (const auto& [name, size] : entry.dims) // not every part has every size of the whole
        if (has_symbol(graph, name))
            all.dims.try_emplace(name, size);
    for (const auto& [name, size] : part.dims)
        all.dims[name] = size;
    return all;
}

/// Executions of a part for one batch: its number times the sizes that it names, the user's before the
/// entry's.
static double executions(const CatalogueEntry& entry, const ModelPart& part, const Bindings& user,
                         std::map<std::string, std::int64_t>& sizes) {
    constexpr std::int64_t kMost = 1'000'000;
    double times = part.repeat;
    for (const std::string& name : part.times) {
        const auto given = user.dims.find(name);
        const auto stated = entry.dims.find(name);
        const auto size_of = [&](const std::string& other) -> std::optional<std::int64_t> {
            if (const auto own = user.dims.find(other); own != user.dims.end())
                return own->second;
            const auto usual = entry.dims.find(other);
            return usual == entry.dims.end() ? std::nullopt : std::optional(usual->second);
        };
        // Frames of latents follow from those of the video.
        const bool computed = given == user.dims.end() && stated == entry.dims.end();
        const std::int64_t size = computed ? evaluate_expression(name, size_of).value_or(0) : *size_of(name);
        if (size < 1 || size > kMost)
            throw UsageError(fmt::format("{} of {}: give a number from 1 to {}", name, size, kMost));
        if (!computed)
            sizes[name] = size;
        times *= static_cast<double>(size);
    }
    return times;
}

/// Bytes of weights at the formats of a run.
static double bytes_of(const ShapedGraph& graph, const std::vector<TensorId>& weights,
                       const PrecisionConfig& precision) {
    double bytes = 0;
    for (TensorId id : weights) {
        const ShapedTensor& tensor = graph.tensors[id];
        const double bits = is_floating(tensor.type) && tensor.storage_bits <= 0
                                ? bits_of(precision.weights) + precision.weight_bits_overhead
                                : tensor.stored_bits();
        bytes += tensor.elements() * bits / 8;
    }
    return bytes;
}

PreparedParts::PreparedParts(const Model& model, std::int64_t batch, const Bindings& bindings,
                             const OperatorRegistry& operators)
    : divided_(model, batch, bindings, operators) {
    const CatalogueEntry& entry = model.info;
    Union all;
    auto facts = std::make_shared<ModelFacts>();
    Bindings sized = bindings;
    if (!sized.batch_size)
        sized.dims.try_emplace("batch", batch);
    for (std::size_t i = 0; i < entry.parts.size(); ++i) {
        const ModelPart& part = entry.parts[i];
        Part bound{part,
                   bind_graph(model.parts[i], batch, bindings_of(entry, part, *model.parts[i].graph, sized),
                              operators),
                   {}};
        bound.description.repeat = executions(entry, part, sized, facts->dims);
        bound.held_already = all.add(bound.model->graph(), bound.description.repeat);
        facts->operators += bound.model->facts()->operators;
        parts_.push_back(std::move(bound));
    }
    auto graph = std::make_shared<ShapedGraph>(all.take());
    graph->name = entry.name;
    facts->name = entry.name;
    facts->title = entry.title;
    facts->source = entry.source;
    facts->parameters = graph->parameters();
    facts->macs = graph->macs();
    facts->operations = graph->operations();
    for (const auto& [name, size] : graph->dims) { // what follows from other sizes says nothing more
        const auto names = names_in_expression(name);
        if (names.empty())
            facts->dims.emplace(name, size);
        for (const std::string& from : names) {
            const auto given = sized.dims.find(from);
            const auto stated = entry.dims.find(from);
            if (given != sized.dims.end() || stated != entry.dims.end())
                facts->dims.emplace(from, given != sized.dims.end() ? given->second : stated->second);
        }
    }
    facts->findings = graph->findings;
    facts->graph = std::move(graph);
    facts_ = std::move(facts);
}

Result PreparedParts::on(const Session& session, std::string_view device,
                         const Conditions& conditions) const {
    Result whole = asked(facts_, device, conditions);
    std::vector<Stage> stages;
    const bool divides = conditions.devices > 1 && divided_.any();
    for (const Part& own : parts_) {
        auto part = std::make_shared<const Result>(
            divides ? divided_.run(session, own.model, own.description.name, device, conditions)
                    : run_graph(session, own.model, device, conditions));
        whole.device = part->device;
        whole.runtime = part->runtime;
        whole.machine = part->machine;
        whole.power_mode = part->power_mode;
        const double shared =
            part->work ? bytes_of(own.model->graph(), own.held_already, part->work->precision) : 0;
        stages.push_back({&part->estimate, own.description.repeat, shared});
        whole.parts.push_back({own.description.name, own.description.repeat, std::move(part)});
    }
    Estimate& e = whole.estimate = in_sequence(stages);
    if (divided_.any() && whole.machine && e.latency_s > 0)
        e = lengthened(std::move(e), divided_.pictures_s(),
                       whole.machine->static_power_w * whole.machine->devices);
    const auto failed =
        std::ranges::find_if(whole.parts, [](const ResultPart& part) { return !part.result->ok(); });
    if (failed != whole.parts.end())
        e.reason = fmt::format("{}: {}", failed->name, failed->result->estimate.reason);
    else if (whole.machine && !memory_pools(e.memory, *whole.machine).fits()) {
        e.status = Status::does_not_fit;
        e.reason = fmt::format("its parts need {} together, the device has {}",
                               gigabytes_text(e.memory.peak_bytes), gigabytes_text(e.memory.capacity_bytes));
        if (const auto turn = parts_in_turn(whole); turn && turn->peak_bytes <= e.memory.capacity_bytes)
            e.reason += "; " + in_words(turn);
    }
    return whole;
}

} // namespace archsim
