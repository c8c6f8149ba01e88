#include "session/usual_precision.hpp"

#include "archsim/core/finding.hpp"
#include "archsim/map/machine.hpp"
#include "core/lists.hpp"
#include "ops/families.hpp"
#include "session/prepared.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <variant>

namespace archsim {

/// Elements of what a file stores, by type, and how its activations are quantised.
struct Stored {
    std::map<DataType, double> weights;
    double quantized_activations = 0, wide_activations = 0; ///< operators that make 8 bits, 16 bits of floats
    double dynamic = 0;                                     ///< operators that quantise at run time
};

static double elements_of(const Tensor& tensor) {
    double elements = 1;
    for (const Dimension& d : *tensor.shape)
        elements *= static_cast<double>(std::max<std::int64_t>(d.value, 0));
    return elements;
}

/// Type of the zero point, which is that of the result.
static DataType quantized_type(const Graph& graph, const Node& node) {
    const bool given = node.inputs.size() > 2 && node.inputs[2] != kNoTensor;
    return given ? graph.tensors[node.inputs[2]].type : DataType::uint8;
}

static void add(const Graph& graph, Stored& stored) {
    for (const Tensor& tensor : graph.tensors)
        if (tensor.role == TensorRole::initializer && tensor.shape && !tensor.shape->empty())
            stored.weights[tensor.type] += elements_of(tensor);
    for (const Node& node : graph.nodes) {
        if (node.op_type == "QuantizeLinear" && !node.inputs.empty() && node.inputs[0] != kNoTensor &&
            graph.tensors[node.inputs[0]].role != TensorRole::initializer) {
            const DataType type = quantized_type(graph, node);
            (type == DataType::int16 || type == DataType::uint16 ? stored.wide_activations
                                                                 : stored.quantized_activations) += 1;
        }
        if (node.op_type.starts_with("QLinear"))
            stored.quantized_activations += 1;
        if (node.op_type.starts_with("Dynamic"))
            stored.dynamic += 1;
        for (const auto& [key, value] : node.attributes)
            if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&value); body && *body)
                add(**body, stored);
    }
}

/// A checkpoint's statement of its weights, products and cache beside their types (archsim.Stored).
static std::optional<Precision> stated(const Graph& graph, std::string_view what) {
    for (const Node& node : graph.nodes)
        if (node.op_type == "Stored" && node.domain == kArchsimDomain)
            if (const AttributeValue* value = node.attribute(what))
                if (const auto* name = std::get_if<std::string>(value))
                    return parse_precision(*name);
    return std::nullopt;
}

std::optional<PrecisionConfig> format_of_file(const Graph& graph) {
    Stored stored;
    add(graph, stored);
    const auto of = [&](DataType type) {
        const auto at = stored.weights.find(type);
        return at == stored.weights.end() ? 0.0 : at->second;
    };
    const double halves = of(DataType::float16), brains = of(DataType::bfloat16),
                 singles = of(DataType::float32) + of(DataType::float64);
    const double floats = halves + brains + singles, bytes = of(DataType::int8) + of(DataType::uint8);
    if (floats + bytes <= 0)
        return std::nullopt;
    // Packed 4-bit weights are bytes too, but nothing quantises what they multiply.
    if (bytes > floats && stored.quantized_activations + stored.wide_activations > stored.dynamic) {
        if (stored.wide_activations <= stored.quantized_activations)
            return PrecisionConfig::uniform(Precision::int8);
        PrecisionConfig config = PrecisionConfig::uniform(Precision::int16);
        config.weights = Precision::int8;
        return config;
    }
    return PrecisionConfig::uniform(floats <= 0 ? Precision::fp32 // stored narrow, multiplied wide
                                    : halves >= std::max(brains, singles) ? Precision::fp16
                                    : brains >= std::max(halves, singles) ? Precision::bf16
                                                                          : Precision::fp32);
}

std::optional<Precision> stored_weights(const Graph& graph) {
    return stated(graph, "format");
}

std::optional<PrecisionConfig> quantised_products(const Graph& graph) {
    const std::optional<Precision> products = stated(graph, "products");
    if (!products)
        return std::nullopt;
    PrecisionConfig config = PrecisionConfig::uniform(Precision::bf16); // what lies between products
    config.compute = *products;
    config.weights = stated(graph, "format").value_or(*products);
    // Floats that meet wider ones (MXFP4 weights and FP8 activations) need no format of their own: every
    // matrix of a checkpoint states its bits.
    if (!is_integer(config.weights) && bits_of(config.weights) < bits_of(*products))
        config.weights = *products;
    config.kv_cache = stated(graph, "cache").value_or(config.kv_cache);
    if (is_integer(*products)) // as "w8a8"
        config.activations = *products;
    return config;
}

