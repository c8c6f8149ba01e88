#include "import/file_kind.hpp"

#include "archsim/core/finding.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <tuple>
#include <vector>

namespace archsim {

using namespace std::string_view_literals;

constexpr std::size_t kLooked = 1 << 16; ///< bytes of a file that are looked at
constexpr std::string_view kTfliteMark = "TFL3";

constexpr std::string_view kCompiled = "give the model that it was compiled from, as .onnx or .tflite";
constexpr std::string_view kFromTorch = "export it with torch.onnx.export and give the .onnx file";
constexpr std::string_view kFromTensorFlow =
    "convert it with tf2onnx or tf.lite.TFLiteConverter and give the .onnx or .tflite file";
constexpr std::string_view kConfigInstead = "give the model's config.json, or the folder with it";
constexpr std::string_view kUnpack = "unpack it and give the model in it",
                           kModelInstead = "give a model file",
                           kMadeFrom = "give the .onnx file that it was made from";

struct Mark {
    std::size_t at;
    std::string_view bytes, is, hint;
};
constexpr std::array kMarks = {
    Mark{0, "version https://git-lfs"sv, "is a Git LFS pointer, the few lines that stand for a large file",
         "fetch the file itself with git lfs pull"},
    Mark{0, "\x89HDF\r\n"sv, "is an HDF5 file, as Keras saves models", kFromTensorFlow},
    Mark{4, "ORTM"sv, "is in ONNX Runtime's own format (.ort)", kMadeFrom},
    Mark{4, "ET12"sv, "is an ExecuTorch program", kFromTorch},
    Mark{4, "EDL2"sv, "is a model quantised for ESP-DL", kMadeFrom},
    Mark{0, "EDL2"sv, "is a model quantised for ESP-DL", kMadeFrom},
    Mark{0, "ptrt"sv, "is a TensorRT engine, compiled for one GPU", kCompiled},
    Mark{0, "ftrt"sv, "is a TensorRT engine, compiled for one GPU", kCompiled},
    Mark{0, "RKNN"sv, "is compiled for Rockchip NPUs (RKNN)", kCompiled},
    Mark{0, "\x01HEF"sv, "is compiled for a Hailo accelerator (HEF)", kCompiled},
    Mark{0, "IMOD"sv, "is compiled for Ascend NPUs (OM)", kCompiled},
    Mark{0, "LDMK"sv, "is compiled for Kendryte chips (KMODEL)", kCompiled},
    Mark{0, "VPMN"sv, "is compiled for VeriSilicon NPUs (NBG)", kCompiled},
    Mark{0, "LITERTLM"sv, "is a LiteRT-LM package of a language model",
         "give the config.json of the model, or its .tflite parts"},
    Mark{0, "7767517\n"sv, "is a network of ncnn", "give the .onnx file that it was converted from"},
    Mark{0, "ML\xEFR"sv, "is MLIR bytecode", "give the .onnx or .tflite file that it was made from"},
    Mark{0, "\x1A\x45\xDF\xA3"sv, "is a video", kModelInstead},
    Mark{4, "ftyp"sv, "is a video", kModelInstead},
    Mark{0, "\x89PNG"sv, "is a picture", kModelInstead},
    Mark{0, "\xFF\xD8\xFF"sv, "is a picture", kModelInstead},
    Mark{0, "GIF8"sv, "is a picture", kModelInstead},
    Mark{8, "WEBP"sv, "is a picture", kModelInstead},
    Mark{8, "WAVE"sv, "is a recording of sound", kModelInstead},
    Mark{0, "OggS"sv, "is a recording of sound", kModelInstead},
    Mark{0, "fLaC"sv, "is a recording of sound", kModelInstead},
    Mark{0, "ID3"sv, "is a recording of sound", kModelInstead},
    Mark{0, "%PDF"sv, "is a PDF document", kModelInstead},
    Mark{0, "PAR1"sv, "is a table of data (Parquet)", kModelInstead},
    Mark{0, "SQLite format 3"sv, "is a database (SQLite)", "give a model file; history reads saved results"},
    Mark{4, "CIR0"sv, "is a model of ONE (circle)", kMadeFrom},
    Mark{0, "CviModel"sv, "is compiled for Sophgo chips (CVIMODEL)", kCompiled},
    Mark{0, "\xFD\x37zXZ"sv, "is a compressed file (xz)", kUnpack},
    Mark{0, "\x28\xB5\x2F\xFD"sv, "is a compressed file (zstd)", kUnpack},
    Mark{4, "1AY&SY"sv, "is a compressed file (bzip2)", kUnpack},
    Mark{0, "7z\xBC\xAF\x27\x1C"sv, "is an archive (7z)", kUnpack},
    Mark{0, "Rar!"sv, "is an archive (RAR)", kUnpack},
    Mark{257, "ustar"sv, "is an archive (tar)", kUnpack},
    Mark{0, "MZ"sv, "is a compiled program or library", kCompiled},
    Mark{0, "\xCF\xFA\xED\xFE"sv, "is a compiled program or library", kCompiled},
    Mark{0, "\xCA\xFE\xBA\xBE"sv, "is a compiled program or library", kCompiled},
    Mark{0, "\0asm"sv, "is a compiled program (WebAssembly)", kCompiled},
    Mark{0, "lmgg"sv, "is in the format before GGUF (GGML)", "give the model's .gguf file"},
    Mark{0, "fmgg"sv, "is in the format before GGUF (GGML)", "give the model's .gguf file"},
    Mark{0, "tjgg"sv, "is in the format before GGUF (GGML)", "give the model's .gguf file"},
    Mark{0, "algg"sv, "is an adapter of llama.cpp (GGLA)", "give the .gguf file of its base model"},
    Mark{0, "CBM1"sv, "is a model of CatBoost", "save it with format=\"onnx\" and give the .onnx file"},
    Mark{4, "\0\0\0\0{\""sv, "is a safetensors file by its content",
         "give it a name that ends in .safetensors, with the model's config.json beside it"},
    Mark{0,
         "\x7F"
         "ELF"sv,
         "is a compiled program or library", kCompiled},
    Mark{0, "\x93NUMPY"sv, "is an array of NumPy", "give the model, not its data"},
    Mark{0, "GGUF"sv, "is a GGUF file by its content", "give it a name that ends in .gguf"},
};

static bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

static std::string_view without_space(std::string_view text) {
    constexpr std::string_view kByteOrder = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrder))
        text.remove_prefix(kByteOrder.size());
    return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

