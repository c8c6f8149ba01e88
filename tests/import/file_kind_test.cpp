// What a file is, told by its first bytes: other formats are named, with the way on; models are left alone.

#include "import/file_kind.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

using namespace archsim;
using namespace std::string_view_literals;

namespace {

std::optional<ForeignFile> of(std::string_view bytes) {
    const std::string padded = std::string(bytes) + std::string(bytes.size() < 16 ? 16 : 0, '\0');
    return foreign_file(std::span(reinterpret_cast<const std::uint8_t*>(padded.data()), padded.size()));
}

} // namespace

TEST_CASE("a file of another format is named, with what to give instead", "[import]") {
    const std::pair<std::string_view, const char*> cases[] = {
        {"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS"},
        {"<!DOCTYPE html>\n<html>", "HTML"},
        {"  <HTML><head>", "HTML"},
        {"PK\x03\x04\x14\0\0\0archive/data.pkl"sv, "PyTorch"},
        {"\x80\x02\x8a\x0a"sv, "Python object"},
        {"\x89HDF\r\n\x1a\n", "Keras"},
        {"\x14\0\0\0ORTM"sv, "ONNX Runtime"},
        {"\x1c\0\0\0ET12"sv, "ExecuTorch"},
        {"ptrt\0\0\0\0"sv, "TensorRT"},
        {"\x40\0\0\0{\"description\": \"Ultralytics YOLO\"}ftrt"sv, "TensorRT"},
        {"\n# A model\n\nSee below how it was made, and where it is.\n", "text file"},
        {"RKNN", "RKNN"},
        {"\x01HEF", "Hailo"},
        {"<?xml version=\"1.0\"?>\n<net name=\"m\">", "OpenVINO"},
        {"{\"tokenizer_class\": \"LlamaTokenizer\"}", "tokenizer"},
        {"{\"max_new_tokens\": 512, \"temperature\": 0.6}", "generation_config"},
        {"{\"metadata\": {\"total_size\": 1}, \"weight_map\": {}}", "index"},
        {"\x08\x01\x12\x06\x0a\x04\x12\x02hi"sv, "SavedModel"},
        {"\x0a\x08\x0a\x01x\x12\x03"
         "Add"sv,
         "frozen graph"},
        {"\x0a\x05VGG16\x12\x04"sv, "caffemodel"},
        {"\x0a\x0e\x0a\x05<unk>\x15\0\0\0\0\x18\x02"sv, "SentencePiece"},
        {"\x10\0\0\0\0\0\0\0{\"__metadata__\":{}}"sv, "safetensors"},
        {"lmgg\0\0\0\0"sv, "before GGUF"},
        {"\0asm\x01\0\0\0"sv, "WebAssembly"},
        {"PK\x03\x04\x14\0\0\0model.params"sv, "Qualcomm"},
        {"name: \"VGG\"\nlayer {\n}\n", "Caffe"},
        {"nc: 80\nbackbone:\n  - [-1, 1, Conv, [64]]\n", "Ultralytics"},
        {"<ir_version: 8>\nagraph (float[N] x) => (float[N] y) {}\n", "ONNX model as text"},
        {"{\"dim\": 4096, \"n_layers\": 32}", "params.json"},
        {"{\"bos_token\": \"<s>\"}", "tokenizer"},
        {"{\"learner\": {\"attributes\": {}}}", "XGBoost"},
        {"\x1c\0\0\0CIR0"sv, "circle"},
        {"{\"error\": \"Repository not found\"}", "no sizes"},
        {"{\"producer\": {\"name\": \"modelopt\"}, \"quantization\": {}}", "no sizes"}};
    CHECK_THAT(std::string(of(std::string(100, '\0'))->is), Catch::Contains("zeros"));
    constexpr std::string_view kShort = "Entry not found";
    const auto text =
        foreign_file(std::span(reinterpret_cast<const std::uint8_t*>(kShort.data()), kShort.size()));
    REQUIRE(text);
    CHECK(text->is == "is a text file");
    for (const auto& [bytes, what] : cases) {
        CAPTURE(what);
        const auto found = of(bytes);
        REQUIRE(found);
        CHECK_THAT(std::string(found->is), Catch::Contains(what));
        CHECK_FALSE(found->hint.empty());
    }
}

TEST_CASE("models and their configurations are no foreign files", "[import]") {
    for (const std::string_view bytes :
         {"\x08\x08\x12\x07pytorch\x1a\x03"
          "1.1:\x05"sv,
          "\x08\x0a:\x02\x0a\0"sv, "\x1c\0\0\0TFL3"sv, ""sv,
          "{\"model_type\": \"llama\", \"tokenizer_class\": \"x\", \"eos_token_id\": 2}"sv,
          "{\"hidden_size\": 64, \"eos_token_id\": 2, \"bos_token\": \"<s>\"}"sv,
          "{\"peft_type\": \"LORA\"}"sv}) {
        CAPTURE(bytes);
        CHECK_FALSE(of(bytes));
    }
}
