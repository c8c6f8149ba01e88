#include "core/text_file.hpp"

#include "archsim/core/finding.hpp"
#include "core/embedded_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace archsim {

namespace {

constexpr std::size_t kBlock = 16384; ///< most files of the database fit into one
constexpr std::size_t kLargestBlock = std::size_t{4} << 20;
constexpr std::size_t kMostBytes = std::size_t{256} << 20;

[[noreturn]] void unreadable(const std::filesystem::path& file, FindingKind kind, std::string message,
                             std::string hint) {
    Finding finding;
    finding.kind = kind;
    finding.file = file.string();
    finding.message = std::move(message);
    finding.hint = std::move(hint);
    throw InputError(finding);
}

/// One string that grew would be copied with every doubling, and an endless file three times as large.
std::string joined(std::vector<std::string> blocks, std::size_t size) {
    if (blocks.size() == 1)
        return std::move(blocks.front());
    std::string text;
    text.reserve(size);
    for (const std::string& block : blocks)
        text += block;
    return text;
}

} // namespace

std::string read_text_file(const std::filesystem::path& file) {
    if (is_embedded(file)) {
        const auto text = embedded_text(file);
        if (!text)
            unreadable(file, FindingKind::unreadable_file, "the library has no such file built in",
                       "list_hardware_mappers shows what there is");
        return std::string(*text);
    }
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "rb"), std::fclose);
    if (!stream)
        unreadable(file, FindingKind::unreadable_file,
                   fmt::format("the file cannot be opened ({})", std::strerror(errno)),
                   "check its name and permissions");
    std::setvbuf(stream.get(), nullptr, _IONBF, 0);
    std::vector<std::string> blocks;
    std::size_t size = 0;
    for (std::size_t next = kBlock;; next = std::min(2 * next, kLargestBlock)) {
        if (size > kMostBytes)
            unreadable(file, FindingKind::too_large, "the file has more than 256 MiB",
                       "is it the right one?");
        std::string& block = blocks.emplace_back(next, '\0');
        const std::size_t read = std::fread(block.data(), 1, next, stream.get());
        if (std::ferror(stream.get()) != 0)
            unreadable(file, FindingKind::unreadable_file,
                       fmt::format("the file cannot be read ({})", std::strerror(errno)), "name a file");
        block.resize(read);
        size += read;
        if (read < next)
            return joined(std::move(blocks), size);
    }
}

} // namespace archsim
