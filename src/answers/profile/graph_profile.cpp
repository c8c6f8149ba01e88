#include "answers/profile/graph_profile.hpp"

#include "core/lists.hpp"
#include "core/text.hpp"
#include "ops/uncounted.hpp"
#include "report/blocks/columns.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_set>

namespace archsim {

static bool is_constant(const ShapedTensor& tensor) {
    return tensor.constant || tensor.role == TensorRole::initializer;
}

static double bytes_of(const ShapedTensor& tensor, double elements) {
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
static void add_to_tree(Module& root, std::string_view node, const ProfileSums& sums) {
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

static void flatten(const Module& module, int depth, std::vector<ModuleProfile>& out) {
    out.push_back({module.name, depth, module.sums});
    for (const Module& child : module.children)
        flatten(child, depth + 1, out);
}

static std::string_view domain_name(const OperatorRow& row) {
    return row.domain.empty() ? std::string_view("ai.onnx") : row.domain;
}

static std::vector<const OperatorRow*> by_domain(const OperatorRegistry& operators) {
    auto rows = mapped(operators.rows(), [](const OperatorRow& row) { return &row; });
    std::ranges::sort(rows, [](const OperatorRow* a, const OperatorRow* b) {
        return std::tuple(domain_name(*a), a->name) < std::tuple(domain_name(*b), b->name);
    });
    return rows;
}

using OperatorColumns = std::vector<ColumnOf<const OperatorRow*>>;

static OperatorColumns operator_columns(bool with_domain) {
    using R = const OperatorRow*;
    constexpr CellType kText = CellType::text, kNumber = CellType::number;
    const auto cost = [](double ElementCost::*of) {
        return [of](R row) {
            const double value = row->cost.*of;
            return row->cost.vector > 0 || row->cost.special > 0 ? Cell{fmt::format("{}", value), value}
                                                                 : Cell{};
        };
    };
    OperatorColumns columns;
    if (with_domain)
        columns.emplace_back(
            Column{"Domain", "", "domain"}, [](R row) { return domain_name(*row); }, kText);
    append(
        columns,
        {{{"Operator", "", "name"}, [](R row) { return row->name; }, kText},
         {most_best("Since", "", "since"), [](R row) { return count_cell(true, row->since); },
          CellType::count, "first version of its domain that has it"},
         {{"Kind", "", "kind"}, [](R row) { return name_of(row->kind); }, kText, "what hardware has to do"},
         {{"Fusion", "", "fusion", Align::left, 1},
          [](R row) { return name_of(row->fusion); },
          kText,
          "how it may join its neighbours in one kernel"},
         {least_best("Vector", "", "vector_per_element", 2), cost(&ElementCost::vector), kNumber,
          "operations; null: no fixed number describes them"},
         {least_best("Special", "", "special_per_element", 2), cost(&ElementCost::special), kNumber,
          "exp, log, erf, roots, division, trigonometry"},
         {{"Meaning and count", "", "doc", Align::left, 3},
          [](R row) { return text_cell(std::string(row->doc)); },
          kText}});
    return columns;
}

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

Report describe(const OperatorRegistry& operators, PlainView, Format format) {
    const bool one_table = format == Format::csv;
    const auto rows = by_domain(operators);
    Report report{"Operators", {}};
    add_blocks(
        report, Heading{1, report.title},
        Paragraph{fmt::format("{} operators. Since is the first version of its domain that has the operator; "
                              "every later form is read too, up to opset {} of ai.onnx. Kind is what "
                              "hardware has to do; fusion is how the operator may join its neighbours in one "
                              "kernel.",
                              rows.size(), kNewestOpset)},
        Paragraph{"Vector and special are the operations per element outside matrix products, where a fixed "
                  "number describes them (special: exp, log, erf, square root, division, trigonometry). "
                  "Elements are those of the output for elementwise kinds and of the input for reductions, "
                  "normalisations and softmax. 1 multiply-accumulate = 2 operations."});
    for (auto first = rows.begin(); first != rows.end();) {
        const auto last =
            one_table ? rows.end() : std::find_if(first, rows.end(), [&](const OperatorRow* row) {
                return domain_name(*row) != domain_name(**first);
            });
        if (!one_table)
            report.blocks.emplace_back(
                Heading{2, fmt::format("{} ({})", domain_name(**first), last - first)});
        report.blocks.emplace_back(table_of({}, operator_columns(one_table), std::vector(first, last)));
        first = last;
    }
    return report;
}

AnswerDocument document_of(const OperatorRegistry& operators, PlainView) {
    return {operators,
            "operators",
            "operators that are understood",
            {{"newest_opset", "of ai.onnx", [](const OperatorRegistry&) { return kNewestOpset; }},
             {"operators", "", by_domain, members_of(operator_columns(true))}}};
}

} // namespace archsim
