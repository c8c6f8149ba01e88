// Looking at many models: the catalogue as published, and folders with anything in them.

#include "answers/models/discover_models.hpp"

#include "import/model_maker.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace archsim;
using namespace archsim::test;

namespace {

class Folder {
  public:
    Folder()
        : path_(std::filesystem::temp_directory_path() / ("archsim-discover-" + std::to_string(getpid()))) {
        std::filesystem::create_directories(path_ / "deeper");
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    void write(const std::string& name, const std::string& content) const {
        std::ofstream(path_ / name, std::ios::binary) << content;
    }
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

onnx::ModelProto product_model() {
    auto model = make_model();
    auto& graph = *model.mutable_graph();
    add_input(graph, "x", {"batch", "8"});
    add_weights(graph, "w", {8, 4});
    add_node(graph, "MatMul", {"x", "w"}, {"y"}, "product");
    add_output(graph, "y");
    return model;
}

} // namespace

TEST_CASE("a folder is scanned file by file, whatever the files hold", "[run][discover]") {
    const Folder folder;
    auto strange = product_model();
    add_node(*strange.mutable_graph(), "Mystery", {"y"}, {"z"}, "m1").set_domain("example.org");
    add_node(*strange.mutable_graph(), "Mystery", {"z"}, {"q"}, "m2").set_domain("example.org");
    add_output(*strange.mutable_graph(), "q");
    folder.write("deeper/good.onnx", product_model().SerializeAsString());
    folder.write("strange.onnx", strange.SerializeAsString());
    folder.write("damaged.onnx", "this is no model");
    folder.write("notes.txt", "not looked at");
    folder.write("resnet50.onnx", product_model().SerializeAsString()); // not the catalogue's

    const Session session(SessionOptions{ARCHSIM_SOURCE_DIR, {}});
    std::atomic<std::size_t> told{0};
    DiscoverOptions options;
    options.batch = 2;
    options.threads = 3;
    options.progress = [&](std::size_t, std::size_t total) {
        ++told;
        CHECK(total == 4);
    };
    const ModelList list = discover_folder(session, folder.path(), options);
    CHECK(told == 4);
    REQUIRE(list.models.size() == 4);
    const auto find = [&](const std::string& name) -> const ListedModel& {
        for (const ListedModel& model : list.models)
            if (model.name == name)
                return model;
        throw std::runtime_error("no " + name);
    };
    CHECK(find("deeper/good.onnx").status == ImportStatus::ok);
    CHECK(find("deeper/good.onnx").macs == 2 * 8 * 4);
    CHECK(find("deeper/good.onnx").weight_bytes == 8 * 4 * 4);
    CHECK(find("resnet50.onnx").macs == 2 * 8 * 4);
    CHECK(find("damaged.onnx").status == ImportStatus::unreadable);
    CHECK_FALSE(find("damaged.onnx").findings.empty());
    CHECK(find("strange.onnx").status == ImportStatus::incomplete);
    CHECK(find("strange.onnx").missing_operators == std::vector<std::string>{"example.org.Mystery"});

    const auto document = nlohmann::json::parse(to_json(list));
    for (const auto& model : document.at("models"))
        CHECK(model.at("macs").is_null() == (model.at("status") != "ok"));
    const std::string text = render(describe(list, {}), Format::text, {200});
    CHECK_THAT(text, Catch::Contains(
                         "4 files: 2 can be estimated, 1 without sizes or operators, 1 that cannot be "));
    CHECK_THAT(text, Catch::Contains("example.org.Mystery"));
    CHECK_THROWS_AS(discover_folder(session, folder.path() / "absent", options), InputError);
}

TEST_CASE("the whole catalogue can be used", "[run][discover]") {
    const Session session(SessionOptions{ARCHSIM_SOURCE_DIR, {}});
    ModelList list = discover_catalogue(session, {});
    REQUIRE(list.models.size() == session.catalogue().entries().size());
    for (const ListedModel& model : list.models) {
        INFO(model.name);
        CHECK(model.status == ImportStatus::ok);
        CHECK(model.macs > 0);
        CHECK(model.weight_bytes > 0);
        CHECK_FALSE(model.task.empty());
        CHECK(model.task.find(' ') == std::string::npos); // one spelling, so that --task finds all
    }
    const std::string all = render(list, Format::text, ModelListView{});
    keep_largest(list, 5);
    CHECK_THAT(render(list, Format::text, ModelListView{}),
               Catch::Contains(all.substr(0, all.find(" families"))));
    REQUIRE(list.models.size() == 5);
    for (std::size_t i = 1; i < 5; ++i)
        CHECK(list.models[i - 1].macs >= list.models[i].macs);
    DiscoverOptions options;
    options.task = "no such task";
    CHECK_THROWS_AS(discover_catalogue(session, options), UsageError);
}
