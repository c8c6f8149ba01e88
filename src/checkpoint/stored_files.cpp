#include "checkpoint/stored_files.hpp"

#include "checkpoint/fields.hpp"
#include "checkpoint/graph_maker.hpp"
#include "core/input_file.hpp"
#include "core/parse_number.hpp"
#include "core/text_file.hpp"

#include <fmt/format.h>

namespace archsim::checkpoint {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kPointer = "version https://git-lfs.github.com/spec/", kSize = "\nsize ";
constexpr std::uintmax_t kLargestPointer = 1024, kLargestIndex = 256u << 20;

static std::string pointer_text(const fs::path& file) {
    std::error_code problem;
    if (fs::file_size(file, problem) > kLargestPointer || problem)
        return {};
    std::string text = read_text_file(file);
    return text.starts_with(kPointer) ? text : std::string();
}

constexpr std::string_view kHeads[] = {"lm_head", "output", "embed_out", "output_layer", "head"};

/// Bytes of the file that a pointer stands for.
static double pointed_bytes(const std::string& text) {
    const std::size_t at = text.find(kSize);
    std::string_view rest =
        std::string_view(text).substr(at == std::string::npos ? text.size() : at + kSize.size());
    return take_number<double>(rest).value_or(0);
}

/// Files of one ending, without a second copy of the same weights: those in another format ("consolidated" of
/// Mistral and Meta) and type ("model.fp16.safetensors").
static std::vector<fs::path> files_ending(const fs::path& folder, std::string_view ending) {
    std::vector<fs::path> all, own;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
        if (entry.path().filename().string().ends_with(ending))
            all.push_back(entry.path());
    std::ranges::sort(all);
    std::copy_if(all.begin(), all.end(), std::back_inserter(own), [](const fs::path& file) {
        const std::string name = file.filename().string();
        return !name.starts_with("consolidated") && name.find(".fp16.") == std::string::npos &&
               name.find(".bf16.") == std::string::npos && name.find(".non_ema.") == std::string::npos;
    });
    return own.empty() ? all : own;
}

static bool read_index(const fs::path& file, StoredFiles& stored) {
    std::error_code problem;
    const auto size = fs::file_size(file, problem);
    if (problem || size > kLargestIndex || is_lfs_pointer(file))
        return false;
    const json index = parse_python_json(read_text_file(file), file.string());
    const json metadata = index.value("metadata", json::object());
    const json total = metadata.is_object() ? metadata.value("total_size", json()) : json();
    if (!total.is_number() || !(total.get<double>() > 0))
        return false;
    stored.bytes = total.get<double>();
    stored.source = file.string();
    if (const auto map = index.find("weight_map"); map != index.end() && map->is_object())
        for (const auto& [name, ignored] : map->items())
            stored.tensors.insert(name);
    return true;
}

bool is_lfs_pointer(const fs::path& file) {
    return !pointer_text(file).empty();
}

StoredFiles read_stored_files(const fs::path& folder) {
    StoredFiles stored;
    for (const std::string_view ending : {".safetensors.index.json", ".bin.index.json"})
        for (const fs::path& file : files_ending(folder, ending))
            if (read_index(file, stored))
                return stored;
    for (const std::string_view ending : {".safetensors", ".bin"}) {
        StoredTensors tensors;
        for (const fs::path& file : files_ending(folder, ending)) {
            if (const std::string text = pointer_text(file); !text.empty())
                stored.bytes += pointed_bytes(text);
            else if (ending == ".safetensors")
                read_safetensors_header(file, tensors);
            stored.source = file.string();
        }
        for (const auto& [name, tensor] : tensors)
            stored.bytes += tensor.bytes;
        if (stored.bytes > 0)
            return stored;
    }
    return {};
}

double weight_bytes(const Graph& graph) {
    constexpr double kBitsOfByte = 8;
    std::vector<double> bits(graph.tensors.size(), 0);
    for (const Node& node : graph.nodes)
        if (node.op_type == "Stored" && node.domain == kOwnDomain)
            if (const AttributeValue* value = node.attribute("bits"))
                if (const auto* list = std::get_if<std::vector<double>>(value))
                    for (std::size_t i = 0; i < std::min(list->size(), node.inputs.size()); ++i)
                        bits[node.inputs[i]] = (*list)[i];
    double sum = 0;
    for (std::size_t id = 0; id < graph.tensors.size(); ++id)
        if (const Tensor& t = graph.tensors[id]; t.role == TensorRole::initializer && is_floating(t.type))
            sum += elements(t) * (bits[id] > 0 ? bits[id] : bits_of(t.type)) / kBitsOfByte;
    return sum;
}

void apply_index(const StoredFiles& files, Decoder& d) {
    if (files.tensors.empty() || !d.head || d.tied)
        return;
    const auto is_head = [](std::string_view name) {
        return std::any_of(std::begin(kHeads), std::end(kHeads), [&](std::string_view head) {
            return name == head || (name.ends_with(head) && name[name.size() - head.size() - 1] == '.');
        });
    };
    // Packed formats have names of their own behind the module's.
    if (std::ranges::any_of(files.tensors, [&](const std::string& name) {
            return is_head(std::string_view(name).substr(0, name.rfind('.')));
        }))
        return;
    d.generates = d.head = false;
    d.findings.push_back(
        found(FindingKind::unsupported, Severity::note, files.source, "weight_map",
              "lists no output projection, and the configuration shares none with the table: the model "
              "gives its last hidden states (an embedding) and generates no text",
              "set the length of its input with --dim sequence=512"));
}

void hold_bytes(const StoredFiles& files, double counted, double unloaded, Severity severity, Decoder& d) {
    constexpr double kAgreement = 0.01;
    if (files.bytes <= 0 || counted <= 0)
        return;
    const auto agrees = [&](double stored) {
        return stored >= counted * (1 - kAgreement) && stored <= (counted + unloaded) * (1 + kAgreement);
    };
    // Weights of another width of floats than they run in are converted when they are loaded.
    if (agrees(files.bytes) ||
        (d.formats.scheme_bits() <= 0 && (agrees(files.bytes / 2) || agrees(files.bytes * 2))))
        return;
    d.stored_scale = files.bytes / counted;
    constexpr double kGiga = 1e9;
    d.findings.insert(d.findings.begin(),
                      found(FindingKind::inconsistent, severity, files.source, {},
                            fmt::format("the files hold {:.4g} GB of weights, and {:.4g} GB follow from the "
                                        "configuration; memory takes what the files hold",
                                        files.bytes / kGiga, counted / kGiga),
                            "a part of the model is not described by its configuration, or not known"));
}

using nlohmann::json;

// The format's own limit for a header (safetensors README).
constexpr std::uint64_t kLargestHeader = 100'000'000;
constexpr std::size_t kLengthBytes = 8;
constexpr int kByteBits = 8;

[[noreturn]] static void refuse_file(const std::filesystem::path& file, std::string why) {
    refuse(file.string(), std::move(why), "download the file again", {}, FindingKind::malformed_file);
}

/// Bits of an element, which the name of its type says ("F8_E4M3"); 0: it does not.
static int bits_of_type(std::string_view type) {
    if (type == "BOOL")
        return kByteBits;
    type.remove_prefix(std::min(type.find_first_of("0123456789"), type.size()));
    return take_number<int>(type).value_or(0);
}

static bool any_named(const StoredTensors& tensors, std::string_view ending) {
    return std::ranges::any_of(tensors,
                               [&](const auto& t) { return std::string_view(t.first).ends_with(ending); });
}

/// Name as the graph has it: without the wrappers of models with several parts.
static std::string own_name(std::string name) {
    for (const std::string_view wrapper :
         {"model.language_model.", "language_model.model.", "model.text_model."})
        if (name.starts_with(wrapper))
            return "model." + name.substr(wrapper.size());
    return name;
}

void read_safetensors_header(const std::filesystem::path& file, StoredTensors& tensors) {
    const InputFile in(file);
    std::array<unsigned char, kLengthBytes> raw{};
    if (in.read_at(0, raw.data(), kLengthBytes) < kLengthBytes)
        refuse_file(file, "too short for the header of a safetensors file");
    std::uint64_t length = 0;
    for (std::size_t i = kLengthBytes; i-- > 0;)
        length = length << kByteBits | raw[i];
    if (length < 2 || length > kLargestHeader || length > in.size())
        refuse_file(file, fmt::format("states a header of {} bytes, which no safetensors file has", length));
    std::string text(static_cast<std::size_t>(length), '\0');
    if (in.read_at(kLengthBytes, text.data(), text.size()) < text.size())
        refuse_file(file, "ends inside its header");
    const json header = parse_python_json(text, file.string());
    for (const auto& [name, value] : header.items()) {
        if (name == "__metadata__")
            continue;
        Fields f(value.is_object() ? value : header, file.string(), name + ".");
        StoredTensor& tensor = tensors[name];
        tensor.type = f.text({"dtype"});
        tensor.shape = f.counts({"shape"});
        double elements = 1;
        for (const std::int64_t size : tensor.shape) {
            if (size < 0)
                f.refuse("shape", "has a negative size");
            elements *= static_cast<double>(size);
        }
        tensor.bytes = elements * bits_of_type(tensor.type) / kByteBits;
    }
}

StoredTensors read_safetensors_folder(const std::filesystem::path& folder) {
    StoredTensors tensors;
    std::vector<std::filesystem::path> files;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
        if (entry.path().extension() == ".safetensors" && !is_lfs_pointer(entry.path()))
            files.push_back(entry.path());
    std::ranges::sort(files);
    for (const auto& file : files)
        read_safetensors_header(file, tensors);
    return tensors;
}

void apply_headers(const StoredTensors& tensors, Decoder& d) {
    if (tensors.empty())
        return;
    const bool own_head = any_named(tensors, "lm_head.weight");
    d.tied = !own_head;
    const bool norms = any_named(tensors, "self_attn.q_norm.weight"),
               sinks = any_named(tensors, "self_attn.sinks"),
               bias = any_named(tensors, "self_attn.q_proj.bias"),
               out_bias = any_named(tensors, "self_attn.o_proj.bias");
    for (DecoderLayer& layer : d.layers)
        if (TokenMixer& m = layer.mixer; m.kind == MixerKind::attention) {
            m.sinks = sinks;
            m.bias = bias;
            m.output_bias = out_bias;
            if (norms != (m.norm != HeadNorm::none))
                m.norm = norms ? HeadNorm::per_head : HeadNorm::none;
        }
    // A matrix that the scheme would narrow and the file holds wide stays wide.
    for (const auto& [name, tensor] : tensors) {
        const std::string own = own_name(name);
        if (!own.ends_with(".weight") || tensor.shape.size() < 2)
            continue;
        const std::string module = own.substr(0, own.size() - std::string_view(".weight").size());
        if (tensor.type == "BF16" || tensor.type == "F16" || tensor.type == "F32")
            d.formats.set(module, 0);
        else if (tensor.type.starts_with("F8"))
            d.formats.set(module, std::max(d.formats.scheme_bits(), 8.0));
    }
}

} // namespace archsim::checkpoint
