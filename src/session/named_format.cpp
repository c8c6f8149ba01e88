#include "session/loading.hpp"

#include "core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace archsim {

namespace {

struct Words {
    std::string_view words, format; ///< no format: they say how, not in what
    double weight_bits = 0;         ///< 0: as the stack states
};
// What names of repositories and files say beside what PrecisionConfig::parse reads. Four-bit types of GGUF
// files differ by a tenth of a bit and are run as the one that the stack states; bits of the others:
// llama.cpp, tools/quantize/README.md (Llama 3.1 8B).
constexpr Words kWords[] = {{" awq gptq 4bit q4 q4_0 q4_1 q4_k q4_k_s q4_k_l iq4_xs iq4_nl ", "int4", 0},
                            {" 8bit q8 ", "int8", 0},
                            {" f16 ", "fp16", 0},
                            {" q2_k ", "int4", 3.16},
                            {" q3_k_s ", "int4", 3.64},
                            {" q3_k q3_k_m ", "int4", 3.97}, // between the other two
                            {" q3_k_l ", "int4", 4.30},
                            {" q5_0 q5_k_s ", "int4", 5.57},
                            {" q5 q5_k q5_k_m ", "int4", 5.70},
                            {" q6 q6_k q6_k_l ", "int4", 6.56},
                            {" bnb gguf dynamic block quantized kv ", "", 0}};

/// The formats that a word at the end of a name means; nullopt: none. `format` stays as it is where the word
/// says how the weights were quantised.
bool takes(std::string_view word, std::optional<PrecisionConfig>& format) {
    const std::string lower = lower_case(word);
    const auto* const known = std::find_if(std::begin(kWords), std::end(kWords), [&](const Words& w) {
        return w.words.find(" " + lower + " ") != w.words.npos;
    });
    const bool is_word = known != std::end(kWords);
    auto meant = PrecisionConfig::parse(is_word ? known->format : lower);
    if (!meant)
        return is_word;
    if (is_word && known->weight_bits > 0)
        meant->weight_bits_overhead = known->weight_bits - bits_of(meant->weights);
    if (!format) // the last word is the nearest to the file
        format = meant;
    return true;
}

/// "q4_k_m", "iq4_xs": a type of GGUF files.
bool is_ggml_type(std::string_view word) {
    word.remove_prefix(word.starts_with("iq") ? 1 : 0);
    return word == "gguf" || (word.size() > 1 && word[0] == 'q' && word[1] >= '1' && word[1] <= '8');
}

/// By name, or by an alias whatever its owner.
const CatalogueEntry* find_owned(const Catalogue& catalogue, std::string_view name) {
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

} // namespace

std::optional<CatalogueEntry> entry_in_format(const Catalogue& catalogue, std::string_view name) {
    constexpr std::string_view kFile = ".gguf";
    std::string_view rest = name.substr(name.rfind('/') + 1);
    bool gguf = rest.ends_with(kFile);
    if (gguf)
        rest.remove_suffix(kFile.size());
    const std::string_view whole = rest;
    std::optional<PrecisionConfig> format;
    while (!rest.empty()) {
        // The longest word that is one: "Q4_K_M" before "M".
        std::size_t at = std::string_view::npos;
        for (std::size_t i = 1; i < rest.size() && at == std::string_view::npos; ++i)
            if (std::string_view("-_.:").find(rest[i - 1]) != std::string_view::npos &&
                takes(rest.substr(i), format))
                at = i;
        if (at == std::string_view::npos)
            break;
        gguf = gguf || is_ggml_type(lower_case(rest.substr(at)));
        rest = rest.substr(0, at - 1);
    }
    const bool ollama = !format && !gguf && is_ollama_name(name);
    if (ollama)
        format = PrecisionConfig::uniform(Precision::int4);
    gguf = gguf || ollama;
    const CatalogueEntry* const known = find_owned(catalogue, rest);
    if (known == nullptr || !format)
        return known == nullptr ? std::nullopt : std::optional(*known);
    if (!known->language_model && known->file.extension() != ".json")
        return std::nullopt;
    CatalogueEntry entry = *known;
    entry.title = fmt::format("{} in {}", known->title, ollama ? "Q4_K_M" : whole.substr(rest.size() + 1));
    if (!is_integer(format->compute) && bits_of(format->compute) < bits_of(Precision::bf16)) {
        PrecisionConfig around = PrecisionConfig::uniform(Precision::bf16); // what lies between products
        around.compute = format->compute;
        around.weights = format->weights;
        format = around;
    }
    entry.products = format;
    if (gguf)
        entry.file = fmt::format("{}{}", whole, kFile);
    return entry;
}

} // namespace archsim
