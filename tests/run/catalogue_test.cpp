// Our counts against what others published.

#include "archsim/core/finding.hpp"
#include "laws/laws.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace archsim;

namespace {

/// A folder with a catalogue of one file.
class CatalogueFolder {
  public:
    explicit CatalogueFolder(const std::string& text)
        : path_(std::filesystem::temp_directory_path() / ("archsim-catalogue-" + std::to_string(getpid()))) {
        std::filesystem::create_directories(path_ / "catalogue");
        std::ofstream(path_ / "catalogue" / "some.json") << text;
    }
    ~CatalogueFolder() { std::filesystem::remove_all(path_); }
    Catalogue read() const { return Catalogue(path_); }
    std::filesystem::path operator/(const char* file) const { return path_ / file; }

  private:
    std::filesystem::path path_;
};

std::string words_of(const std::function<void()>& act) {
    try {
        act();
    } catch (const InputError& problem) {
        return problem.what();
    }
    return "";
}

double half_of_last_digit(double figure) {
    double unit = 0.1;
    while (std::abs(figure / unit - std::round(figure / unit)) > 1e-6)
        unit /= 10;
    return unit / 2;
}

} // namespace

TEST_CASE("a model of the catalogue is read when it is asked for", "[catalogue]") {
    const CatalogueFolder folder(R"({"note": [1, {"a": null}], "models": [
        {"name": "b", "file": "onnx/b.onnx", "dims": {"batch": 1}, "aliases": ["Bee", "B-2"]},
        {"name": "a", "title": "\"A\"", "dims": {"batch": "one"}}]})");
    const Catalogue catalogue = folder.read();
    REQUIRE(catalogue.find("bee") != nullptr);
    CHECK(catalogue.find("bee")->file == folder / "onnx/b.onnx");
    CHECK(catalogue.find("B") == catalogue.find("b2")); // by a name without its punctuation
    CHECK(catalogue.find("c") == nullptr);
    CHECK(catalogue.nearest("bb") == std::vector<std::string>{"b"});
    const std::string wrong = words_of([&] { catalogue.find("a"); });
    CHECK(wrong.find("some.json: not a model catalogue: \"batch\" must be a number") != std::string::npos);
    CHECK(words_of([&] { catalogue.entries(); }) == wrong);
}

TEST_CASE("a list of models that is no list is refused at once", "[catalogue]") {
    const auto words = [](const std::string& text) {
        return words_of([&] { CatalogueFolder(text).read(); });
    };
    CHECK(words(R"({"models": [{"name": "a"}]})").empty());
    CHECK(words(R"({"models": [{"name": "a"},]})").find("some.json") != std::string::npos);
    CHECK(words(R"({"models": [{"title": "a"}]})").find("a model without \"name\"") != std::string::npos);
    CHECK(words(R"({"models": [{"name": 1}]})").find("\"name\" must be a text") != std::string::npos);
    CHECK(words(R"({"models": [{"name": "a", "aliases": "b"}]})").find("an array of texts") !=
          std::string::npos);
    CHECK(words(R"({"model": []})").find("a model without \"models\"") != std::string::npos);
}

TEST_CASE("a catalogue that is no JSON is refused at once, by the line of its file", "[catalogue]") {
    const CatalogueFolder folder("{\"models\": [{\"name\": \"a\", \"title\": \"A\"},\n"
                                 "  {\"name\": \"b\", \"dims\": [1,, {\"x\": \"]}\\\"\"}]}]}");
    CHECK(words_of([&] { folder.read(); }).find("some.json: no valid JSON at line 2, column 28") !=
          std::string::npos);
}

TEST_CASE("what is wrong inside an entry is told when it is asked for", "[catalogue]") {
    const CatalogueFolder folder(R"({"models": [{"name": "a", "title": "A"}, {"name": "b", "title": 1}]})");
    const Catalogue catalogue = folder.read();
    CHECK(catalogue.find("a")->title == "A");
    CHECK(words_of([&] { catalogue.find("b"); }).find("\"title\" must be a text") != std::string::npos);
}

TEST_CASE("texts of the catalogue may be of any alphabet", "[catalogue]") {
    const CatalogueFolder folder(
        R"({"models": [{"name": "z\u00fcrich", "title": "Zürich", "aliases": ["Züri"]}]})");
    const Catalogue catalogue = folder.read();
    REQUIRE(catalogue.find("Züri") != nullptr);
    CHECK(catalogue.find("Züri")->name == "zürich");
    CHECK(catalogue.find("zürich")->title == "Zürich");
}

TEST_CASE("every catalogue model imports, binds and has no unknown part", "[catalogue]") {
    for (const CatalogueEntry& entry : laws::session().catalogue().entries()) {
        if (!laws::one_graph(entry))
            continue;
        INFO(entry.name);
        const auto model = laws::bound(entry.name, 1);
        for (const Finding& finding : model->graph().findings) {
            INFO(to_string(finding));
            CHECK(finding.severity != Severity::error);
        }
        CHECK(model->graph().complete());
    }
}

