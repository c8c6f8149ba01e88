#pragma once
// Tells by its first bytes what a file is that is no model of a kind read here, and what to give instead.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

namespace archsim {

/// A file of another format.
struct ForeignFile {
    std::string_view is;   ///< "is a TensorRT engine, compiled for one GPU"
    std::string_view hint; ///< what to give instead
};

/// Tells a file by its first bytes; nothing where they look like a model, or like nothing known.
std::optional<ForeignFile> foreign_file(std::span<const std::uint8_t> begin);

/// Tells a file on the disk; nothing for folders and for what cannot be read.
std::optional<ForeignFile> foreign_file(const std::filesystem::path& file);

/// Throws InputError where the file is of another format.
void refuse_foreign_file(const std::filesystem::path& file);

/// True where the file carries the mark of a TensorFlow Lite model, whatever its name.
bool is_tflite(const std::filesystem::path& file);

} // namespace archsim
