#include "session/parts.hpp"

#include "checkpoint/diffusion.hpp"
#include "core/lists.hpp"
#include "estimate/algebra.hpp"
#include "session/graph_run.hpp"

#include <algorithm>

namespace archsim {

constexpr const char* kOthers = "other_tokens"; ///< input and size of a divided denoiser

static std::int64_t size_in(const Bindings& bindings, const CatalogueEntry& info, const char* name) {
    if (const auto given = bindings.dims.find(name); given != bindings.dims.end())
        return given->second;
    const auto stated = info.dims.find(name);
    return stated != info.dims.end() ? stated->second : 0;
}

static std::int64_t part_of(std::int64_t size, std::int64_t devices, std::int64_t unit) {
    return ((size + devices - 1) / devices + unit - 1) / unit * unit;
}

/// Keys and values that attention sees beside its own, one operator each.
template <class Use>
static void for_each_exchange(const ShapedGraph& graph, const Use& use) {
    for (const Operator& op : graph.operators) {
        const bool exchanged = std::ranges::any_of(
            op.inputs, [&](TensorId id) { return id != kNoTensor && graph.tensors[id].name == kOthers; });
        if (exchanged)
            use(graph.tensors[op.outputs.front()]);
    }
}

/// Seconds that a device waits for the tokens of the others.
static double exchange_s(const ShapedGraph& graph, const NetworkWork& work, const Machine& machine,
                         double devices) {
    double others = 0;
    for (const ShapedTensor& tensor : graph.tensors)
        if (tensor.name == kOthers)
            others = tensor.elements();
    double elements = 0, collectives = 0;
    for_each_exchange(graph, [&](const ShapedTensor& joined) {
        // Elements of keys or values; queries and results are as large.
        elements += 2 * (joined.elements() - others) * (devices - 1) / devices;
        collectives += 2;
    });
    const double bytes = elements * bits_of(work.precision.activations) / 8;
    return bytes / (machine.rate(Resource::link_bytes) * machine.param(Parameter::link_efficiency, 1)) +
           collectives * machine.param(Parameter::link_latency, 0);
}

DividedDenoisers::DividedDenoisers(const Model& model, std::int64_t batch, const Bindings& bindings,
                                   const OperatorRegistry& operators)
    : info_(model.info), bindings_(bindings), batch_(batch), operators_(operators), budget_(model.budget) {
    generator_ =
        std::ranges::any_of(info_.parts, [](const ModelPart& part) { return contains(part.times, "steps"); });
}

const DividedDenoisers::Denoisers& DividedDenoisers::on(std::int64_t devices) const {
    const std::lock_guard lock(mutex_);
    const auto known = made_.find(devices);
    if (known != made_.end())
        return known->second;
    // Rows of the image in whole patches of the coarsest latents.
    constexpr std::int64_t kRows = 32;
    Denoisers made;
    for (DiffusionPart& part : read_diffusion_pipeline(info_.file, true).parts) {
        if (!part.divides)
            continue;
        ImportedGraph imported;
        imported.info.name = info_.name + "#" + part.name;
        imported.info.dims = info_.dims;
        imported.budget = budget_;
        imported.graph = std::make_shared<const Graph>(std::move(part.graph));
        Bindings own = bindings_;
        own.dims["height"] = part_of(size_in(bindings_, info_, "height"), devices, kRows);
        if (const std::int64_t text = size_in(bindings_, info_, "sequence"); text > 0)
            own.dims["sequence"] = part_of(text, devices, 1);
        own.dims[kOthers] = 1;
        // How many the others have follows from how many this device has.
        const auto once = bind_graph(imported, batch_, own, operators_);
        std::int64_t tokens = 0;
        for_each_exchange(once->graph(), [&](const ShapedTensor& joined) { tokens = joined.shape[1] - 1; });
        own.dims[kOthers] = std::max<std::int64_t>(1, (devices - 1) * tokens);
        made.emplace(part.name, bind_graph(imported, batch_, own, operators_));
    }
    return made_.emplace(devices, std::move(made)).first->second;
}

Result DividedDenoisers::run(const Session& session, const std::shared_ptr<const BoundModel>& whole,
                             const std::string& part, std::string_view device,
                             const Conditions& conditions) const {
    Conditions one = conditions;
    one.devices = 1;
    try {
        const auto machine = session.machine(device, conditions);
        if (machine->rate(Resource::link_bytes) <= 0) {
            Result refused = asked(whole->facts(), device, conditions);
            refused.device = machine->device;
            refused.estimate.status = Status::unsupported;
            refused.estimate.reason =
                "has no interconnect in the database; several devices are not estimated";
            return refused;
        }
        const Denoisers& denoisers = on(static_cast<std::int64_t>(conditions.devices));
        if (denoisers.empty())
            return run_graph(session, whole, device, conditions);
        const auto denoiser = denoisers.find(part);
        Result result =
            run_graph(session, denoiser != denoisers.end() ? denoiser->second : whole, device, one);
        result.conditions = conditions;
        if (denoiser != denoisers.end() && result.ok())
            result.estimate =
                lengthened(std::move(result.estimate),
                           exchange_s(denoiser->second->graph(), *result.work, *machine, conditions.devices),
                           machine->static_power_w);
        result.machine = machine;
        result.estimate = on_devices(std::move(result.estimate), conditions.devices);
        return result;
    } catch (const Error& problem) {
        Result refused = asked(whole->facts(), device, conditions);
        refused.estimate.status = Status::unsupported;
        refused.estimate.reason = problem.what();
        return refused;
    }
}

} // namespace archsim