PrecisionConfig usual_precision(const Workload& workload, bool strict_fp32) {
    const CatalogueEntry& own = workload.model.info;
    PrecisionConfig config = PrecisionConfig::uniform(Precision::fp32);
    if (!strict_fp32)
        config = own.products      ? *own.products
                 : workload.prompt ? PrecisionConfig::uniform(Precision::bf16)
                                   : own.format.value_or(config);
    config.strict_fp32 = strict_fp32;
    return config;
}

std::vector<PrecisionConfig> deployed_on(const Machine& machine) {
    constexpr std::array kDeployed = {Precision::fp32, Precision::fp16, Precision::bf16, Precision::int8};
    std::vector<PrecisionConfig> deployed;
    const auto add = [&](const Precision p) {
        const PrecisionConfig asked = PrecisionConfig::uniform(p);
        const ExecutedPrecision runs = resolve_precision(*machine.device, *machine.runtime, asked);
        const Precision multiplied = runs.config.compute;
        const bool as_asked = multiplied == p || (p == Precision::fp32 && multiplied == Precision::tf32);
        if (runs.supported && as_asked && !contains(machine.runtime->unusual, p))
            deployed.push_back(asked);
    };
    std::for_each(kDeployed.begin(), kDeployed.end(), add);
    if (deployed.empty()) // a chip for 16-bit integers alone is used with those
        std::for_each(kPrecisions.begin(), kPrecisions.end(), add);
    return deployed;
}

Conditions in_fastest_format(const Machine& machine, Conditions conditions,
                             const std::function<double(const Conditions&)>& rate) {
    if (!conditions.format_of_device)
        return conditions;
    conditions.format_of_device = false;
    const std::vector<PrecisionConfig> deployed = deployed_on(machine);
    const auto with = [&](const PrecisionConfig& format) {
        Conditions meant = conditions;
        meant.precision = format;
        meant.precision.strict_fp32 = conditions.precision.strict_fp32;
        meant.precision.weights = conditions.weights.value_or(format.weights);
        return meant;
    };
    if (deployed.empty())
        return conditions;
    // Where none runs, the narrowest says how far from it the device is.
    const PrecisionConfig* fastest = &*std::min_element(
        deployed.begin(), deployed.end(), [](const PrecisionConfig& a, const PrecisionConfig& b) {
            return bits_of(a.weights) < bits_of(b.weights);
        });
    double most = 0;
    for (std::size_t i = 0; deployed.size() > 1 && i < deployed.size(); ++i) {
        Conditions trial = with(deployed[i]);
        trial.keep_subgraphs = false;
        if (const double now = rate(trial); now > most) {
            most = now;
            fastest = &deployed[i];
        }
    }
    return with(*fastest);
}

Conditions settled(Conditions conditions, const Workload& workload) {
    if (!conditions.precision.named()) {
        const auto& own = workload.model.info.format;
        conditions.format_of_device = !workload.prompt && !workload.model.info.products &&
                                      !(own && own->compute != Precision::fp32) &&
                                      !conditions.precision.strict_fp32;
        conditions.precision = usual_precision(workload, conditions.precision.strict_fp32);
        // The product of integer weights is the stack's choice, as of "int4".
        if (workload.prompt && conditions.weights && is_integer(*conditions.weights) &&
            conditions.precision.compute == Precision::bf16)
            conditions.precision = PrecisionConfig::uniform(Precision::fp16);
    }
    conditions.precision.weights = conditions.weights.value_or(conditions.precision.weights);
    if (!conditions.format_of_device)
        conditions.weights.reset();
    return conditions;
}

static bool names_sizes(const Bindings& sizes) {
    return !sizes.dims.empty() || !sizes.input_shapes.empty() || !sizes.input_values.empty() ||
           !sizes.input_real_values.empty() || !sizes.input_sequences.empty();
}

/// Facts of a language model stand at the model, or at the last of its parts.
static bool is_language_model(const Model& model) {
    return model.info.language_model || (!model.parts.empty() && is_language_model(model.parts.back()));
}

Workload usual_question(Workload workload) {
    if (workload.prompt || workload.single_pass || names_sizes(workload.sizes) || !workload.model.prepared ||
        !is_language_model(workload.model))
        return workload;
    try {
        workload.model.prepared->language(workload.model, workload.sizes);
        workload.prompt.emplace();
    } catch (const UsageError&) { // no cache of keys and values: it answers no prompts
    }
    return workload;
}

} // namespace archsim
