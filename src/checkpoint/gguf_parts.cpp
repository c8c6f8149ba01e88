#include "checkpoint/gguf_parts.hpp"

#include "archsim/core/finding.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>

namespace archsim::checkpoint {

namespace {

// Keys and names: llama_split_path and llama_split_prefix of llama.cpp (src/llama.cpp).
constexpr const char *kCount = "split.count", *kNumber = "split.no", *kTensors = "split.tensors.count";
// The key is of 16 bits.
constexpr double kMostParts = 65535;

[[noreturn]] void refuse(const std::filesystem::path& file, std::string what, std::string hint) {
    Finding finding;
    finding.file = file.string();
    finding.message = std::move(what);
    finding.hint = std::move(hint);
    throw InputError(finding);
}

std::string ending(std::size_t part, std::size_t parts) {
    return fmt::format("-{:05}-of-{:05}", part + 1, parts);
}

} // namespace

GgufHeader read_gguf_parts(const std::filesystem::path& file) {
    GgufHeader given = read_gguf_header(file);
    const double stated = given.number(kCount, 1), number = given.number(kNumber, 0);
    if (!(stated > 1))
        return given;
    if (stated > kMostParts || !(number >= 0 && number < stated))
        refuse(file, fmt::format("states part {} of {}", number + 1, stated), "download the file again");
    const auto parts = static_cast<std::size_t>(stated), own = static_cast<std::size_t>(number);
    const std::string stem = file.stem().string(), wanted = ending(own, parts);
    if (!stem.ends_with(wanted))
        refuse(file, fmt::format("is part {} of {}; the others are looked for by name", own + 1, parts),
               fmt::format("name the parts NAME{}.gguf to NAME{}.gguf, in one folder", ending(0, parts),
                           ending(parts - 1, parts)));
    const std::string prefix = stem.substr(0, stem.size() - wanted.size());
    GgufHeader all;
    for (std::size_t part = 0; part < parts; ++part) {
        const auto path = file.parent_path() / (prefix + ending(part, parts) + ".gguf");
        std::error_code ignored;
        if (part != own && !std::filesystem::exists(path, ignored))
            refuse(
                file,
                fmt::format("is part {} of {}, and {} is missing", own + 1, parts, path.filename().string()),
                "put all parts into one folder");
        GgufHeader header = part == own ? std::move(given) : read_gguf_header(path);
        if (header.number(kCount, 1) != stated || header.number(kNumber, 0) != static_cast<double>(part))
            refuse(path, fmt::format("is not part {} of {}, as its name says", part + 1, parts),
                   "download the file again");
        // The first part describes the model; later ones may repeat some of it.
        all.numbers.merge(header.numbers);
        all.texts.merge(header.texts);
        all.tensors.merge(header.tensors);
    }
    if (const double tensors = all.number(kTensors, 0);
        tensors > 0 && static_cast<double>(all.tensors.size()) != tensors)
        refuse(file,
               fmt::format("belongs to {} parts with {} tensors, {} are stated", parts, all.tensors.size(),
                           tensors),
               "take all parts from the same place");
    return all;
}

} // namespace archsim::checkpoint
