#include "hardware/loose_names.hpp"
#include "core/parse_number.hpp"

#include "core/lists.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>

namespace archsim {

/// Words that names carry or leave out at will.
constexpr std::array<std::string_view, 28> kFillers = {
    "nvidia",      "geforce", "amd",      "radeon",    "intel",    "apple",    "qualcomm",
    "google",      "gpu",     "card",     "pc",        "desktop",  "computer", "machine",
    "workstation", "with",    "and",      "memory",    "ram",      "vram",     "tesla",
    "quadro",      "unified", "graphics", "processor", "instance", "cloud",    "chip"};

/// Kinds of computers, whose second word would tell chips apart: a MacBook Pro may hold an M4.
constexpr std::array<std::array<std::string_view, 2>, 5> kComputers = {
    {{"macbook", "pro"}, {"macbook", "air"}, {"mac", "mini"}, {"mac", "studio"}, {"mac", "pro"}}};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
static bool is_letter(char c) {
    return c >= 'a' && c <= 'z';
}

struct NameWord {
    std::string text;
    bool behind_comma = false; ///< or behind "with" or a plus sign
};

/// Rows of letters and rows of digits, in lower case: "RTX4070Ti" is rtx, 4070, ti. Trade marks in brackets
/// are none.
static std::vector<NameWord> words_of(std::string_view name) {
    std::string text = lower_case(name);
    for (const std::string_view mark : {"(r)", "(tm)", "(c)"})
        for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark))
            text.replace(at, mark.size(), " ");
    std::vector<NameWord> words;
    bool behind_comma = false;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        std::size_t end = at + 1;
        if (is_digit(c) || is_letter(c)) {
            while (end < text.size() && (is_digit(c) ? is_digit(text[end]) : is_letter(text[end])))
                ++end;
            words.push_back({text.substr(at, end - at), behind_comma});
            behind_comma = behind_comma || words.back().text == "with";
        } else if (c == '.' && !words.empty() && is_digit(text[at - 1]) && end < text.size() &&
                   is_digit(text[end])) {
            while (end < text.size() && is_digit(text[end])) // 2.5: one number
                ++end;
            words.back().text += text.substr(at, end - at);
        } else {
            behind_comma = behind_comma || c == ',' || c == '+';
            if (static_cast<unsigned char>(c) >= 0x80) // a letter of another script is a word of its own
                words.push_back({std::string(1, c), behind_comma});
        }
        at = end;
    }
    return words;
}

static void drop_fillers(std::vector<NameWord>& words) {
    std::erase_if(words, [](const NameWord& word) { return contains(kFillers, word.text); });
}

static void drop_computers(std::vector<NameWord>& words) {
    for (std::size_t i = 0; i + 1 < words.size();) {
        const bool both = std::ranges::any_of(kComputers, [&](const auto& computer) {
            return words[i].text == computer[0] && words[i + 1].text == computer[1];
        });
        if (both)
            words.erase(words.begin() + static_cast<std::ptrdiff_t>(i),
                        words.begin() + static_cast<std::ptrdiff_t>(i + 2));
        else
            ++i;
    }
    std::erase_if(words, [](const NameWord& word) {
        return word.text == "macbook" || word.text == "imac" || word.text == "mac";
    });
    for (NameWord& word : words)
        if (word.text == "notebook")
            word.text = "laptop";
}

static bool is_number(std::string_view word) {
    return !word.empty() && is_digit(word.front());
}

/// Takes the first size of memory out of `left`.
static std::optional<StatedMemory> take_memory(std::vector<NameWord>& left) {
    for (std::size_t i = 0; i + 1 < left.size(); ++i) {
        const std::string& unit = left[i + 1].text;
        if (!is_number(left[i].text) || (unit != "gb" && unit != "g" && unit != "gib"))
            continue;
        StatedMemory memory{.gigabytes = plain_number<double>(left[i].text).value_or(0),
                            .of_computer = left[i].behind_comma};
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(i),
                   left.begin() + static_cast<std::ptrdiff_t>(i + 2));
        return memory;
    }
    return std::nullopt;
}

std::optional<double> gigabytes_of(std::string_view text) {
    std::vector<NameWord> words = words_of(text);
    drop_fillers(words);
    if (words.size() != 2)
        return std::nullopt;
    const auto memory = take_memory(words);
    return memory && memory->gigabytes > 0 ? std::optional(memory->gigabytes) : std::nullopt;
}

void LooseNames::add(std::string_view name, std::size_t device) {
    std::vector<NameWord> words = words_of(name);
    drop_fillers(words);
    // A word of letters alone, "Coral" or "Max", is too little inside of a longer text.
    if (words.empty() || (words.size() == 1 && !is_number(words.front().text)))
        return;
    Name added{.device = device};
    for (NameWord& word : words)
        added.words.push_back(std::move(word.text));
    names_.push_back(std::move(added));
}

LooseMatch LooseNames::find(std::string_view text) const {
    std::vector<NameWord> asked = words_of(text);
    const bool says_ram = std::ranges::any_of(asked, [](const NameWord& word) { return word.text == "ram"; });
    drop_computers(asked);
    drop_fillers(asked);
    LooseMatch best;
    std::size_t longest = 0;
    for (const Name& name : names_) {
        if (name.words.size() < longest)
            continue;
        const auto at =
            std::search(asked.begin(), asked.end(), name.words.begin(), name.words.end(),
                        [](const NameWord& word, const std::string& other) { return word.text == other; });
        if (at == asked.end())
            continue;
        std::vector<NameWord> left(asked.begin(), at);
        left.insert(left.end(), at + static_cast<std::ptrdiff_t>(name.words.size()), asked.end());
        std::optional<StatedMemory> memory = take_memory(left);
        const auto second = memory ? take_memory(left) : std::nullopt; // of the card, and of its computer
        if (!left.empty() || (second && !second->of_computer))
            continue;
        if (memory)
            memory->of_computer = memory->of_computer || says_ram;
        if (name.words.size() > longest)
            best = {};
        longest = name.words.size();
        if (std::ranges::find(best.devices, name.device) == best.devices.end())
            best.devices.push_back(name.device);
        best.memory = memory;
    }
    return best;
}

} // namespace archsim
