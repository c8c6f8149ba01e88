#pragma once
// Headers of GGUF files, written key by key and tensor by tensor. No payload follows.

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace archsim::test {

template <class T>
std::string raw(T value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

/// A folder of its own under the temporary ones, removed at the end.
class Folder {
  public:
    explicit Folder(const std::string& name) : path_(std::filesystem::temp_directory_path() / name) {
        std::filesystem::remove_all(path_);
        std::filesystem::create_directories(path_);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::filesystem::path write(const std::string& name, const std::string& content) const {
        std::ofstream(path_ / name, std::ios::binary) << content;
        return path_ / name;
    }
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

class GgufMaker {
  public:
    static constexpr std::uint32_t kF16 = 1, kQ8 = 8, kQ4K = 12, kQ6K = 14;

    std::string bytes() const {
        return "GGUF" + raw<std::uint32_t>(3) + raw(tensors_) + raw(entries_) + metadata_ + infos_;
    }
    void string(const std::string& key, const std::string& value) { entry(key, 8, text(value)); }
    void number(const std::string& key, std::uint32_t value) { entry(key, 4, raw(value)); }
    void real(const std::string& key, double value) { entry(key, 12, raw(value)); }
    void flag(const std::string& key, bool value) { entry(key, 7, raw<std::uint8_t>(value)); }
    void flags(const std::string& key, const std::vector<bool>& values) {
        std::string items = raw<std::uint32_t>(7) + raw<std::uint64_t>(values.size());
        for (const bool value : values)
            items += raw<std::uint8_t>(value);
        entry(key, 9, items);
    }
    void numbers(const std::string& key, const std::vector<std::uint32_t>& values) {
        std::string items = raw<std::uint32_t>(4) + raw<std::uint64_t>(values.size());
        for (const std::uint32_t value : values)
            items += raw(value);
        entry(key, 9, items);
    }
    void texts(const std::string& key, const std::vector<std::string>& values) {
        std::string items = raw<std::uint32_t>(8) + raw<std::uint64_t>(values.size());
        for (const std::string& value : values)
            items += text(value);
        entry(key, 9, items);
    }
    void tensor(const std::string& name, const std::vector<std::int64_t>& shape, std::uint32_t type = kF16) {
        infos_ += text(name) + raw(static_cast<std::uint32_t>(shape.size()));
        for (const std::int64_t size : shape)
            infos_ += raw(static_cast<std::uint64_t>(size));
        infos_ += raw(type) + raw<std::uint64_t>(0);
        ++tensors_;
    }

  private:
    static std::string text(const std::string& s) { return raw<std::uint64_t>(s.size()) + s; }
    void entry(const std::string& key, std::uint32_t type, const std::string& value) {
        metadata_ += text(key) + raw(type) + value;
        ++entries_;
    }
    std::string metadata_, infos_;
    std::uint64_t tensors_ = 0, entries_ = 0;
};

/// A decoder of `layers`: 64 wide, 4 heads of 16, 2 of keys, MLP of 128, 1000 tokens.
struct SmallGguf {
    static constexpr double kLayer = 2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 128, kTable = 64 * 1000;

    static void describe(GgufMaker& f, const std::string& architecture, std::uint32_t layers) {
        f.string("general.architecture", architecture);
        f.number(architecture + ".block_count", layers);
        f.number(architecture + ".embedding_length", 64);
        f.number(architecture + ".attention.head_count", 4);
        f.number(architecture + ".attention.head_count_kv", 2);
        f.number(architecture + ".context_length", 2048);
    }
    static void attention(GgufMaker& f, const std::string& block) {
        f.tensor(block + "attn_q.weight", {64, 64}, GgufMaker::kQ4K);
        f.tensor(block + "attn_k.weight", {64, 32}, GgufMaker::kQ4K);
        f.tensor(block + "attn_v.weight", {64, 32}, GgufMaker::kQ6K);
        f.tensor(block + "attn_output.weight", {64, 64}, GgufMaker::kQ4K);
    }
    static void mlp(GgufMaker& f, const std::string& block) {
        f.tensor(block + "ffn_gate.weight", {64, 128}, GgufMaker::kQ4K);
        f.tensor(block + "ffn_up.weight", {64, 128}, GgufMaker::kQ4K);
        f.tensor(block + "ffn_down.weight", {128, 64}, GgufMaker::kQ6K);
    }
    static void table(GgufMaker& f) { f.tensor("token_embd.weight", {64, 1000}, GgufMaker::kQ4K); }

    static GgufMaker whole(const std::string& architecture = "llama", std::uint32_t layers = 2) {
        GgufMaker f;
        describe(f, architecture, layers);
        table(f);
        for (std::uint32_t i = 0; i < layers; ++i) {
            const std::string block = "blk." + std::to_string(i) + ".";
            attention(f, block);
            mlp(f, block);
        }
        return f;
    }
};

} // namespace archsim::test
