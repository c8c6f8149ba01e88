#include "import/file_kind.hpp"

#include "archsim/core/finding.hpp"
#include "core/json_document.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <fstream>
#include <tuple>

namespace archsim {

constexpr std::size_t kLooked = 1 << 16; ///< bytes of a file that are looked at
constexpr std::string_view kTfliteMark = "TFL3";

constexpr std::string_view kFromTensorFlow =
    "convert it with tf2onnx or tf.lite.TFLiteConverter and give the .onnx or .tflite file";
constexpr std::string_view kConfigInstead = "give the model's config.json, or the folder with it";
constexpr std::string_view kConvertedFrom = "give the .onnx file, or what it was converted from";

/// The bytes that a text of the table stands for: a letter above 7F is two bytes of UTF-8 there.
static std::string bytes_of(const JsonValue& part) {
    std::string bytes;
    const std::string_view utf8 = part.text();
    for (std::size_t i = 0; i < utf8.size(); ++i) {
        const auto first = static_cast<unsigned char>(utf8[i]);
        const bool two = first >= 0x80 && i + 1 < utf8.size();
        bytes += two ? static_cast<char>((first & 3) << 6 | (utf8[++i] & 0x3f)) : utf8[i];
    }
    return bytes;
}

/// The first row of hardware_db/foreign_files.json under `group` that fits a file of this text, whose
/// beginnings are looked for in `head`.
static const JsonValue* find_row(std::string_view group, std::string_view text, std::string_view head) {
    static const JsonDocument table = read_table("foreign_files.json");
    for (const JsonValue& row : table.root.items_at(group)) {
        const auto at = static_cast<std::size_t>(row.number_at("at").value_or(0));
        const auto begins = [&](const JsonValue& part) {
            return head.size() > at && head.substr(at).starts_with(bytes_of(part));
        };
        const auto holds = [&](const JsonValue& part) {
            return text.find(bytes_of(part)) != std::string_view::npos;
        };
        if ((!row.contains("begins") || std::ranges::any_of(row.items_at("begins"), begins)) &&
            (!row.contains("any") || std::ranges::any_of(row.items_at("any"), holds)) &&
            std::ranges::all_of(row.items_at("all"), holds) &&
            std::ranges::none_of(row.items_at("none"), holds))
            return &row;
    }
    return nullptr;
}

/// What a row says; nothing where it says that the file may be a model.
static std::optional<ForeignFile> said_by(const JsonValue& row) {
    if (!row.contains("is"))
        return std::nullopt;
    return ForeignFile{row.text_at("is"), row.text_at("give")};
}

static std::string_view without_space(std::string_view text) {
    constexpr std::string_view kByteOrder = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrder))
        text.remove_prefix(kByteOrder.size());
    return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

static bool is_printable(std::string_view text) {
    return std::ranges::all_of(
        text, [](char c) { return c == '\n' || c == '\r' || c == '\t' || (c >= ' ' && c <= '~'); });
}

/// Markup, and JSON of files that lie beside a model.
static std::optional<ForeignFile> text_file(std::string_view text) {
    const std::string head = lower_case(text.substr(0, 64));
    for (const std::string_view group : {"texts", "printable", "documents"})
        if (const JsonValue* row =
                group != "printable" || is_printable(head) ? find_row(group, text, head) : nullptr)
            return said_by(*row);
    return std::nullopt;
}

/// The bytes of a length-delimited field that begins at `at`; empty where none does.
static std::string_view delimited(std::string_view text, std::size_t at) {
    std::uint64_t length = 0;
    for (int shift = 0; at < text.size() && shift < 64; shift += 7) {
        const auto byte = static_cast<unsigned char>(text[at++]);
        length |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            return text.substr(std::min(at, text.size()),
                               static_cast<std::size_t>(std::min<std::uint64_t>(length, text.size())));
    }
    return {};
}

