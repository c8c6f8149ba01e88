#include "archsim/run/model.hpp"

#include "core/lists.hpp"
#include "map/format_invariants.hpp"
#include "map/sharding.hpp"
#include "ops/given_values.hpp"
#include "ops/passes.hpp"
#include "partition/alike.hpp"
#include "session/bound_model.hpp"
#include "session/prepared.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <mutex>
#include <utility>

namespace archsim {

static ModelFacts describe(const CatalogueEntry& info, std::shared_ptr<const ShapedGraph> graph) {
    ModelFacts facts{.name = info.name,
                     .title = info.title,
                     .source = info.source,
                     .parameters = graph->parameters(),
                     .macs = graph->macs(),
                     .operations = graph->operations(),
                     .dims = graph->dims,
                     .findings = graph->findings};
    for (const Operator& op : graph->operators)
        facts.operators += !op.folded && op.work.kind != OpKind::free;
    facts.graph = std::move(graph);
    return facts;
}

/// The graph itself, unless something is wrong with it whatever its sizes are.
static const Graph& sound(const Graph& graph, const OperatorRegistry& rows) {
    std::vector<Finding> faults = structural_faults(graph, rows);
    if (faults.empty())
        return graph;
    faults.front().file = graph.name;
    const std::string first = to_string(faults.front());
    throw InputError(first, std::move(faults));
}

/// Made by the first who asks; others who want the same wait for it, and nobody else does.
template <class T>
struct Once {
    std::mutex making;
    std::shared_ptr<const T> value;
    template <class Make>
    std::shared_ptr<const T> get(const Make& make) {
        const std::lock_guard lock(making);
        if (!value)
            value = make();
        return value;
    }
};

/// A graph as it is cut, with what was found out about that.
struct Fused {
    Partition partition;
    std::shared_ptr<const PartitionFindings> findings = no_findings_yet();
};

/// Partitions of graphs that fuse alike: of a model at several batches. Policies that cut a graph alike share
/// one, so that what is counted under one is counted under the others: a network without attention does not
/// know whether a stack fuses that.
class Partitions {
  public:
    std::shared_ptr<const Fused> fused(const ShapedGraph& graph, const FusionPolicy& policy) {
        return under(policy).fused.get([&] { return keep(partition(graph, policy)); });
    }

  private:
    struct UnderPolicy {
        FusionPolicy policy;
        Once<Fused> fused;
    };
    UnderPolicy& under(const FusionPolicy& policy) {
        const std::lock_guard lock(mutex_);
        for (UnderPolicy& known : policies_)
            if (known.policy == policy)
                return known;
        UnderPolicy& added = policies_.emplace_back();
        added.policy = policy;
        return added;
    }
    std::shared_ptr<const Fused> keep(Partition made) {
        const std::lock_guard lock(mutex_);
        for (const auto& known : distinct_)
            if (known->partition == made)
                return known;
        return distinct_.emplace_back(std::make_shared<const Fused>(Fused{.partition = std::move(made)}));
    }

