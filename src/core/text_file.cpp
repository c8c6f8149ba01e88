#include "core/text_file.hpp"

#include "archsim/core/finding.hpp"

#include "core/embedded_files.hpp"
#include "core/input_file.hpp"

#include <dirent.h>
#include <memory>
#include <system_error>

namespace archsim {

constexpr std::size_t kBlock = 16384; ///< of what does not say how large it is
constexpr std::size_t kLargestBlock = std::size_t{4} << 20;
constexpr std::size_t kMostBytes = std::size_t{256} << 20;

[[noreturn]] static void refuse(const std::filesystem::path& file, FindingKind kind, std::string message,
                                std::string hint) {
    throw InputError(
        Finding{.kind = kind, .message = std::move(message), .file = file.string(), .hint = std::move(hint)});
}

/// One string that grew would be copied with every doubling; a block that is joined is given back at once.
static std::string joined(std::vector<std::string> blocks, std::size_t size) {
    if (blocks.size() == 1)
        return std::move(blocks.front());
    std::string text;
    text.reserve(size);
    for (std::string& block : blocks)
        text += std::exchange(block, {});
    return text;
}

std::string read_text_file(const std::filesystem::path& file) {
    if (is_embedded(file)) {
        const auto text = embedded_text(file);
        if (!text)
            refuse(file, FindingKind::unreadable_file, "the library has no such file built in",
                   "list_hardware_mappers shows what there is");
        return std::string(*text);
    }
    const InputFile input(file, Streams::read);
    std::vector<std::string> blocks;
    std::size_t size = 0;
    const auto refuse_larger = [&](std::uint64_t bytes) {
        if (bytes > kMostBytes)
            refuse(file, FindingKind::too_large, "the file has more than 256 MiB", "is it the right one?");
    };
    refuse_larger(input.size());
    // One byte more than there are shows the end without another block.
    std::size_t next = input.size() > 0 ? static_cast<std::size_t>(input.size()) + 1 : kBlock;
    for (;; next = std::min(2 * next, kLargestBlock)) {
        refuse_larger(size);
        std::string& block = blocks.emplace_back(next, '\0');
        const std::size_t read = input.read_on(block.data(), next);
        block.resize(read);
        size += read;
        if (read < next)
            return joined(std::move(blocks), size);
    }
}

/// Links are followed; file systems need not say what an entry is.
static bool is_a_folder(const std::string& folder, const dirent& entry) {
    if (entry.d_type == DT_DIR || entry.d_type == DT_REG)
        return entry.d_type == DT_DIR;
    std::error_code unknown;
    return std::filesystem::is_directory(folder + '/' + entry.d_name, unknown);
}

std::optional<std::vector<FolderEntry>> entries_of_folder(const std::string& folder) {
    const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
    if (!open)
        return std::nullopt;
    std::vector<FolderEntry> entries;
    while (const dirent* const entry =
               readdir(open.get())) { // NOLINT(concurrency-mt-unsafe): a stream of ours
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..")
            entries.push_back({std::string(name), is_a_folder(folder, *entry)});
    }
    return entries;
}

} // namespace archsim
