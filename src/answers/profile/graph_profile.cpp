#include "answers/profile/graph_profile.hpp"

#include "core/lists.hpp"
#include "core/text.hpp"
#include "ops/uncounted.hpp"

#include <algorithm>
#include <unordered_set>

namespace archsim {

namespace {

bool is_constant(const ShapedTensor& tensor) {
    return tensor.constant || tensor.role == TensorRole::initializer;
}

double bytes_of(const ShapedTensor& tensor, double elements) {
    return elements * tensor.stored_bits() / 8;
}

class Profiler {
  public:
    explicit Profiler(const ShapedGraph& graph) : graph_(graph), sources_(graph.tensors.size()) {
        for (TensorId id = 0; id < graph.tensors.size(); ++id)
            if (graph.tensors[id].learned || graph.tensors[id].role == TensorRole::initializer)
                sources_[id] = {id};
        for (const Finding& finding : graph.findings)
            if (finding.severity == Severity::error)
                faulty_.insert(finding.where);
    }

    ProfileSums sums(const Operator& op) {
        ProfileSums sums;
        sums.operators = 1;
        sums.unknown = is_unknown(op) ? 1 : 0;
        sums.macs = op.repeat * op.work.macs;
        sums.operations = op.repeat * op.work.operations();
        for (std::size_t i = 0; i < op.inputs.size(); ++i)
            if (op.inputs[i] != kNoTensor)
                add_input(op, i, sums);
        if (op.work.kind != OpKind::free)
            for (std::size_t i = 0; i < op.outputs.size(); ++i)
                if (op.outputs[i] != kNoTensor && graph_.tensors[op.outputs[i]].known) {
                    const ShapedTensor& tensor = graph_.tensors[op.outputs[i]];
                    sums.activation_bytes += op.repeat * bytes_of(tensor, written_elements(op, i, tensor));
                }
        return sums;
    }

    /// A constant that is computed at build time hands the initializers it was made from on to its readers.
    void pass_on(const Operator& folded) {
        // Without outputs it says what lies in memory: a tower of images beside a decoder.
        if (folded.outputs.empty())
            for (const TensorId id : folded.inputs)
                if (graph_.tensors[id].role == TensorRole::initializer)
                    store(id);
        for (const TensorId output : folded.outputs) {
            if (output == kNoTensor)
                continue;
            auto& sources = sources_[output];
            for (const TensorId input : folded.inputs)
                if (input != kNoTensor)
                    append(sources, sources_[input]);
            std::ranges::sort(sources);
            sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
        }
    }

    double stored_weight_bytes() const { return stored_weight_bytes_; }

  private:
    bool is_unknown(const Operator& op) const {
        return faulty_.contains(op.name) || std::ranges::any_of(op.outputs, [&](TensorId id) {
                   return id != kNoTensor && !graph_.tensors[id].known;
               });
    }

    void add_input(const Operator& op, std::size_t index, ProfileSums& sums) {
        const TensorId id = op.inputs[index];
        const ShapedTensor& tensor = graph_.tensors[id];
        for (const TensorId source : sources_[id])
            if (const ShapedTensor& learned = graph_.tensors[source];
                learned.learned && learned.known && counted_.insert(source).second)
                sums.parameters += learned.elements() * learned.packing;
        if (!tensor.known || op.work.kind == OpKind::free)
            return;
        const double elements = read_elements(op, index, tensor);
        if (is_constant(tensor)) {
            sums.weight_bytes += op.repeat * bytes_of(tensor, elements);
            if (sources_[id].empty() && tensor.role == TensorRole::initializer) // else made of sizes alone
                store(id);
            for (const TensorId source : sources_[id])
                store(source);
        } else {
            sums.activation_bytes += op.repeat * bytes_of(tensor, elements);
        }
    }

    /// The file holds what a constant was made from, once, however many forms of it are read.
    void store(TensorId id) {
        const ShapedTensor& tensor = graph_.tensors[id];
        if (tensor.known && stored_.insert(id).second)
            stored_weight_bytes_ += bytes_of(tensor, tensor.elements());
    }

    const ShapedGraph& graph_;
    std::vector<std::vector<TensorId>> sources_;  ///< initializers that a constant was made from
    std::unordered_set<std::string_view> faulty_; ///< names that error findings give
    std::unordered_set<TensorId> counted_, stored_;
    double stored_weight_bytes_ = 0;
};

struct Module {
    std::string name;
    ProfileSums sums;
    std::vector<Module> children; ///< in order of first appearance

    Module& child(std::string_view child_name) {
        const auto known = std::find_if(children.rbegin(), children.rend(),
                                        [&](const Module& module) { return module.name == child_name; });
        return known != children.rend() ? *known
                                        : children.emplace_back(Module{std::string(child_name), {}, {}});
    }
};

/// "/layer1/layer1.0/conv1/Conv" belongs to layer1, layer1.0 and conv1.
void add_to_tree(Module& root, std::string_view node, const ProfileSums& sums) {
    constexpr int kMaxDepth = 64;
    root.sums += sums;
    Module* module = &root;
    for (int depth = 0; depth < kMaxDepth; ++depth) {
        const std::size_t slash = node.find('/');
        if (slash == std::string_view::npos)
            return;
        if (slash > 0) {
            module = &module->child(node.substr(0, slash));
            module->sums += sums;
        }
        node.remove_prefix(slash + 1);
    }
}

void flatten(const Module& module, int depth, std::vector<ModuleProfile>& out) {
    out.push_back({module.name, depth, module.sums});
    for (const Module& child : module.children)
        flatten(child, depth + 1, out);
}

} // namespace

ProfileSums& ProfileSums::operator+=(const ProfileSums& other) {
    operators += other.operators;
    unknown += other.unknown;
    macs += other.macs;
    operations += other.operations;
    parameters += other.parameters;
    weight_bytes += other.weight_bytes;
    activation_bytes += other.activation_bytes;
    return *this;
}

GraphProfile profile_graph(const std::string& name, std::shared_ptr<const ShapedGraph> graph) {
    GraphProfile profile;
    profile.name = name;
    profile.complete = graph->complete();
    Profiler profiler(*graph);
    std::map<std::string, ProfileSums> by_type;
    Module root{name, {}, {}};
    for (const Operator& op : graph->operators) {
        if (op.folded) {
            profiler.pass_on(op);
            continue;
        }
        const ProfileSums sums = profiler.sums(op);
        profile.operators.push_back({&op, sums});
        by_type[op.type] += sums;
        add_to_tree(root, op.name, sums);
    }
    profile.totals = root.sums;
    profile.stored_weight_bytes = profiler.stored_weight_bytes();
    for (const auto& [type, sums] : by_type)
        profile.types.push_back({type, sums});
    std::ranges::stable_sort(profile.types, [](const TypeProfile& a, const TypeProfile& b) {
        return a.sums.operations > b.sums.operations;
    });
    flatten(root, 0, profile.modules);
    profile.precisions = precision_mix(*graph);
    profile.graph = std::move(graph);
    return profile;
}

} // namespace archsim
