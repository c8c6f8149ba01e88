// The database that is part of the library: the same files, the same devices, no path.

#include "answers/hardware/hardware_list.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/run/session.hpp"
#include "core/data_dir.hpp"
#include "core/embedded_files.hpp"
#include "core/text_file.hpp"
#include "session/loading.hpp"
#include "support/places.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>

using namespace archsim;
using namespace archsim::test;
namespace fs = std::filesystem;

namespace {

/// Sets a variable of the environment for a while.
class Environment {
  public:
    Environment(const char* name, const std::string& value) : name_(name) {
        if (const char* before = std::getenv(name))
            before_ = before;
        setenv(name, value.c_str(), 1);
    }
    ~Environment() {
        if (before_)
            setenv(name_, before_->c_str(), 1);
        else
            unsetenv(name_);
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

  private:
    const char* name_;
    std::optional<std::string> before_;
};

} // namespace

TEST_CASE("every file of the database is built in, byte for byte", "[hardware][embedded]") {
    std::vector<fs::path> expected;
    for (const auto& entry : fs::recursive_directory_iterator(kSource / "hardware_db"))
        if (entry.is_regular_file())
            expected.push_back(fs::path(kEmbeddedRoot) / fs::relative(entry.path(), kSource));
    std::sort(expected.begin(), expected.end(),
              [](const fs::path& a, const fs::path& b) { return a.native() < b.native(); });
    const std::vector<fs::path> files = embedded_files_below(kEmbeddedRoot);
    REQUIRE(files == expected);
    for (const fs::path& file : files) {
        INFO(file.string());
        const fs::path original = kSource / fs::relative(file, kEmbeddedRoot);
        CHECK(read_text_file(file) == read_text_file(original));
    }
}

TEST_CASE("embedded names: folders, neighbours, and what is not there", "[hardware][embedded]") {
    const fs::path root = fs::path(kEmbeddedRoot) / "hardware_db";
    CHECK(is_embedded(root));
    CHECK_FALSE(is_embedded(kSource));
    CHECK_FALSE(is_embedded("<built in>s/hardware_db"));
    CHECK_FALSE(is_embedded("elsewhere/<built in>"));
    CHECK(is_text_file(root / "schema.json"));
    CHECK_FALSE(is_text_file(root / "gpu"));
    CHECK_FALSE(is_text_file(root / "schema.jso"));
    CHECK(embedded_files_below(root / "gp").empty());
    const auto cgras = embedded_files_below(root / "cgra");
    CHECK_FALSE(cgras.empty());
    for (const fs::path& file : cgras)
        CHECK(file.parent_path() == root / "cgra");
    CHECK_THROWS_AS(read_text_file(root / "gpu/none.json"), InputError);
    CHECK_THROWS_AS(HardwareDatabase(fs::path(kEmbeddedRoot) / "no_db"), InputError);
}

TEST_CASE("the built-in database holds the same devices as the folder, and passes the checker",
          "[hardware][embedded]") {
    const fs::path root = fs::path(kEmbeddedRoot) / "hardware_db";
    const HardwareDatabase built_in(root), folder(kSource / "hardware_db");
    CHECK(built_in.device_ids() == folder.device_ids());
    CHECK(built_in.runtime_ids() == folder.runtime_ids());
    CHECK(built_in.deployments().size() == folder.deployments().size());
    CHECK(built_in.device("Jetson-Orin-Nano@7W").power_mode == "7W");
    const HardwareCheck ours = check_database(root), theirs = check_database(kSource / "hardware_db");
    CHECK(ours.findings.size() == theirs.findings.size());
    CHECK(ours.devices == theirs.devices);
    CHECK(ours.runtimes == theirs.runtimes);
    CHECK(check_database(root / "cgra" / fs::path(embedded_files_below(root / "cgra").front()).filename())
              .findings.empty());
}

TEST_CASE("a session on the built-in database estimates the same", "[hardware][embedded]") {
    SessionOptions built_in, folder;
    built_in.data = kEmbeddedRoot;
    folder.data = kSource;
    const Session shipped(folder);
    const Result expected = shipped.estimate({.model = shipped.load("resnet18")}, "H100");
    REQUIRE(expected.ok());
    const auto same_as_expected = [&](const Session& session, const std::string& model) {
        Bindings image; // what the catalogue says of the model, and a file does not
        image.dims = {{"height", 224}, {"width", 224}};
        const Result result = session.estimate({.model = session.load(model), .sizes = image}, "H100");
        CHECK(result.ok());
        CHECK(result.estimate.latency_s == expected.estimate.latency_s);
        CHECK(result.estimate.energy_per_inference_j == expected.estimate.energy_per_inference_j);
    };
    // Where data_dir() is a folder, the models beside it serve the built-in database too.
    const Environment data("ARCHSIM_DATA_DIR", kSource.string());
    CHECK(data_dir() == kSource);
    CHECK(model_dirs() == std::vector<fs::path>{kSource / "models"});
    same_as_expected(Session(built_in), "resnet18");
    same_as_expected(Session(built_in), (kSource / "models/onnx/resnet18.onnx").string());

    const std::string without = unknown_model(Catalogue(), "resnet18").what();
    CHECK_THAT(without, Catch::Contains("no catalogue of models in " + (kSource / "models").string()));
    CHECK_THAT(without, Catch::Contains("ARCHSIM_DATA_DIR"));
}
