#include "checkpoint/stored_files.hpp"

#include "checkpoint/fields.hpp"
#include "core/input_file.hpp"
#include "core/parse_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace archsim::checkpoint {

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