/// The name of the first member of an archive and those of some that follow stand in its first bytes.
static std::optional<ForeignFile> archive(std::string_view text) {
    if (!text.starts_with("PK\x03\x04"))
        return std::nullopt;
    if (has(text, "data.pkl") || has(text, "archive_format") || has(text, "constants.pkl"))
        return ForeignFile{"is a PyTorch file", kFromTorch};
    if (has(text, "model.weights.h5"))
        return ForeignFile{"is a Keras model", kFromTensorFlow};
    if (has(text, ".npy"))
        return ForeignFile{"is an archive of NumPy arrays", "give the model, not its weights"};
    if (has(text, "model.params"))
        return ForeignFile{"is compiled for Qualcomm chips (DLC)", kCompiled};
    return ForeignFile{"is a ZIP archive", kUnpack};
}

static bool is_printable(std::string_view text) {
    return std::ranges::all_of(
        text, [](char c) { return c == '\n' || c == '\r' || c == '\t' || (c >= ' ' && c <= '~'); });
}

/// Markup, and JSON of files that lie beside a model.
static std::optional<ForeignFile> text_file(std::string_view text) {
    const std::string head = lower_case(text.substr(0, 64));
    if (head.starts_with("<!doctype html") || head.starts_with("<html"))
        return ForeignFile{"is a web page (HTML)",
                           "download the file itself: pages that show one have a link to its raw content"};
    if (head.starts_with("<?xml") || head.starts_with("<net"))
        return has(text, "<net") ? ForeignFile{"is a model of OpenVINO (IR)",
                                               "give the .onnx or .tflite file that it was converted from"}
                                 : ForeignFile{"is an XML file", "give a model file"};
    if (head.starts_with("[net") || head.starts_with("[convolutional"))
        return ForeignFile{"is a network of Darknet", "give an .onnx export of the model"};
    if (head.starts_with("module @") || head.starts_with("module {"))
        return ForeignFile{"is MLIR text", "give the .onnx or .tflite file that it was made from"};
    struct Words {
        std::string_view begin, part, is, hint;
    };
    constexpr std::array kWords = {
        Words{"#version:", "", "is the vocabulary of a tokenizer (merges.txt)", kConfigInstead},
        Words{"[", "sentence_transformers", "lists the parts of an embedding model (modules.json)",
              kConfigInstead},
        Words{"tree\n", "version=", "is a model of LightGBM",
              "convert it with onnxmltools and give the .onnx file"},
        Words{"#map", "module {", "is MLIR text", kMadeFrom},
        Words{"<", "ir_version:", "is an ONNX model as text", "save it with onnx.save, in binary form"},
        Words{"", "layer {", "describes a network of Caffe (.prototxt)", "give an .onnx export of the model"},
        Words{"node {", "", "is a graph of TensorFlow as text", kFromTensorFlow},
        Words{"", "\nbackbone:", "describes a network of Ultralytics",
              "export it with yolo export format=onnx and give the .onnx file"},
        Words{"", "import torch", "is Python code", kFromTorch},
        Words{"", "import tensorflow", "is Python code", kFromTensorFlow},
        Words{"{", "\"nbformat\"", "is a notebook", "give a model file"},
        Words{"{", "\"learner\"", "is a model of XGBoost",
              "convert it with onnxmltools and give the .onnx file"},
        Words{"{", "\"log_history\"", "is the log of a training", kConfigInstead},
        Words{"{", "\"desc_act\"", "says how weights were quantised, not what the model is", kConfigInstead},
    };
    for (const Words& words : kWords)
        if (head.starts_with(words.begin) && is_printable(head) && has(text, words.part) &&
            !has(text, "\"model_type\""))
            return ForeignFile{words.is, words.hint};
    if (!head.starts_with("{") || has(text, "\"model_type\"") || has(text, "\"architectures\"") ||
        has(text, "\"_class_name\"") || has(text, "\"peft_type\""))
        return std::nullopt;
    if (has(text, "\"weight_map\""))
        return ForeignFile{"is an index that says which file holds which weights", kConfigInstead};
    if (has(text, "\"modelTopology\""))
        return ForeignFile{"is a model of TensorFlow.js", kFromTensorFlow};
    if (has(text, "\"Functional\"") || has(text, "\"Sequential\""))
        return ForeignFile{"is the architecture of a Keras model", kFromTensorFlow};
    const bool sizes = has(text, "\"hidden_size\"") || has(text, "\"n_embd\"") || has(text, "\"d_model\"");
    if (!sizes && has(text, "\"n_layers\"") && has(text, "\"dim\""))
        return ForeignFile{"states sizes in the words of its authors' own code (params.json)",
                           kConfigInstead};
    if (has(text, "\"tokenizer_class\"") || has(text, "\"added_tokens\"") ||
        has(text, "\"added_tokens_decoder\"") || (!sizes && has(text, "\"bos_token\"")))
        return ForeignFile{"describes a tokenizer, not a model", kConfigInstead};
    if (has(text, "\"image_processor_type\"") || has(text, "\"feature_extractor_type\"") ||
        has(text, "\"processor_class\""))
        return ForeignFile{"describes how inputs are prepared, not a model", kConfigInstead};
    if (!sizes &&
        (has(text, "\"max_new_tokens\"") || has(text, "\"_from_model_config\"") ||
         has(text, "\"do_sample\"") || has(text, "\"temperature\"") || has(text, "\"eos_token_id\"")))
        return ForeignFile{"says how text is generated (generation_config.json), not what the model is",
                           kConfigInstead};
    if (!sizes && !has(text, "layer") && !has(text, "\"vocab_size\"") && !has(text, "\"dim\""))
        return ForeignFile{"is JSON that states no sizes of a model", kConfigInstead};
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
                            : ForeignFile{"is a model of Core ML",
                                          "give the .onnx file, or what it was converted from"};
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
    for (const Mark& mark : kMarks)
        if (text.size() > mark.at && text.substr(mark.at).starts_with(mark.bytes))
            return ForeignFile{mark.is, mark.hint};
    constexpr std::size_t kPrefix = 4; // Ultralytics' engines begin with the length of their metadata
    if (text.size() > kPrefix && text[kPrefix] == '{' && has(text, "Ultralytics"))
        return ForeignFile{"is a TensorRT engine, compiled for one GPU", kCompiled};
    if (text.size() > 1 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5)
        return ForeignFile{"is a pickled Python object, as PyTorch saves weights", kFromTorch};
    if (auto known = archive(text))
        return known;
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
          std::tuple{"Data/com.apple.CoreML", "is a model of Core ML",
                     "give the .onnx file, or what it was converted from"sv}})
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
