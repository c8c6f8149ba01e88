#include "session/prepared.hpp"

#include "core/lists.hpp"
#include "ops/given_values.hpp"
#include "session/generation/language_model.hpp"
#include "session/graph_run.hpp"
#include "session/parts.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace archsim {

class PreparedGraph : public Prepared {
  public:
    explicit PreparedGraph(std::shared_ptr<const BoundModel> bound) : bound_(std::move(bound)) {}
    std::shared_ptr<const ModelFacts> facts() const override { return bound_->facts(); }
    Result on(const Session& session, std::string_view device, const Conditions& conditions) const override {
        return run_graph(session, bound_, device, conditions);
    }
    std::shared_ptr<const BoundModel> graph() const override { return bound_; }

  private:
    const std::shared_ptr<const BoundModel> bound_;
};

static bool names(const Graph& graph, const std::string& size) {
    return std::ranges::any_of(graph.inputs, [&](TensorId input) {
        const auto& shape = graph.tensors[input].shape;
        return shape && std::ranges::any_of(*shape, [&](const Dimension& axis) {
                   const auto parts = names_in_expression(axis.symbol);
                   return axis.symbol == size || contains(parts, size);
               });
    });
}

static bool takes(const Model& model, const std::string& size) {
    return (model.graph && names(*model.graph, size)) ||
           std::ranges::any_of(model.info.parts,
                               [&](const ModelPart& part) { return contains(part.times, size); }) ||
           std::ranges::any_of(model.parts, [&](const Model& part) { return takes(part, size); });
}

/// Sizes of image and video generators mean nothing to other models, and would be dropped in silence.
static void check_generator_sizes(const Workload& workload) {
    for (const char* const size : {"steps", "guidance", "frames"})
        if (workload.sizes.dims.contains(size) && !takes(workload.model, size))
            throw UsageError(
                fmt::format("{}: {} has no such size; only image and video generators do, and of "
                            "guidance and frames only some",
                            size, workload.model.name()));
}

PreparedWorkloads::PreparedWorkloads(std::shared_ptr<const OperatorRegistry> operators)
    : operators_(std::move(operators)) {}

const OperatorRegistry& PreparedWorkloads::operators() const {
    return operators_ ? *operators_ : OperatorRegistry::standard();
}

std::shared_ptr<const GenerationModel> PreparedWorkloads::language(const Model& model,
                                                                   const Bindings& sizes) {
    const std::lock_guard lock(languages_mutex_);
    for (const auto& [known, language] : languages_)
        if (same_sizes(known, sizes))
            return language;
    return languages_.emplace_back(sizes, std::make_shared<const GenerationModel>(model, sizes, operators()))
        .second;
}

std::shared_ptr<const Prepared> prepare(const Workload& workload) {
    const Model& model = workload.model;
    if (!model.prepared)
        throw UsageError("a workload needs a model that Session::load returned");
    check_generator_sizes(workload);
    PreparedWorkloads& known = *model.prepared;
    return known.get(
        workload,
        [&](std::span<const std::shared_ptr<const BoundModel>> earlier) -> std::shared_ptr<Prepared> {
            if (workload.prompt)
                return std::make_shared<PreparedPrompt>(known.language(model, workload.sizes), workload.batch,
                                                        *workload.prompt);
            if (!model.parts.empty())
                return std::make_shared<PreparedParts>(model, workload.batch, workload.sizes,
                                                       known.operators());
            return std::make_shared<PreparedGraph>(
                bind_graph(model, workload.batch, workload.sizes, known.operators(), earlier));
        });
}

/// Calls `each(map)` for what is given by name: sizes, and shapes and values of inputs.
template <class Sizes, class Each>
static void for_each_given(Sizes& sizes, const Each& each) {
    each(sizes.dims);
    each(sizes.input_shapes);
    each(sizes.input_values);
    each(sizes.input_real_values);
    each(sizes.input_sequences);
}

std::vector<UnknownName> unknown_names(const Workload& workload) {
    bool given = false;
    for_each_given(workload.sizes, [&](const auto& names) { given = given || !names.empty(); });
    if (!given) // as nearly always
        return {};
    const std::shared_ptr<const ModelFacts> facts = prepare(workload)->facts();
    const auto& tensors = facts->graph->tensors;
    std::vector<UnknownName> unknown;
    for (const Finding& finding : facts->findings) {
        // A name that one part of several lacks, another may have.
        if (finding.kind != FindingKind::unknown_name || facts->dims.contains(finding.where) ||
            takes(workload.model, finding.where) || contains(tensors, finding.where, &ShapedTensor::name))
            continue;
        for_each_given(workload.sizes, [&](const auto& names) {
            if (names.contains(finding.where) && !contains(unknown, finding.where, &UnknownName::name))
                unknown.push_back({finding.where, fmt::format("\"{}\": {} ({})", finding.where,
                                                              finding.message, finding.hint)});
        });
    }
    return unknown;
}

void refuse_unknown_names(const Workload& workload) {
    if (const auto unknown = unknown_names(workload); !unknown.empty())
        throw UsageError(fmt::format("{}: {}", workload.model.name(), unknown.front().message));
}

Workload of_shared_sizes(Workload workload, std::span<const Model> models) {
    const std::vector<UnknownName> unknown = unknown_names(workload);
    for (const UnknownName& name : unknown) {
        const auto has = [&](const Model& model) {
            Workload other = workload;
            other.model = model;
            const auto lacks = unknown_names(other);
            return !contains(lacks, name.name, &UnknownName::name);
        };
        if (std::ranges::none_of(models, has))
            throw UsageError(fmt::format("{}: {}", workload.model.name(), name.message));
    }
    for (const UnknownName& name : unknown)
        for_each_given(workload.sizes, [&](auto& names) { names.erase(name.name); });
    return workload;
}

} // namespace archsim
