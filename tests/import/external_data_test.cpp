// Weights in side files: looked up, never loaded, never outside the model's folder.

#include "import/model_maker.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace archsim;
using namespace archsim::test;
namespace fs = std::filesystem;

namespace {

class TemporaryFolder {
  public:
    TemporaryFolder() : path_(fs::temp_directory_path() / ("archsim-import-" + std::to_string(::getpid()))) {
        fs::create_directories(path_ / "model");
    }
    ~TemporaryFolder() { fs::remove_all(path_); }

    fs::path path() const { return path_; }
    fs::path model() const { return path_ / "model" / "model.onnx"; }

    void write(const fs::path& file, const std::string& content) const {
        std::ofstream(path_ / file, std::ios::binary) << content;
    }

    Graph import(const onnx::ModelProto& model) const {
        write("model/model.onnx", model.SerializeAsString());
        return import_onnx(this->model());
    }

  private:
    fs::path path_;
};

onnx::TensorProto& add_external(onnx::GraphProto& graph, const std::string& name, const std::string& location,
                                std::int64_t elements, const std::string& offset = "0",
                                int type = onnx::TensorProto::FLOAT) {
    auto& tensor = add_weights(graph, name, {elements}, type);
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    const auto add = [&](const char* key, const std::string& value) {
        auto* entry = tensor.add_external_data();
        entry->set_key(key);
        entry->set_value(value);
    };
    add("location", location);
    add("offset", offset);
    return tensor;
}

} // namespace

TEST_CASE("external weights keep their shape and need no file", "[import][external]") {
    const TemporaryFolder folder;
    auto model = make_model();
    add_external(*model.mutable_graph(), "w", "weights.bin", 1 << 20);
    add_external(*model.mutable_graph(), "v", "weights.bin", 1 << 20);

    SECTION("missing: one note for the file") {
        const Graph graph = folder.import(model);
        REQUIRE(graph.findings.size() == 1);
        CHECK(graph.findings[0].severity == Severity::note);
        CHECK(find_tensor(graph, "w")->external);
        CHECK(find_tensor(graph, "w")->shape->at(0).value == 1 << 20);
    }
    SECTION("present") {
        folder.write("model/weights.bin", "");
        fs::resize_file(folder.path() / "model/weights.bin", 4u << 20);
        CHECK(folder.import(model).findings.empty());
    }
    SECTION("too short") {
        folder.write("model/weights.bin", "short");
        const Graph graph = folder.import(model);
        REQUIRE(graph.findings.size() == 1);
        CHECK(graph.findings[0].kind == FindingKind::inconsistent);
    }
    SECTION("read from memory, where no folder is known") {
        CHECK(import_model(model).findings.empty());
    }
}

TEST_CASE("side files outside the folder are not looked at", "[import][external]") {
    const TemporaryFolder folder;
    folder.write("secret", std::string(16, 's'));
    auto model = make_model();
    auto& graph = *model.mutable_graph();
    SECTION("upwards") {
        add_external(graph, "w", "../secret", 2, "0", onnx::TensorProto::INT64);
    }
    SECTION("upwards behind a folder") {
        add_external(graph, "w", "a/../../secret", 2, "0", onnx::TensorProto::INT64);
    }
    SECTION("absolute") {
        add_external(graph, "w", (folder.path() / "secret").string(), 2, "0", onnx::TensorProto::INT64);
    }
    SECTION("through a link") {
        fs::create_symlink(folder.path() / "secret", folder.path() / "model" / "link");
        add_external(graph, "w", "link", 2, "0", onnx::TensorProto::INT64);
    }
    SECTION("through a linked folder") {
        fs::create_directory_symlink(folder.path(), folder.path() / "model" / "up");
        add_external(graph, "w", "up/secret", 2, "0", onnx::TensorProto::INT64);
    }
    const Graph imported = folder.import(model);
    REQUIRE(imported.findings.size() == 1);
    CHECK(imported.findings[0].severity == Severity::warning);
    CHECK_FALSE(find_tensor(imported, "w")->value);
}