    std::mutex mutex_; ///< of both lists
    std::list<UnderPolicy> policies_;
    std::vector<std::shared_ptr<const Fused>> distinct_;
};

using Places = std::vector<std::uint8_t>; ///< see place_operators

/// The graph under the rules for activations of a format.
struct PlacedUnder {
    OperatorTaker takes;
    Precision activations;
    std::shared_ptr<const Places> places;
};

struct WorkEntry {
    PrecisionConfig precision;
    std::shared_ptr<const Places> places;
    Sharing sharing;
    Once<NetworkWork> work;
};

/// Common to all formats where devices share the graph, or one has it alone.
struct FormatsAlike {
    std::shared_ptr<const DerivedCounts> derived; ///< null for one
    std::shared_ptr<const FormatInvariants> common;
};

/// The counts of one partition.
struct Counted {
    std::shared_ptr<const Fused> fused;
    std::list<std::pair<Sharing, Once<FormatsAlike>>> alike;
    std::list<WorkEntry> works;
};

const Graph& graph_of(const ImportedGraph& model) {
    if (model.graph)
        return *model.graph;
    const std::vector<std::string> parts = mapped(model.info.parts, &ModelPart::model);
    throw InputError(fmt::format("{}: has no graph of its own; name one of its parts: {}", model.info.name,
                                 fmt::join(parts, ", ")));
}

std::int64_t smallest_factor(std::int64_t batch) {
    for (std::int64_t factor = 2; factor * factor <= batch; ++factor)
        if (batch % factor == 0)
            return factor;
    return batch;
}

std::string batch_symbol(const Graph& graph) {
    std::string leading;
    for (TensorId input : graph.inputs) {
        const Tensor& tensor = graph.tensors[input];
        if (!tensor.shape || tensor.shape->empty())
            continue;
        for (const Dimension& dimension : *tensor.shape)
            if (leading_name(dimension.symbol) == "batch")
                return "batch";
        if (leading.empty())
            leading = leading_name(tensor.shape->front().symbol);
    }
    return leading;
}

std::int64_t fixed_items(const Graph& graph) {
    const auto leading = [&](TensorId id, std::size_t least_rank) -> std::int64_t {
        const auto& shape = graph.tensors[id].shape;
        return shape && shape->size() >= least_rank ? shape->front().value : -1;
    };
    const std::int64_t items = graph.inputs.empty() ? 1 : leading(graph.inputs.front(), 2);
    const auto all = [&](const std::vector<TensorId>& ids, std::size_t least_rank) {
        return std::ranges::all_of(
            ids, [&](TensorId id) { return id != kNoTensor && leading(id, least_rank) == items; });
    };
    return items > 1 && all(graph.inputs, 2) && all(graph.outputs, 1) ? items : 1;
}

/// The graph at its sizes. A batch that is asked for has to multiply the work: sizes inside a file may keep
/// it from the network, and then so many items a second would be said of the work of one. Worked: 4 items of
/// 2 GMACs each are 8 GMACs; where 2 come out, `reaches` turns false.
static std::shared_ptr<const ShapedGraph> bound_at(const ImportedGraph& model, const Graph& graph,
                                                   const Bindings& bindings, const std::string& batch_name,
                                                   const OperatorRegistry& rows, bool& reaches) {
    const auto bound = [&](const Bindings& sizes) {
        return archsim::bind(graph, sizes, model.info.dims, rows, model.budget);
    };
    auto made = std::make_shared<ShapedGraph>(bound(bindings));
    Bindings one = bindings;
    const auto symbol = one.dims.find(batch_name);
    std::int64_t& size =
        symbol != one.dims.end() ? symbol->second : one.batch_size.emplace(bindings.batch_size.value_or(1));
    const auto items = static_cast<double>(std::exchange(size, 1));
    const double macs = made->macs();
    if (model.info.language_model || !(items > 1) || !(macs > 0) || !made->complete())
        return made;
    const ShapedGraph single = bound(one);
    const double times = single.complete() && single.macs() > 0 ? macs / single.macs() : items;
    constexpr double kSame = 1e-3;
    if (std::abs(times / items - 1) <= kSame)
        return made;
    reaches = times > 1 + kSame;
    made->findings.push_back(
        {.kind = FindingKind::shape_conflict,
         .severity = Severity::warning,
         .message = fmt::format("a batch of {:.0f} does {:.3g} times the work of one item", items, times),
         .where = made->name,
         .hint = "a size inside the file does not follow the batch: export the model with a "
                 "symbolic batch, or give --input-shape"});
    return made;
}

struct BoundModel::State {
    /// `known`: the graph was found sound before.
    State(ImportedGraph imported, const Bindings& given, const OperatorRegistry& rows, bool known)
        : model(std::move(imported)), bindings(given), operators(&rows),
          batch_name(batch_symbol(*model.graph)),
          graph(bound_at(model, known ? *model.graph : sound(*model.graph, rows), bindings, batch_name, rows,
                         reaches)),
          facts(std::make_shared<const ModelFacts>(describe(model.info, graph))) {
        if (const auto size = graph->dims.find(batch_name); size != graph->dims.end())
            batch = static_cast<double>(size->second);
        else
            batch = static_cast<double>(bindings.batch_size.value_or(fixed_items(*model.graph)));
        if (!reaches)
            batch = 1;
    }

    std::shared_ptr<const Fused> fused(const FusionPolicy& policy) const {
        return partitions->fused(*graph, policy);
    }

    Counted& counts_of(const std::shared_ptr<const Fused>& fused) {
        const std::lock_guard lock(mutex);
        for (Counted& known : counted)
            if (known.fused == fused)
                return known;
        Counted& added = counted.emplace_back();
        added.fused = fused;
        return added;
    }

    Once<FormatsAlike>& alike_under(Counted& of, const Sharing& sharing) {
        const std::lock_guard lock(mutex);
        for (auto& [known, alike] : of.alike)
            if (known == sharing)
                return alike;
        return of.alike.emplace_back(std::piecewise_construct, std::forward_as_tuple(sharing), std::tuple<>())
            .second;
    }

    WorkEntry& work_entry(Counted& of, const PrecisionConfig& precision,
                          const std::shared_ptr<const Places>& places, const Sharing& sharing) {
        const std::lock_guard lock(mutex);
        for (WorkEntry& known : of.works)
            if (known.precision == precision && known.places == places && known.sharing == sharing)
                return known;
        WorkEntry& entry = of.works.emplace_back();
        entry.precision = precision;
        entry.places = places;
        entry.sharing = sharing;
        return entry;
    }

    /// Places of the operators; stacks that differ in what does not occur share them, and their work.
    std::shared_ptr<const Places> places_under(const OperatorTaker& takes, Precision activations) {
        const std::lock_guard lock(mutex);
        if (!takes.rules)
            return nowhere;
        for (const PlacedUnder& known : placed)
            if (known.takes.rules == takes.rules && known.activations == activations &&
                known.takes.generation == takes.generation)
                return known.places;
        auto made = place_operators(*graph, *takes.rules, takes.generation, activations);
        std::shared_ptr<const Places> places = made.empty() ? nowhere : nullptr;
        for (const PlacedUnder& known : placed)
            if (!places && *known.places == made)
                places = known.places;
        if (!places)
            places = std::make_shared<const Places>(std::move(made));
        placed.push_back({takes, activations, places});
        return places;
    }

