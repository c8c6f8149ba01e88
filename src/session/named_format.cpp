#include "session/named_format.hpp"

#include "checkpoint/checkpoint.hpp"
#include "core/lists.hpp"
#include "core/text.hpp"
#include "session/loading.hpp"
#include "session/usual_precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <utility>

namespace archsim {

// The type of file whose bits per weight a format of llama.cpp stands for
// (hardware_db/runtimes/llama.cpp.json: int4_weight_bits is that of Q4_K_M, int8_weight_bits that of Q8_0).
constexpr std::array kFileTypes = {std::pair<std::string_view, std::string_view>{"int4", "Q4_K_M"},
                                   std::pair<std::string_view, std::string_view>{"fp4", "MXFP4"},
                                   std::pair<std::string_view, std::string_view>{"int8", "Q8_0"},
                                   std::pair<std::string_view, std::string_view>{"bf16", "BF16"},
                                   std::pair<std::string_view, std::string_view>{"fp16", "F16"},
                                   std::pair<std::string_view, std::string_view>{"fp32", "F32"}};

struct Words {
    std::string_view words, format; ///< no format: they say how, not in what
    double weight_bits = 0;         ///< 0: as the stack states
};
// Words in names of repositories and files beside what PrecisionConfig::parse reads, and types of GGUF files
// that mix blocks (llama-quant.cpp): their layers' bits are what the files of Llama 3.1 8B leave when the
// output projection takes 6.56 (q6_K) and the table those of the type's block (tools/quantize/README.md;
// q3_k_m lies between q3_k_s and q3_k_l; of the mixes of iq blocks the whole file's). Files in q4_k_m are run
// as the stack states; other types have the bits of their block.
constexpr Words kWords[] = {{" awq gptq 4bit q4 q4_k q4_k_m q4_k_l q4_k_xl ", "int4", 0},
                            {" 8bit q8 ", "int8", 0},
                            {" f16 ", "fp16", 0},
                            {" q2_k ", "int4", 2.94},
                            {" q3_k q3_k_m ", "int4", 3.81},
                            {" q3_k_l ", "int4", 4.19},
                            {" q5 q5_k q5_k_m ", "int4", 5.65},
                            {" q6 q6_k_l ", "int4", 6.56},
                            {" iq2_m ", "int4", 2.93},
                            {" iq3_xs ", "int4", 3.50},
                            {" iq3_m ", "int4", 3.76},
                            {" bnb gguf dynamic ud qat block quantized kv ", "", 0}};
/// Words for further training, or for one of several files; neither changes the layers.
static bool is_tune(std::string_view lower) {
    constexpr std::array<std::string_view, 5> kTunes = {"instruct", "chat", "it", "text", "latest"};
    return contains(kTunes, lower);
}

/// "q4_k_m", "iq4_xs": written as types of GGUF files are, known or not.
static bool is_ggml_type(std::string_view word) {
    word.remove_prefix(word.starts_with("iq") || word.starts_with("tq") ? 1 : 0);
    return word.size() > 1 && word[0] == 'q' && word[1] >= '1' && word[1] <= '8';
}

/// Bits of the blocks of a type: those of "q5_k" for "q5_k_s"; 0: not known.
static double block_bits(std::string_view type) {
    if (!is_ggml_type(type))
        return 0;
    const double bits = checkpoint::ggml_bits(type);
    return bits > 0 || !type.ends_with("_s") ? bits : checkpoint::ggml_bits(type.substr(0, type.size() - 2));
}

/// The formats that a word at the end of a name means; nullopt: none. `format` stays as it is where the word
/// says how the weights were quantised.
static bool takes(std::string_view word, std::optional<PrecisionConfig>& format) {
    const std::string lower = lower_case(word);
    const auto* const known = std::find_if(std::begin(kWords), std::end(kWords), [&](const Words& w) {
        return w.words.find(" " + lower + " ") != w.words.npos;
    });
    const bool listed = known != std::end(kWords), is_word = listed || is_tune(lower);
    const double bits = listed ? known->weight_bits : block_bits(lower);
    auto meant = PrecisionConfig::parse(listed ? known->format : lower);
    if (!is_word && bits > 0 && bits < bits_of(Precision::int8))
        meant = PrecisionConfig::uniform(Precision::int4);
    if (!meant)
        return is_word;
    if (bits > 0 && meant->weights == Precision::int4)
        meant->weight_bits_overhead = bits - bits_of(meant->weights);
    if (!format) // the last word is the nearest to the file
        format = meant;
    return true;
}

/// By name, or by an alias whatever its owner.
static const CatalogueEntry* find_owned(const Catalogue& catalogue, std::string_view name) {
    if (const CatalogueEntry* const entry = catalogue.find(name))
        return entry;
    const std::string bare = bare_name(name);
    for (const CatalogueEntry& entry : catalogue.entries())
        for (const std::string& alias : entry.aliases)
            if (const auto owner = alias.find('/');
                owner != std::string::npos && bare_name(std::string_view(alias).substr(owner + 1)) == bare)
                return &entry;
    return nullptr;
}

/// A name by its letters and digits.
static std::string letters_of(std::string_view name) {
    std::string letters;
    for (const char c : lower_case(name))
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            letters += c;
    return letters;
}

/// A name taken apart: "Qwen3-8B" and "Q4_K_M".
struct Parts {
    std::string_view network, words; ///< `words`: from the first that says a format; empty: none does
    std::string type;                ///< the word nearest to the file, as llama.cpp writes types
    std::optional<PrecisionConfig> format;
    bool gguf = false;
};

static Parts parts_of(std::string_view name) {
    constexpr std::string_view kFile = ".gguf";
    Parts p;
    std::string_view rest = name.substr(name.rfind('/') + 1);
    p.gguf = rest.ends_with(kFile);
    if (p.gguf)
        rest.remove_suffix(kFile.size());
    const std::string_view whole = rest;
    while (!rest.empty()) {
        // The longest word that is one: "Q4_K_M" before "M".
        std::size_t at = std::string_view::npos;
        const bool first = !p.format;
        for (std::size_t i = 1; i < rest.size() && at == std::string_view::npos; ++i)
            if (std::string_view("-_.:").find(rest[i - 1]) != std::string_view::npos &&
                takes(rest.substr(i), p.format))
                at = i;
        if (at == std::string_view::npos)
            break;
        const std::string word = lower_case(rest.substr(at));
        p.gguf = p.gguf || word == "gguf" || is_ggml_type(word);
        if (first && p.format)
            std::transform(word.begin(), word.end(), std::back_inserter(p.type),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
        if (!is_tune(word))
            p.words = whole.substr(at);
        rest = rest.substr(0, at - 1);
    }
    p.network = rest;
    p.gguf = p.gguf || (!p.format && is_ollama_name(name));
    return p;
}

std::string title_as_asked(const CatalogueEntry& entry, std::string_view name) {
    const std::string_view network = parts_of(name).network;
    const std::string asked = letters_of(network);
    for (const std::string& known : {letters_of(entry.title), letters_of(entry.name)})
        if (known.find(asked) != known.npos || asked.find(known) != asked.npos)
            return entry.title;
    return fmt::format("{} ({})", network, entry.title);
}

std::string gguf_type_in(std::string_view name) {
    const Parts p = parts_of(name);
    return p.gguf ? p.type : std::string();
}

std::string_view gguf_type_of(std::string_view format) {
    const auto* const row =
        std::find_if(kFileTypes.begin(), kFileTypes.end(), [&](const auto& t) { return t.first == format; });
    return row == kFileTypes.end() ? std::string_view() : row->second;
}

std::optional<PrecisionConfig> gguf_format(std::string_view type) {
    std::optional<PrecisionConfig> format;
    return is_ggml_type(lower_case(type)) && takes(type, format) ? format : std::nullopt;
}

std::optional<CatalogueEntry> entry_in_format(const Catalogue& catalogue, std::string_view name) {
    const Parts p = parts_of(name);
    const CatalogueEntry* const known = find_owned(catalogue, p.network);
    if (known == nullptr)
        return std::nullopt;
    CatalogueEntry entry = *known;
    entry.title = title_as_asked(*known, name);
    if (!p.format && !p.gguf)
        return entry;
    if (!known->language_model && known->file.extension() != ".json")
        return std::nullopt;
    const std::string type = p.format ? p.type : std::string(gguf_type_of("int4"));
    entry.title += fmt::format(" in {}", p.format ? p.words : std::string_view(type));
    std::optional<PrecisionConfig> format = p.format ? p.format : PrecisionConfig::uniform(Precision::int4);
    const bool narrow_floats =
        !is_integer(format->compute) && bits_of(format->compute) < bits_of(Precision::bf16);
    const bool blocks = p.gguf && known->kind == "diffusion"; // unpacked before 16-bit products
    if (narrow_floats || blocks) {
        PrecisionConfig around = // what lies between products
            PrecisionConfig::uniform(narrow_floats ? Precision::bf16 : Precision::fp16);
        around.compute = blocks ? around.compute : format->compute;
        around.weights = format->weights;
        around.weight_bits_overhead = format->weight_bits_overhead;
        format = around;
    }
    entry.products = format;
    const std::string_view file = name.substr(name.rfind('/') + 1);
    if (p.gguf) // as repositories call it; a tag of Ollama names none
        entry.file = file.ends_with(".gguf")
                         ? std::string(file)
                         : fmt::format("{}-{}.gguf", is_ollama_name(name) ? known->name : p.network, type);
    return entry;
}

void take_named(CatalogueEntry named, std::string_view name, Model& model) {
    if (!named.products) {
        model.info.title = std::move(named.title);
        return;
    }
    const auto stored = model.graph ? stored_weights(*model.graph) : std::nullopt;
    const std::string_view own = stored ? gguf_type_of(name_of(*stored)) : std::string_view();
    if (!own.empty() && !parts_of(name).format) { // its files are as it was published
        named.products.reset();
        named.title = fmt::format("{} in {}", title_as_asked(model.info, name), own);
        named.file = fmt::format("{}-{}.gguf", named.name, own);
    }
    model.info.title = std::move(named.title);
    model.info.products = named.products;
    model.info.file = std::move(named.file);
}

InputError unknown_file(const Catalogue& catalogue, std::string_view name) {
    std::string_view network = parts_of(name).network;
    const std::string_view all = network;
    while (!network.empty() && find_owned(catalogue, network) == nullptr) {
        const std::size_t cut = network.find_last_of("-_.:");
        network = network.substr(0, cut == network.npos ? 0 : cut);
    }
    if (network.empty())
        return unknown_model(catalogue, all);
    return InputError(
        fmt::format("no file \"{}\"; as a name of {} its \"{}\" is no format that is known, such as "
                    "Q4_K_M, Q4_0, IQ4_XS, Q6_K, Q8_0 or MXFP4",
                    name, find_owned(catalogue, network)->name, all.substr(network.size() + 1)));
}

std::string checkpoint_of(const Session& session, std::string_view model) {
    const std::filesystem::path file(model);
    std::error_code none;
    if (std::filesystem::is_regular_file(file, none) &&
        file.extension() == ".json") // engines load its folder
        return std::filesystem::absolute(file).parent_path().string();
    if (std::filesystem::exists(file, none))
        return std::filesystem::absolute(file).string();
    if (model.find('/') != std::string_view::npos)
        return std::string(model);
    const auto has_owner = [](const std::string& alias) { return std::ranges::count(alias, '/') == 1; };
    const auto is_named = [&](const std::string& alias) {
        return has_owner(alias) &&
               bare_name(std::string_view(alias).substr(alias.find('/') + 1)) == bare_name(model);
    };
    // Without its points opt-1.3b is called as opt-13b: a word that is a model's name is that model's alone.
    const CatalogueEntry* entry = session.catalogue().find(model);
    for (const CatalogueEntry& other : session.catalogue().entries())
        if (const auto alias = std::ranges::find_if(other.aliases, is_named);
            alias != other.aliases.end() && (entry == nullptr || entry->name == other.name))
            return *alias;
    // Else the first name that has an owner, which is that of its checkpoint.
    if (!entry)
        return std::string(model);
    const auto first = std::ranges::find_if(entry->aliases, has_owner);
    return first != entry->aliases.end() ? *first : entry->name;
}

} // namespace archsim
