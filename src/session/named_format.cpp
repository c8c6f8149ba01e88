#include "session/loading.hpp"

#include "core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace archsim {

namespace {

struct Word {
    std::string_view text, format; ///< empty: it says how, not in what
};
// What names of repositories and files say beside what PrecisionConfig::parse reads. Four-bit types of GGUF
// files differ by a tenth of a bit and are run as the one that the stack states.
constexpr std::array kWords = {
    Word{"awq", "int4"},    Word{"gptq", "int4"},   Word{"4bit", "int4"},   Word{"q4", "int4"},
    Word{"q4_0", "int4"},   Word{"q4_1", "int4"},   Word{"q4_k", "int4"},   Word{"q4_k_s", "int4"},
    Word{"q4_k_l", "int4"}, Word{"iq4_xs", "int4"}, Word{"iq4_nl", "int4"}, Word{"8bit", "int8"},
    Word{"q8", "int8"},     Word{"f16", "fp16"},    Word{"bnb", ""},        Word{"gguf", ""},
    Word{"dynamic", ""},    Word{"block", ""},      Word{"quantized", ""},  Word{"kv", ""},
};

/// The formats that a word at the end of a name means; nullopt: none. `format` stays as it is where the word
/// says how the weights were quantised.
bool takes(std::string_view word, std::optional<PrecisionConfig>& format) {
    const std::string lower = lower_case(word);
    const auto known =
        std::find_if(kWords.begin(), kWords.end(), [&](const Word& w) { return w.text == lower; });
    const auto meant = PrecisionConfig::parse(known != kWords.end() ? known->format : lower);
    if (!meant)
        return known != kWords.end();
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
    const CatalogueEntry* const known = format ? find_owned(catalogue, rest) : nullptr;
    if (known == nullptr || !(known->language_model || known->file.extension() == ".json"))
        return std::nullopt;
    CatalogueEntry entry = *known;
    entry.title = fmt::format("{} in {}", known->title, whole.substr(rest.size() + 1));
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
