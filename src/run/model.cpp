#include "archsim/run/model.hpp"

#include "map/sharding.hpp"

namespace archsim {

namespace {

ModelFacts describe(const CatalogueEntry& info, std::shared_ptr<const ShapedGraph> graph) {
    ModelFacts facts;
    facts.name = info.name;
    facts.title = info.title;
    facts.source = info.source;
    facts.parameters = graph->parameters();
    facts.macs = graph->macs();
    facts.operations = graph->operations();
    facts.dims = graph->dims;
    facts.findings = graph->findings;
    for (const Operator& op : graph->operators)
        facts.operators += !op.folded && op.work.kind != OpKind::free;
    facts.graph = std::move(graph);
    return facts;
}

} // namespace

std::int64_t next_smaller_batch(std::int64_t batch) {
    for (std::int64_t factor = 2; factor * factor <= batch; ++factor)
        if (batch % factor == 0)
            return batch / factor;
    return 1;
}

std::string batch_symbol(const Graph& graph) {
    std::string leading;
    for (TensorId input : graph.inputs) {
        const Tensor& tensor = graph.tensors[input];
        if (!tensor.shape || tensor.shape->empty())
            continue;
        for (const Dimension& dimension : *tensor.shape)
            if (dimension.symbol == "batch")
                return "batch";
        if (leading.empty())
            leading = tensor.shape->front().symbol;
    }
    return leading;
}

BoundModel::BoundModel(Model model, const Bindings& bindings, const OperatorRegistry& operators)
    : model_(std::move(model)), bindings_(bindings), operators_(&operators),
      graph_(std::make_shared<const ShapedGraph>(
          archsim::bind(*model_.graph, bindings, model_.info.dims, operators))),
      facts_(std::make_shared<const ModelFacts>(describe(model_.info, graph_))),
      batch_symbol_(batch_symbol(*model_.graph)) {
    if (const auto size = graph_->dims.find(batch_symbol_); size != graph_->dims.end())
        batch_ = static_cast<double>(size->second);
    else if (bindings.batch_size)
        batch_ = static_cast<double>(*bindings.batch_size);
    for (const Operator& op : graph_->operators)
        types_.insert(op.type);
}

BoundModel::PartitionEntry& BoundModel::partition_entry(const FusionPolicy& policy) const {
    const std::lock_guard lock(mutex_);
    for (PartitionEntry& known : partitions_)
        if (known.policy == policy)
            return known;
    PartitionEntry& entry = partitions_.emplace_back();
    entry.policy = policy;
    return entry;
}

std::shared_ptr<const Partition> BoundModel::partition(const FusionPolicy& policy) const {
    return partition_entry(policy).partition.get(
        [&] { return std::make_shared<const Partition>(archsim::partition(*graph_, policy)); });
}

std::vector<std::string> BoundModel::occurring(const std::vector<std::string>& types) const {
    std::vector<std::string> found;
    for (const std::string& type : types)
        if (types_.contains(type))
            found.push_back(type);
    return found;
}

BoundModel::WorkEntry& BoundModel::work_entry(const FusionPolicy& policy, const PrecisionConfig& precision,
                                              const std::vector<std::string>& unsupported,
                                              double chips) const {
    const std::lock_guard lock(mutex_);
    for (WorkEntry& known : works_)
        if (known.policy == policy && known.precision == precision && known.unsupported == unsupported &&
            known.chips == chips)
            return known;
    WorkEntry& entry = works_.emplace_back();
    entry.policy = policy;
    entry.precision = precision;
    entry.unsupported = unsupported;
    entry.chips = chips;
    return entry;
}

std::shared_ptr<const NetworkWork> BoundModel::work(const FusionPolicy& policy,
                                                    const PrecisionConfig& precision,
                                                    const std::vector<std::string>& unsupported_types,
                                                    double chips) const {
    const std::vector<std::string> unsupported = occurring(unsupported_types);
    return work_entry(policy, precision, unsupported, chips).work.get([&] {
        PartitionEntry& entry = partition_entry(policy);
        const Partition& fused = *partition(policy);
        std::shared_ptr<const DerivedCounts> derived;
        std::shared_ptr<const FormatInvariants> common;
        if (chips > 1)
            derived = shard(*graph_, chips);
        else
            common = entry.common.get([&] { return find_format_invariants(*graph_, fused); });
        NetworkWork counted =
            make_network_work(*graph_, fused, precision, unsupported, std::move(derived), common.get());
        counted.batch = batch_;
        return std::make_shared<const NetworkWork>(std::move(counted));
    });
}

std::shared_ptr<const BoundModel> BoundModel::smaller() const {
    const auto batch = graph_->dims.find(batch_symbol_);
    if (batch == graph_->dims.end() || batch->second <= 1)
        return nullptr;
    return smaller_.get([&] {
        Bindings fewer = bindings_;
        fewer.dims[batch_symbol_] = next_smaller_batch(batch->second);
        return std::make_shared<const BoundModel>(model_, fewer, *operators_);
    });
}

} // namespace archsim
