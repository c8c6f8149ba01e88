#include "machine/snapshot.hpp"

#include "archsim/core/finding.hpp"
#include "core/text_file.hpp"

#include <fmt/format.h>

namespace archsim {

constexpr std::string_view kMark = "== ";

std::string_view Snapshot::text(std::string_view source) const {
    const auto found = texts.find(source);
    if (found == texts.end())
        return {};
    const std::string_view all = found->second;
    const auto first = all.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos)
        return {};
    // The device tree ends its strings with a zero.
    const auto last = all.find_last_not_of(std::string_view(" \t\r\n\0", 5));
    return last == std::string_view::npos || last < first ? std::string_view{}
                                                          : all.substr(first, last - first + 1);
}

std::string to_text(const Snapshot& snapshot) {
    std::string out;
    for (const auto& [source, text] : snapshot.texts) {
        out += fmt::format("{}{}\n{}", kMark, source, text);
        if (!text.empty() && text.back() != '\n')
            out += '\n';
    }
    return out;
}

Snapshot parse_snapshot(std::string_view text, std::string_view name) {
    Snapshot snapshot;
    std::string* current = nullptr;
    while (!text.empty()) {
        const auto end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.starts_with(kMark))
            current = &snapshot.texts[std::string(line.substr(kMark.size()))];
        else if (current != nullptr)
            current->append(line).push_back('\n');
        else
            break;
    }
    if (snapshot.texts.empty())
        throw InputError(
            fmt::format("{}: this is no description of a machine; write one with list_hardware_mappers "
                        "--this-machine --save-snapshot FILE",
                        name));
    return snapshot;
}

Snapshot read_snapshot(const std::filesystem::path& file) {
    return parse_snapshot(read_text_file(file), file.string());
}

} // namespace archsim
