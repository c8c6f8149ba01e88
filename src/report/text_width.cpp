#include "report/text_width.hpp"

namespace archsim {

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    for (const char c : text)
        width += (static_cast<unsigned char>(c) & 0xC0) != 0x80; // continuation bytes take no column
    return width;
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
