#pragma once
// Small helpers on names.

#include <string>
#include <string_view>

namespace archsim {

std::string lower_case(std::string_view text);
/// "fastest" of "Fastest", but not of "GPU": abbreviations stay.
std::string first_lower(std::string text);
bool same_ignoring_case(std::string_view a, std::string_view b);
/// Lower case, with blanks and underscores as hyphens: the form in which ids and aliases are compared.
std::string name_key(std::string_view name);
/// Letters and digits alone, in lower case: what people remember of a name. "ResNet-50" -> "resnet50".
std::string bare_name(std::string_view name);
/// True when one of two JSON pointers is, or lies inside, the other.
bool same_place(std::string_view a, std::string_view b);
/// "a, b or c"
template <class Names>
std::string either_of(const Names& names) {
    std::string text;
    std::size_t left = names.size();
    for (const auto& name : names) {
        text += name;
        --left;
        if (left > 0)
            text += left == 1 ? " or " : ", ";
    }
    return text;
}

} // namespace archsim