    const ImportedGraph model;
    const Bindings bindings;
    const OperatorRegistry* const operators; ///< of the Session, which outlives its models
    const std::string batch_name;
    bool reaches = true; ///< a batch that is asked for multiplies the work
    const std::shared_ptr<const ShapedGraph> graph;
    const std::shared_ptr<const ModelFacts> facts;
    double batch = 1; ///< items of one inference
    std::shared_ptr<Partitions> partitions = std::make_shared<Partitions>();
    Once<GraphKinds> kinds;
    std::mutex mutex; ///< of all lists
    std::list<Counted> counted;
    std::list<PlacedUnder> placed;
    const std::shared_ptr<const Places> nowhere = std::make_shared<const Places>();
    std::vector<std::weak_ptr<const BoundModel>> earlier; ///< bindings, which are not kept for this
    std::map<std::int64_t, Once<BoundModel>> divided;     ///< by primes
};

BoundModel::BoundModel(ImportedGraph model, const Bindings& bindings, const OperatorRegistry& operators,
                       std::span<const std::shared_ptr<const BoundModel>> earlier)
    : state_([&] {
          const bool known = std::ranges::any_of(earlier, [&](const auto& other) {
              return other->state_->model.graph == model.graph && other->state_->operators == &operators;
          });
          return std::make_unique<State>(std::move(model), bindings, operators, known);
      }()) {
    const auto like = std::ranges::find_if(
        earlier, [this](const auto& other) { return fuse_alike(*other->state_->graph, *state_->graph); });
    if (like != earlier.end())
        state_->partitions = (*like)->state_->partitions;
    state_->earlier.assign(earlier.begin(), earlier.end());
}

BoundModel::~BoundModel() = default;

const ImportedGraph& BoundModel::model() const {
    return state_->model;
}

const ShapedGraph& BoundModel::graph() const {
    return *state_->graph;
}

std::shared_ptr<const ModelFacts> BoundModel::facts() const {
    return state_->facts;
}

std::shared_ptr<const Partition> BoundModel::partition(const FusionPolicy& policy) const {
    auto fused = state_->fused(policy);
    const Partition* const cut = &fused->partition;
    return {std::move(fused), cut};
}

bool BoundModel::shares_partitions(const BoundModel& other) const {
    return state_->partitions == other.state_->partitions;
}

std::shared_ptr<const NetworkWork> BoundModel::work(const FusionPolicy& policy,
                                                    const PrecisionConfig& precision,
                                                    const OperatorTaker& takes,
                                                    const Sharing& sharing) const {
    const auto places = state_->places_under(takes, precision.activations);
    Counted& of = state_->counts_of(state_->fused(policy));
    return state_->work_entry(of, precision, places, sharing).work.get([&] {
        const ShapedGraph& graph = *state_->graph;
        const Partition& cut = of.fused->partition;
        const auto alike = state_->alike_under(of, sharing).get([&] {
            const auto derived = sharing.devices() > 1 ? shard(graph, sharing) : nullptr;
            const auto kinds = derived ? find_kinds(graph, derived.get())
                                       : state_->kinds.get([&] { return find_kinds(graph); });
            return std::make_shared<const FormatsAlike>(FormatsAlike{
                derived, find_format_invariants(graph, *kinds, cut, of.fused->findings, derived.get())});
        });
        NetworkWork counted =
            make_network_work(graph, cut, precision, *places, alike->derived, *alike->common);
        counted.batch = state_->batch;
        return std::make_shared<const NetworkWork>(std::move(counted));
    });
}

std::shared_ptr<const BoundModel> BoundModel::divided(std::int64_t parts) const {
    const auto batch = state_->graph->dims.find(state_->batch_name);
    if (batch == state_->graph->dims.end() || parts <= 1 || batch->second % parts != 0)
        return nullptr;
    const std::int64_t factor = smallest_factor(parts);
    Once<BoundModel>& place = [&]() -> Once<BoundModel>& {
        const std::lock_guard lock(state_->mutex);
        return state_->divided[factor];
    }();
    const auto smaller = place.get([&] {
        Bindings fewer = state_->bindings;
        fewer.dims[state_->batch_name] = batch->second / factor;
        std::vector<std::shared_ptr<const BoundModel>> earlier;
        for (const auto& other : state_->earlier)
            if (auto known = other.lock()) {
                if (known->state_->model.graph == state_->model.graph &&
                    known->state_->operators == state_->operators &&
                    same_sizes(known->state_->bindings, fewer))
                    return known;
                earlier.push_back(std::move(known));
            }
        auto made = std::make_shared<const BoundModel>(state_->model, fewer, *state_->operators, earlier);
        if (fuse_alike(*state_->graph, *made->state_->graph))
            made->state_->partitions = state_->partitions;
        return made;
    });
    return parts == factor ? smaller : smaller->divided(parts / factor);
}

} // namespace archsim
