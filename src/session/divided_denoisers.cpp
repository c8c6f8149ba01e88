#include "session/parts.hpp"

#include "checkpoint/diffusion.hpp"
#include "core/lists.hpp"
#include "estimate/algebra.hpp"
#include "session/graph_run.hpp"

#include <algorithm>

namespace archsim {

static std::int64_t size_in(const Bindings& bindings, const CatalogueEntry& info, const char* name) {
    if (const auto given = bindings.dims.find(name); given != bindings.dims.end())
        return given->second;
    const auto stated = info.dims.find(name);
    return stated != info.dims.end() ? stated->second : 0;
}

static std::int64_t part_of(std::int64_t size, std::int64_t devices, std::int64_t unit) {
    return ((size + devices - 1) / devices + unit - 1) / unit * unit;
}

/// Tokens of one device that the first attention joins with those of others.
static std::int64_t joined_tokens(const ShapedGraph& graph) {
    for (const Operator& op : graph.operators)
        for (const TensorId id : op.inputs)
            if (id != kNoTensor && graph.tensors[id].name == kOtherTokens)
                return graph.tensors[op.outputs.front()].shape[1] - graph.tensors[id].shape[1];
    return 0;
}

static std::int64_t prompt_tokens(const ShapedGraph& graph) {
    const auto text = std::ranges::find_if(
        graph.tensors, [](const ShapedTensor& t) { return t.name == "encoder_hidden_states"; });
    return text != graph.tensors.end() && text->shape.size() > 1 ? text->shape[1] : 0;
}

/// A pass of a device that waits for the tokens of others. Where the host starts every kernel it starts every
/// exchange as well, ahead of the device: the longer of both decides.
static Estimate with_exchanges(Estimate e, const ShapedGraph& graph, const NetworkWork& work,
                               const Machine& machine, double devices) {
    double elements = 0, copies = 0;
    for (const Operator& op : graph.operators) {
        if (op.type != "Transpose") // others may have no first output
            continue;
        const ShapedTensor& copy = graph.tensors[op.outputs.front()];
        if (copy.name.find(kExchange) != std::string::npos) {
            elements += copy.elements() / 2; // one copy before, one after
            copies += 1;
        }
    }
    const double bytes = elements * (devices - 1) / devices * bits_of(work.precision.activations) / 8,
                 sent = bytes /
                        (machine.rate(Resource::link_bytes) * machine.param(Parameter::link_efficiency, 1)),
                 start = copies / 2 * machine.param(Parameter::link_latency, 0),
                 launched = launches_s(work, machine);
    double waited = 0;
    for (const Demand& d : e.network.fixed.all())
        if (d.reason == Parameter::uncaptured_launch)
            waited += d.amount;
    const double device = e.latency_s - waited + sent;
    const double longer = (launched > 0 ? std::max(device, launched + start) : device + start) - e.latency_s;
    return lengthened(std::move(e), longer, machine.static_power_w);
}

DividedDenoisers::DividedDenoisers(const Model& model, std::int64_t batch, const Bindings& bindings,
                                   const OperatorRegistry& operators)
    : info_(model.info), bindings_(bindings), batch_(batch), operators_(operators), budget_(model.budget) {
    generator_ =
        std::ranges::any_of(info_.parts, [](const ModelPart& part) { return contains(part.times, "steps"); });
}

double DividedDenoisers::pictures_s() const {
    // The work of pt_to_numpy and numpy_to_pil of diffusers with 3 x 1024 x 1024 floats (scale, round,
    // narrow, put channels last) takes numpy 1.24 and Pillow 37 to 42 ms of one core of an AMD EPYC, November
    // 2026.
    constexpr double kPixelTime = 37e-9;
    const auto size = [&](const char* name) { return static_cast<double>(size_in(bindings_, info_, name)); };
    return kPixelTime * static_cast<double>(batch_) * size("width") * size("height") *
           std::max(1.0, size("frames"));
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
        if (part.divides == DiffusionPart::Divides::nothing)
            continue;
        const bool all = part.divides == DiffusionPart::Divides::all;
        ImportedGraph imported;
        imported.info.name = info_.name + "#" + part.name;
        imported.info.dims = info_.dims;
        imported.budget = budget_;
        imported.graph = std::make_shared<const Graph>(std::move(part.graph));
        Bindings own = bindings_;
        own.dims["height"] = part_of(size_in(bindings_, info_, "height"), devices, kRows);
        const auto set = [&](const char* name, std::int64_t tokens) {
            if (contains(imported.graph->tensors, name, &Tensor::name))
                own.dims[name] = std::max<std::int64_t>(1, tokens);
        };
        set(kOtherTokens, 1);
        set(kOtherPrompts, 1);
        // How many the others have follows from how many this device has. Prompts that do not divide evenly
        // stay whole on every device (_chunk_text_for_sp of xDiT).
        const auto once = bind_graph(imported, batch_, own, operators_);
        const std::int64_t text = prompt_tokens(once->graph());
        std::int64_t others = joined_tokens(once->graph());
        const std::int64_t sequence = size_in(bindings_, info_, "sequence"), left = text - text / devices;
        const bool even = all && text % devices == 0 && sequence > left;
        if (even)
            own.dims["sequence"] = sequence - left;
        others -= even ? left : all ? text : 0;
        set(kOtherTokens, (devices - 1) * others);
        set(kOtherPrompts, (devices - 1) * text);
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
            result.estimate = with_exchanges(std::move(result.estimate), denoiser->second->graph(),
                                             *result.work, *machine, conditions.devices);
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