/// Protocol buffers of others. An ONNX model has numbers in its field 1 and text in its field 2.
static std::optional<ForeignFile> protocol_buffer(std::string_view text) {
    constexpr char kNumber1 = 0x08, kMessage1 = 0x0a, kMessage2 = 0x12;
    if (text.size() < 6)
        return std::nullopt;
    if (text[0] == kNumber1 && text[2] == kMessage2) {
        if (!delimited(text, 3).starts_with(kMessage1))
            return std::nullopt;
        return text[1] == 1 ? ForeignFile{"is a SavedModel of TensorFlow", kFromTensorFlow}
                            : ForeignFile{"is a model of Core ML", kConvertedFrom};
    }
    if (text[0] != kMessage1)
        return std::nullopt;
    const std::string_view first = delimited(text, 1);
    constexpr char kNumber2 = 0x15; // of 32 bits, behind the text of a word
    if (const std::string_view word = delimited(first, 1);
        first.starts_with(kMessage1) && first.substr(2 + word.size()).starts_with(kNumber2))
        return ForeignFile{"is the vocabulary of a tokenizer (SentencePiece)", kConfigInstead};
    if (first.starts_with(kMessage1))
        return ForeignFile{"is a frozen graph of TensorFlow", kFromTensorFlow};
    if (first.starts_with(kNumber1))
        return ForeignFile{"is a model of PaddlePaddle",
                           "convert it with paddle2onnx and give the .onnx file"};
    if (!first.empty() && first.front() >= ' ' && first.front() <= '~')
        return ForeignFile{"is a protocol buffer of another framework, such as a .caffemodel",
                           "give an .onnx export of the model"};
    return std::nullopt;
}

static std::vector<std::uint8_t> first_bytes(const std::filesystem::path& file) {
    std::error_code ignored;
    std::vector<std::uint8_t> bytes;
    if (!std::filesystem::is_regular_file(file, ignored))
        return bytes;
    std::ifstream in(file, std::ios::binary);
    bytes.resize(kLooked);
    in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
    return bytes;
}

std::optional<ForeignFile> foreign_file(std::span<const std::uint8_t> begin) {
    const std::string_view text(reinterpret_cast<const char*>(begin.data()), begin.size());
    if (const JsonValue* row = find_row("bytes", text, text))
        return said_by(*row);
    if (auto known = text_file(without_space(text)))
        return known;
    const std::string_view head = text.substr(0, std::min<std::size_t>(text.size(), 256));
    constexpr std::size_t kLeastZeros = 64;
    if (text.size() >= kLeastZeros && text.find_first_not_of('\0') == std::string_view::npos)
        return ForeignFile{"begins with nothing but zeros: its download did not end", "download it again"};
    constexpr std::size_t kLeastText = 4;
    if (head.size() >= kLeastText && !without_space(head).starts_with("{") && is_printable(head))
        return ForeignFile{"is a text file", "give a model file"};
    return protocol_buffer(text);
}

std::optional<ForeignFile> foreign_file(const std::filesystem::path& file) {
    // Folders that are one model, by a file that such a folder has.
    std::error_code ignored;
    for (const auto& [member, is, hint] :
         {std::tuple{"saved_model.pb", "is a SavedModel of TensorFlow", kFromTensorFlow},
          std::tuple{"Data/com.apple.CoreML", "is a model of Core ML", kConvertedFrom}})
        if (std::filesystem::exists(file / member, ignored))
            return ForeignFile{is, hint};
    return foreign_file(first_bytes(file));
}

void refuse_foreign_file(const std::filesystem::path& file) {
    const auto bytes = first_bytes(file);
    auto foreign = foreign_file(file);
    const std::string ending = file.extension().string();
    // Bundles of TensorFlow Lite models are archives; GGUF and safetensors have readers of their own.
    const bool archived = bytes.size() > 1 && bytes[0] == 'P' && bytes[1] == 'K';
    if (!foreign || (archived && (ending == ".task" || ending == ".tflite")) ||
        (ending == ".gguf" && foreign->is.starts_with("is a GGUF")) ||
        (ending == ".safetensors" && foreign->is.starts_with("is a safetensors")))
        return;
    throw InputError(Finding{.kind = FindingKind::malformed_file,
                             .message = std::string(foreign->is),
                             .file = file.string(),
                             .hint = std::string(foreign->hint)});
}

bool is_tflite(const std::filesystem::path& file) {
    const auto bytes = first_bytes(file);
    constexpr std::size_t kAt = 4;
    return bytes.size() >= kAt + kTfliteMark.size() &&
           std::equal(kTfliteMark.begin(), kTfliteMark.end(), bytes.begin() + kAt);
}

} // namespace archsim
