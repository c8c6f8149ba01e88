// Reading gzip files: what gzip writes comes back, what is damaged is refused.

#include "core/gzip.hpp"

#include "archsim/extend/importer.hpp"
#include "archsim/run/session.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

using namespace archsim;
namespace fs = std::filesystem;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes gzip_bytes_of(const fs::path& file) {
    Bytes bytes(fs::file_size(file));
    std::ifstream(file, std::ios::binary)
        .read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return bytes;
}

/// A folder of files that gzip then packs.
struct GzipFolder {
    fs::path path = fs::temp_directory_path() / ("archsim-gzip-" + std::to_string(std::random_device{}()));
    GzipFolder() { fs::create_directory(path); }
    ~GzipFolder() { fs::remove_all(path); }
    void add(const std::string& name, const Bytes& bytes) const {
        std::ofstream(path / name, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    void pack(const std::string& options) const {
        REQUIRE(std::system(("gzip " + options + " '" + path.string() + "'/*").c_str()) == 0);
    }
};

/// "archsim" as bytes of one stored block, and what RFC 1951 and 1952 put around it.
Bytes stored_by_hand() {
    return {0x1F, 0x8B, 8,    0,    0,    0,   0,   0, 0, 0xFF, // header: no fields
            1,    7,    0,    0xF8, 0xFF,               // last block, stored, 7 bytes and their complement
            'a',  'r',  'c',  'h',  's',  'i', 'm',     // what it holds
            0x96, 0xFD, 0xCC, 0x07, 7,    0,   0,   0}; // CRC-32, size
}

} // namespace

TEST_CASE("every graph of the catalogue survives gzip", "[gzip]") {
    const fs::path models = fs::path(ARCHSIM_SOURCE_DIR) / "models" / "onnx";
    for (const char* const options : {"--fast", "--best --no-name"}) {
        const GzipFolder folder;
        fs::copy(models, folder.path);
        folder.pack(options);
        std::size_t read = 0;
        for (const auto& file : fs::directory_iterator(models)) {
            const auto packed = gzip_bytes_of(folder.path / (file.path().filename().string() + ".gz"));
            CAPTURE(file.path().string());
            REQUIRE(is_gzip(packed));
            REQUIRE(gunzip(packed) == gzip_bytes_of(file.path()));
            ++read;
        }
        REQUIRE(read > 100);
    }
}

TEST_CASE("contents of every kind survive gzip", "[gzip]") {
    std::mt19937 random(1);
    const GzipFolder folder;
    std::vector<std::pair<std::string, Bytes>> contents = {
        {"one", {42}}, {"zeros", Bytes(300000, 0)}, {"far", Bytes(40000)}, {"noise", Bytes(100000)}};
    // Blocks that do not compress are stored; repetitions from the farthest distance that there is.
    for (auto& byte : contents[3].second)
        byte = static_cast<std::uint8_t>(random());
    for (std::size_t i = 0; i < 7232; ++i)
        contents[2].second[i] = contents[2].second[i + 32768] = static_cast<std::uint8_t>(random());
    for (const auto& [name, bytes] : contents)
        folder.add(name, bytes);
    folder.pack("--best");
    for (const auto& [name, bytes] : contents) {
        CAPTURE(name);
        REQUIRE(gunzip(gzip_bytes_of(folder.path / (name + ".gz"))) == bytes);
    }
}

TEST_CASE("headers with fields are read over", "[gzip]") {
    const Bytes plain = stored_by_hand();
    const Bytes wanted{'a', 'r', 'c', 'h', 's', 'i', 'm'};
    REQUIRE(gunzip(plain) == wanted);
    const auto with = [&](std::uint8_t flags, const Bytes& fields) {
        Bytes file = plain;
        file[3] = flags;
        file.insert(file.begin() + 10, fields.begin(), fields.end());
        return gunzip(file);
    };
    REQUIRE(with(4, {2, 0, 9, 9}) == wanted);                       // extra field
    REQUIRE(with(8, {'n', 0}) == wanted);                           // name
    REQUIRE(with(4 | 8 | 16, {1, 0, 9, 'n', 0, 'c', 0}) == wanted); // both and a comment
    REQUIRE(with(2, {7, 7}) == std::nullopt);                       // a sum of the header that is none
    REQUIRE(with(32, {}) == std::nullopt);                          // reserved
    REQUIRE(with(4, {0xFF, 0xFF}) == std::nullopt);                 // longer than the file
    REQUIRE(with(8, Bytes(100, 'n')) == std::nullopt);              // runs into what follows
}

TEST_CASE("a damaged or truncated gzip file is refused", "[gzip]") {
    const GzipFolder folder;
    const Bytes graph = gzip_bytes_of(fs::path(ARCHSIM_SOURCE_DIR) / "models" / "onnx" / "resnet18.onnx");
    folder.add("graph", graph);
    folder.pack("--best --no-name");
    const Bytes packed = gzip_bytes_of(folder.path / "graph.gz");
    for (std::size_t size = 0; size < packed.size(); ++size)
        REQUIRE(gunzip(std::span(packed).first(size)) == std::nullopt);
    Bytes longer = packed;
    longer.push_back(0);
    REQUIRE(gunzip(longer) == std::nullopt);
    // Time, system and compression level stand in bytes 4 to 9 and mean nothing here, nor does the first
    // flag: that the contents are text. What fills the last byte of the last block means nothing to anybody.
    const std::size_t last_of_blocks = packed.size() - 9;
    Bytes changed = packed;
    for (std::size_t at = 0; at < packed.size(); ++at)
        for (int bit = 0; bit < 8; ++bit) {
            changed[at] = static_cast<std::uint8_t>(changed[at] ^ 1U << bit);
            const auto result = gunzip(changed);
            changed[at] = packed[at];
            if ((at >= 4 && at < 10) || (at == 3 && bit == 0))
                REQUIRE(result == graph);
            else if (at == last_of_blocks && bit > 0)
                REQUIRE((!result || result == graph));
            else
                REQUIRE(result == std::nullopt);
        }
}

TEST_CASE("a packed model is the model", "[gzip]") {
    const fs::path source = fs::path(ARCHSIM_SOURCE_DIR) / "models" / "onnx" / "resnet18.onnx";
    const GzipFolder folder;
    fs::copy(source, folder.path);
    folder.pack("--best");
    const Graph plain = import_onnx(source);
    // By either name: what asks for FILE gets FILE.gz where only that exists.
    for (const char* const name : {"resnet18.onnx", "resnet18.onnx.gz"}) {
        const Graph packed = import_onnx(folder.path / name);
        REQUIRE(packed.nodes.size() == plain.nodes.size());
        REQUIRE(packed.tensors.size() == plain.tensors.size());
    }
    const Session session;
    REQUIRE(session.load((folder.path / "resnet18.onnx.gz").string()).name() == "resnet18");

    Bytes damaged = gzip_bytes_of(folder.path / "resnet18.onnx.gz");
    damaged[damaged.size() / 2] ^= 1;
    folder.add("damaged.onnx.gz", damaged);
    REQUIRE_THROWS_WITH(import_onnx(folder.path / "damaged.onnx.gz"),
                        Catch::Matchers::Contains("is a damaged or truncated gzip file"));
}