TEST_CASE("a snapshot of a cache links into the blobs of its repository, and nowhere else",
          "[import][external]") {
    const TemporaryFolder folder;
    auto model = make_model();
    add_external(*model.mutable_graph(), "w", "model.onnx_data", 256);
    const fs::path repository = folder.path() / "models--a--b", snapshot = repository / "snapshots/0a1b";
    for (const fs::path& place : {repository / "blobs", folder.path() / "blobs", snapshot / "onnx"})
        fs::create_directories(place);
    for (const char* data : {"models--a--b/blobs/data", "blobs/data", "models--a--b/data"})
        folder.write(data, std::string(1024, 'x'));
    folder.write("models--a--b/blobs/graph", model.SerializeAsString());
    for (const auto& [place, up] :
         {std::pair(snapshot, "../../"), std::pair(snapshot / "onnx", "../../../")}) {
        fs::create_symlink(std::string(up) + "blobs/graph", place / "model.onnx");
        const auto data = [&](const std::string& target) {
            fs::remove(place / "model.onnx_data");
            fs::create_symlink(std::string(up) + target, place / "model.onnx_data");
            return import_onnx(place / "model.onnx").findings;
        };
        CHECK(data("blobs/data").empty());
        for (const char* outside : {"../blobs/data", "data", "blobs/../data"}) {
            INFO(outside);
            const auto findings = data(outside);
            REQUIRE(findings.size() == 1);
            CHECK(findings[0].severity == Severity::warning);
        }
    }
}

TEST_CASE("a small integer constant is read from its side file, for it may decide a shape",
          "[import][external]") {
    const TemporaryFolder folder;
    const std::int64_t values[] = {7, 1, -1};
    folder.write("model/side.bin", std::string(reinterpret_cast<const char*>(values), sizeof(values)));
    auto model = make_model();
    add_external(*model.mutable_graph(), "shape", "side.bin", 2, "8", onnx::TensorProto::INT64);
    const Graph graph = folder.import(model);
    CHECK(graph.findings.empty());
    REQUIRE(find_tensor(graph, "shape")->value);
    CHECK(find_tensor(graph, "shape")->value->ints == std::vector<std::int64_t>{1, -1});
}

TEST_CASE("broken entries are findings", "[import][external]") {
    const TemporaryFolder folder;
    auto model = make_model();
    add_external(*model.mutable_graph(), "w", "", 4);
    add_external(*model.mutable_graph(), "v", "side.bin", 4, "-3");
    add_external(*model.mutable_graph(), "u", "side.bin", 4, "many");
    const Graph graph = folder.import(model);
    CHECK(graph.findings.size() == 3);
    CHECK(has_finding(graph, FindingKind::malformed_file));
}

TEST_CASE("a file of a gigabyte of weights costs what its graph costs", "[import][external]") {
    // A sparse file: the payload is a hole, which reading would have to fill.
    const TemporaryFolder folder;
    auto model = make_model();
    auto& graph = *model.mutable_graph();
    add_input(graph, "x", {"1"});
    add_node(graph, "Relu", {"x"}, {"y"});
    add_output(graph, "y");
    folder.write("model/model.onnx", model.SerializeAsString());
    constexpr std::uint64_t kPayload = std::uint64_t{1} << 30;
    const auto varint = [](std::uint64_t value) {
        std::string out;
        for (; value >= 0x80; value >>= 7)
            out.push_back(static_cast<char>((value & 0x7f) | 0x80));
        out.push_back(static_cast<char>(value));
        return out;
    };
    onnx::TensorProto weights;
    weights.set_name("w");
    weights.set_data_type(onnx::TensorProto::FLOAT);
    weights.add_dims(static_cast<std::int64_t>(kPayload / 4));
    const std::string payload_head = '\x4a' + varint(kPayload); // raw_data
    const std::string tensor_head = weights.SerializeAsString() + payload_head;
    const std::string initializer_head = '\x2a' + varint(tensor_head.size() + kPayload);
    const std::string graph_head = '\x3a' + varint(initializer_head.size() + tensor_head.size() + kPayload);
    // A message may be given in parts: this graph is merged with the one before.
    std::ofstream(folder.model(), std::ios::binary | std::ios::app)
        << graph_head << initializer_head << tensor_head;
    fs::resize_file(folder.model(), fs::file_size(folder.model()) + kPayload);

    const Graph imported = import_onnx(folder.model());
    CHECK(imported.findings.empty());
    CHECK(imported.nodes.size() == 1);
    REQUIRE(find_tensor(imported, "w"));
    CHECK(find_tensor(imported, "w")->shape->at(0).value == static_cast<std::int64_t>(kPayload / 4));
}
