#include "core/parse_number.hpp"
#include "import/tensor_value.hpp"

#include "core/input_file.hpp"

#include <fmt/format.h>
#include <system_error>

namespace archsim::import {

namespace fs = std::filesystem;

struct Entry {
    std::string location;
    std::uint64_t offset = 0;
    std::optional<std::uint64_t> length;
    bool valid = true;
};

static bool parse(std::string_view text, std::uint64_t& value) {
    const auto read = plain_number<std::uint64_t>(text);
    value = read.value_or(value);
    return read.has_value();
}

static Entry read_entry(const TensorMessage& tensor) {
    Entry entry;
    for (const ExternalEntry& item : tensor.external_data) {
        if (item.key == "location") {
            entry.location = item.value;
        } else if (item.key == "offset") {
            entry.valid &= parse(item.value, entry.offset);
        } else if (item.key == "length") {
            std::uint64_t length = 0;
            entry.valid &= parse(item.value, length);
            entry.length = length;
        }
    }
    entry.valid &= !entry.location.empty();
    return entry;
}

static bool is_below(const fs::path& folder, const fs::path& target) {
    return std::mismatch(folder.begin(), folder.end(), target.begin(), target.end()).first == folder.end();
}

/// True when every existing part of `inner`, links resolved, lies below `outer`; or below `blobs` of the same
/// model in a cache of Hugging Face, where `outer` is a snapshot: REPOSITORY/snapshots/COMMIT/... links
/// there.
static bool lies_inside(const fs::path& outer, const fs::path& inner) {
    std::error_code error;
    const fs::path base = fs::canonical(outer, error);
    if (error)
        return false;
    const fs::path target = fs::weakly_canonical(inner, error);
    if (error)
        return false;
    if (is_below(base, target))
        return true;
    for (fs::path commit = base; commit.has_relative_path(); commit = commit.parent_path())
        if (commit.parent_path().filename() == "snapshots")
            return is_below(commit.parent_path().parent_path() / "blobs", target);
    return false;
}

static bool stays_below(const fs::path& location) {
    return !location.is_absolute() && std::ranges::find(location, "..") == location.end() &&
           location.native().find('\0') == std::string::npos;
}

void ExternalData::report(SideFile& file, FindingKind kind, Severity severity, const std::string& tensor,
                          const std::string& message, const std::string& hint) {
    if (!std::exchange(file.reported, true))
        findings_.add(kind, severity, tensor, message, hint);
}

ExternalData::SideFile& ExternalData::side_file(const std::string& location, const std::string& tensor) {
    const auto [entry, is_new] = files_.try_emplace(location);
    SideFile& file = entry->second;
    if (!is_new)
        return file;
    if (!stays_below(location)) {
        report(
            file, FindingKind::malformed_file, Severity::warning, tensor,
            fmt::format("its weights are said to lie at '{}', outside the folder of the model; not looked at",
                        location),
            "put the side file beside the model and store a relative path");
        return file;
    }
    if (!folder_)
        return file;
    file.path = *folder_ / location;
    std::error_code error;
    if (!fs::exists(file.path, error)) {
        report(file, FindingKind::unreadable_file, Severity::note, tensor,
               fmt::format("the side file '{}' is missing; sizes are taken from the shapes", location),
               "nothing to do unless a shape depends on a value that lies in it");
    } else if (!lies_inside(*folder_, file.path)) {
        report(file, FindingKind::malformed_file, Severity::warning, tensor,
               fmt::format("the side file '{}' is a link that leaves the folder of the model; not looked at",
                           location),
               "put the file itself beside the model");
    } else if (fs::is_regular_file(file.path, error)) {
        const auto size = fs::file_size(file.path, error);
        if (!error)
            file.size = size;
    }
    return file;
}

std::string ExternalData::look_up(const TensorMessage& tensor, std::uint64_t bytes, bool wanted) {
    const Entry entry = read_entry(tensor);
    const std::string name(tensor.name);
    if (!entry.valid) {
        findings_.add(FindingKind::malformed_file, Severity::warning, name,
                      "its entry for external data has no valid location, offset or length",
                      "save the model with external data again");
        return {};
    }
    SideFile& file = side_file(entry.location, name);
    const std::uint64_t length = entry.length.value_or(bytes);
    if (!file.size)
        return {};
    if (entry.offset > *file.size || length > *file.size - entry.offset) {
        report(file, FindingKind::inconsistent, Severity::warning, name,
               fmt::format("the side file '{}' has {} bytes, too few for the bytes {} to {}", entry.location,
                           *file.size, entry.offset, entry.offset + length),
               "copy the side file again: it is truncated or belongs to another model");
        return {};
    }
    if (length != bytes)
        report(file, FindingKind::inconsistent, Severity::warning, name,
               fmt::format("the shape asks for {} bytes, the side file '{}' is said to hold {}", bytes,
                           entry.location, length),
               "save the model with external data again");
    if (!wanted || length != bytes)
        return {};
    std::string payload(static_cast<std::size_t>(bytes), '\0');
    return InputFile(file.path).read_at(entry.offset, payload.data(), payload.size()) == payload.size()
               ? payload
               : std::string();
}

} // namespace archsim::import