TEST_CASE(
    "the catalogue has the networks that people run, each within 1 % of its published parameters and 3 % of "
    "its MACs",
    "[catalogue]") {
    const std::vector<CatalogueEntry>& entries = laws::session().catalogue().entries();
    CHECK(entries.size() >= 420);
    std::set<std::string> names;
    int without = 0; // networks of whose variant nobody published figures
    for (const CatalogueEntry& entry : entries) {
        INFO(entry.name);
        CHECK(names.insert(entry.name).second);
        CHECK(!entry.source.empty());
        if (entry.file.empty())
            continue;
        if (!entry.published) {
            ++without;
            continue;
        }
        const PublishedFigures& published = *entry.published;
        INFO(published.source);
        CHECK(!published.source.empty());
        CHECK((published.parameters > 0 || published.gmacs > 0 || entry.kind == "preprocessing"));
        Bindings bindings;
        bindings.dims = published.dims;
        const Model model = laws::session().load(entry.name);
        const bool one_graph = model.parts.empty(); // those of generators run many times each
        const auto bound = one_graph ? laws::session().bind(model, 1, bindings) : nullptr;
        const double counted = one_graph ? bound->graph().parameters() + entry.not_exported_parameters
                                         : laws::session().facts({.model = model})->parameters;
        // Rounded figures hold within half a unit of their last digit.
        const double parameters = std::max(0.01, published.parameters_tolerance);
        if (published.parameters > 0)
            CHECK(counted == Approx(published.parameters).epsilon(parameters).margin(0));
        if (published.gmacs > 0 && one_graph)
            CHECK(bound->graph().macs() / 1e9 ==
                  Approx(published.gmacs).epsilon(0.03).margin(half_of_last_digit(published.gmacs)));
    }
    CHECK(without <= 2);
}

TEST_CASE("names that people type find their networks, whatever their case", "[catalogue]") {
    const Catalogue& catalogue = laws::session().catalogue();
    const std::pair<const char*, const char*> typed[] = {
        {"facebook/detr-resnet-50", "detr-resnet50"},
        {"openai/clip-vit-base-patch32", "clip-vit-b32"},
        {"laion/clap-htsat", "clap"},
        {"llava-1.5-7b-hf", "llava-1.5-7b"},
        {"Qwen/Qwen2-0.5B-Instruct", "qwen2-0.5b"},
        {"ViT", "vit_b_16"},
        {"vit", "vit_b_16"},
        {"MobileNetV3", "mobilenet_v3_large"},
        {"bert", "bert-base"},
        {"BERT", "bert-base"},
        {"microsoft/resnet-50", "resnet50"},
        {"openai/whisper-large-v3-turbo", "whisper-large-v3-turbo"},
        {"yolov11n", "yolo11n"},
        {"YOLOv8n-seg", "yolov8n-seg"},
        {"yolov5n_seg", "yolov5n-seg"},
        {"BAAI/bge-large-en-v1.5", "bert-large"},
        {"qwen3-vl-30b-a3b-instruct", "qwen3-vl-30b-a3b"},
    };
    for (const auto& [name, wanted] : typed) {
        INFO(name);
        const CatalogueEntry* const entry = catalogue.find(name);
        REQUIRE(entry != nullptr);
        CHECK(entry->name == wanted);
    }
}

TEST_CASE("no name of a network is claimed twice", "[catalogue]") {
    const Catalogue& catalogue = laws::session().catalogue();
    for (const CatalogueEntry& entry : catalogue.entries()) {
        CHECK(catalogue.find(entry.name) == &entry);
        for (const std::string& alias : entry.aliases) {
            INFO(entry.name << " as " << alias);
            CHECK(catalogue.find(alias) == &entry);
        }
    }
}

TEST_CASE("parameters equal the published figure, MACs agree within 0.2 % or its rounding", "[catalogue]") {
    int compared = 0;
    for (const CatalogueEntry& entry : laws::session().catalogue().entries()) {
        if (!entry.published || entry.file.empty())
            continue;
        INFO(entry.name << " against " << entry.published->source);
        Bindings bindings;
        bindings.dims = entry.published->dims;
        const auto model =
            laws::session().facts({.model = laws::session().load(entry.name), .sizes = bindings});
        if (entry.published->parameters > 0)
            CHECK(
                model->parameters + entry.not_exported_parameters ==
                Approx(entry.published->parameters).epsilon(entry.published->parameters_tolerance).margin(0));
        if (entry.published->gmacs > 0) {
            CHECK(model->macs / 1e9 ==
                  Approx(entry.published->gmacs).epsilon(entry.published->gmacs_tolerance).margin(0));
            ++compared;
        }
    }
    CHECK(compared >= 45);
}
