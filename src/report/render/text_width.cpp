#include "report/render/text_width.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace archsim {

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    for (const char c : text)
        width += (static_cast<unsigned char>(c) & 0xC0) != 0x80; // continuation bytes take no column
    return width;
}

std::string to_ascii(std::string_view text) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kSigns = {{{"µ", "u"},
                                                                                              {"μ", "u"},
                                                                                              {"²", "2"},
                                                                                              {"×", "x"},
                                                                                              {"·", "."},
                                                                                              {"–", "-"},
                                                                                              {"—", "-"},
                                                                                              {"…", "."},
                                                                                              {"•", "*"},
                                                                                              {"→", ">"}}};
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        if ((static_cast<unsigned char>(text[i]) & 0x80) == 0) {
            out += text[i++];
            continue;
        }
        std::size_t end = i + 1;
        while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
            ++end;
        const auto sign = std::find_if(kSigns.begin(), kSigns.end(), [&](const auto& known) {
            return known.first == text.substr(i, end - i);
        });
        out += sign != kSigns.end() ? sign->second : std::string_view("?");
        i = end;
    }
    return out;
}

std::string pad(std::string_view text, std::size_t width, bool right) {
    const std::size_t own = display_width(text);
    const std::string space(own < width ? width - own : 0, ' ');
    return right ? space + std::string(text) : std::string(text) + space;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
    std::vector<std::string> lines;
    std::string line;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::string_view word = text.substr(begin, end - begin);
        if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
            lines.push_back(std::move(line));
            line.clear();
        }
        if (!line.empty())
            line += ' ';
        line += word;
        begin = end + 1;
    }
    if (!line.empty())
        lines.push_back(std::move(line));
    return lines;
}

} // namespace archsim
